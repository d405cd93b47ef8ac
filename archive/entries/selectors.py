"""Reads the archive: the entries of a message, and their content with redactions applied."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db.models import CharField, F, QuerySet, UUIDField
from django.utils import timezone

from archive.domain.reference import Location
from archive.models import ArchiveEntry
from contextstudio.database.best_effort import write_if_free
from contextstudio.database.prepared import Param, Prepared
from operations.domain.log.mask import mask_words
from operations.log.selectors import load_history
from operations.messages.reader import masked_texts
from threads.domain.part import Part
from threads.models import Session

from .store import parts_of


class Readable(NamedTuple):
    """An entry as it may be read: its texts are masked by redactions that are on."""

    entry: ArchiveEntry
    summary: str
    file_paths: tuple[str, ...]
    similarity: float | None = None
    """How near its message is to the query, from 0 to 1, if it was found by meaning."""


def entries_of(session: Session, name: str, most: int) -> list[ArchiveEntry]:
    """The entries of the messages with this name, or with this prefix of a short id."""
    if name.startswith("msg-") and len(name) < len("msg-") + 8:
        return list(_kept().filter(session=session, name__startswith=name)[:most])
    return _NAMED.rows(session=session.pk, name=name)[:most]


def _kept() -> QuerySet[ArchiveEntry]:
    entries = ArchiveEntry.objects.select_related("content")
    return entries.filter(content__isnull=False).order_by("name", "location")


_NAMED = Prepared(
    lambda: _kept().filter(
        session=Param("session", UUIDField()), name=Param("name", CharField())
    )
)


def entries_by_reference(
    session: Session, references: Iterable[str]
) -> list[ArchiveEntry]:
    """The entries of a session stored under these references, ordered by reference."""
    found = ArchiveEntry.objects.filter(session=session, ref_id__in=list(references))
    return list(found.select_related("session__project").order_by("ref_id"))


def nearest(entries: Sequence[ArchiveEntry], location: Location | None) -> ArchiveEntry:
    """The entry of a location among those of one message; else that of the whole message, else
    the first.

    The entry of a result may not be among those that were read, so it is queried by location.
    """
    wanted = str(location or "")
    found = min(entries, key=lambda one: (one.location != wanted, one.location != ""))
    if location is None or location.kind != "tool" or found.location == wanted:
        return found
    rows = _kept().filter(session=found.session_id, name=found.name, location=wanted)
    return rows.first() or found


def readable_parts(session: Session, entry: ArchiveEntry) -> tuple[Part, ...]:
    """The parts that an entry keeps, masked by redactions that are on in its session."""
    masks = load_history(session).log.masks if session.head else None
    parts = parts_of(entry)
    return masks.mask_parts(entry.message_key, parts) if masks else parts


def readable(entries: Sequence[ArchiveEntry]) -> list[Readable]:
    """The entries, each with its texts masked by the redactions of its session."""
    masks: dict[uuid.UUID, Mapping[str, str]] = {}
    found: list[Readable] = []
    for entry in entries:
        if entry.session_id not in masks:
            masks[entry.session_id] = masked_texts(entry.session)
        summary = bytes(entry.summary).decode("utf-8", "surrogatepass")
        paths = tuple(entry.file_paths)
        if texts := masks[entry.session_id]:
            summary = mask_words(summary, texts)
            paths = tuple(mask_words(path, texts) for path in paths)
        found.append(Readable(entry, summary, paths))
    return found


def count_access(entry: ArchiveEntry, at: datetime | None = None) -> bool:
    """Record that an entry was recalled, unless that would have to wait for a lock.

    Returns whether it was recorded.
    """
    row = ArchiveEntry.objects.filter(pk=entry.pk)
    return write_if_free(
        lambda: row.update(
            access_count=F("access_count") + 1,
            last_accessed_at=at or timezone.now(),
        )
    )
