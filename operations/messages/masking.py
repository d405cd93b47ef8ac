"""Masking what redactions cover: in originals, and in what quotes them outside of the thread."""

import uuid
from collections.abc import Iterator, Mapping

from django.db.models import QuerySet

from operations.domain.log.mask import Masks, mask_words
from operations.domain.log.operation import Redact
from operations.domain.tree.key import original_index, original_key
from operations.log.selectors import load_history
from operations.models import LogEntry
from threads.domain.part import Part
from threads.models import Session
from threads.store.masking import Readings
from threads.store.selectors import load_recorded_at


def mask_text(session: Session, text: str) -> str:
    """A text with what redactions that are on mask in the session, wherever it is found."""
    if not text or not session.head:
        return text
    masks = load_history(session).log.masks
    return mask_words(text, _covered(session, masks)) if masks else text


def _covered(session: Session, masks: Masks) -> Mapping[str, str]:
    indexes = [
        index for key in masks.keys if (index := original_index(key)) is not None
    ]
    recorded = load_recorded_at(session, indexes)

    def read(key: str) -> tuple[Part, ...]:
        index = original_index(key)
        found = recorded.get(index) if index is not None else None
        return found.parts if found else ()

    return masks.texts(read)


def mask_originals(session: Session, readings: Readings) -> Readings:
    """Originals with the text masked that redactions which are on mask."""
    if not session.head:
        return readings
    masks = load_history(session).log.masks
    if not masks:
        return readings
    return {
        index: masks.read(original_key(index), parts)
        for index, parts in readings.items()
    }


def masked_places(sessions: QuerySet[Session]) -> Iterator[tuple[uuid.UUID, int]]:
    """The originals of these sessions of which something may be masked."""
    entries = LogEntry.objects.filter(session__in=sessions, kind=Redact.kind)
    for session in Session.objects.filter(pk__in=entries.values("session")):
        for index in load_history(session).log.masks.indexes:
            yield session.pk, index
