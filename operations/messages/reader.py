"""Reads the content of messages, as recorded or as it reads in a thread. All code reads it here.

Originals never change, so what was read of a session stays valid when it or its log grows; only a
purge invalidates it. Redacted text is masked in originals, and in what quotes them outside of the
thread.
"""

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import QuerySet

from operations.domain.log import mask
from operations.domain.log.mask import mask_words
from operations.domain.log.operation import Redact
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import (
    Key,
    original_index,
    original_key,
)
from operations.domain.tree.span import apply_span_changes
from operations.log import selectors
from operations.log.cache import Cache
from operations.log.selectors import load_history
from operations.models import LogEntry
from threads.domain.message import Message, Role
from threads.domain.part import Part
from threads.models import Session
from threads.store.masking import Readings
from threads.store.originals import Original, load_recorded_at

FEW = 200
"""Up to this many originals are read on their own. If more are wanted, or no more are unread, all
are read and cached."""
_MAX_READ_ALONE = 1_000
"""Most originals read on their own that are cached per session."""


class MessageText(NamedTuple):
    """The content of one message, with its metadata."""

    key: Key
    role: Role
    parts: tuple[Part, ...]
    strategy: str
    """The `parsing_strategy` it was recorded with; the session's if an operation made it."""
    name: str | None
    original: Original | None
    """The original as recorded; None if an operation made it, or it is not recorded yet."""


@dataclass(frozen=True, slots=True)
class MessageReader:
    """Reads the messages of a thread.

    `inbound` are messages that a client sends and the session does not hold yet; they count as
    originals from index `held` on.
    """

    session: Session
    thread: Thread
    held: int | None = None
    inbound: Sequence[Message] = ()

    def effective(self, keys: Iterable[Key]) -> dict[Key, MessageText]:
        """The messages as they read in the thread, with replacements and redactions applied.

        Returns a map in the order of the keys; unknown keys are left out.
        """
        return {
            key: text._replace(parts=apply_span_changes(text.parts, changes))
            if (changes := self.thread.spans(key))
            else text
            for key, text in self.recorded(keys).items()
        }

    def recorded(self, keys: Iterable[Key]) -> dict[Key, MessageText]:
        """The messages as they were recorded, unmasked: for callers that mask or compare."""
        held = self.session.message_count if self.held is None else self.held
        indexes = {key: original_index(key) for key in keys}
        originals = _originals(
            self.session,
            {index for index in indexes.values() if index is not None and index < held},
        )
        strategy = self.session.parsing_strategy
        found: dict[Key, MessageText] = {}
        for key, index in indexes.items():
            if index is None:
                if made := self.thread.made_message(key):
                    found[key] = MessageText(
                        key, Role(made.role), made.parts, strategy, None, None
                    )
            elif index < held:
                if index in originals:
                    found[key] = originals[index]
            elif index - held < len(self.inbound):
                sent = self.inbound[index - held]
                found[key] = MessageText(
                    key, sent.role, sent.parts, strategy, sent.name, None
                )
        return found


class _CachedTexts(NamedTuple):
    """The originals of a session from the first on, valid for this set of purged messages."""

    purged: frozenset[Key]
    texts: list[MessageText]
    weight: int
    """The approximate size of the texts in bytes."""


_kept: Cache[_CachedTexts] = Cache(lambda kept: kept.weight)


def _originals(session: Session, indexes: set[int]) -> Mapping[int, MessageText]:
    """The originals at these indexes as recorded; if they are few, the rest is not read."""
    purged = (
        frozenset(load_history(session).log.purged) if session.head else frozenset()
    )
    kept = _kept.get(session.pk)
    if kept is None or kept.purged != purged:
        kept = _CachedTexts(purged, [], 0)
    end = max(indexes, default=-1) + 1
    if len(kept.texts) < end:
        unread = session.message_count - len(kept.texts)
        if len(indexes) <= FEW < unread:
            return _few_originals(session, indexes, purged)
        rest = range(len(kept.texts), session.message_count)
        more = _texts(load_recorded_at(session, rest), keep=True)
        weight = kept.weight + _weigh(more)
        kept = _CachedTexts(purged, [*kept.texts, *more.values()], weight)
        _kept.keep(session.pk, kept)
    return {index: kept.texts[index] for index in indexes if index < len(kept.texts)}


def _weigh(texts: Mapping[int, MessageText]) -> int:
    """The approximate size of texts in bytes, in both their stored and their decoded form."""
    recorded = (one.original.row.content for one in texts.values() if one.original)
    return 600 * len(texts) + 2 * sum(map(len, recorded))


_few: Cache[dict[int, MessageText]] = Cache(_weigh)


def _few_originals(
    session: Session, indexes: set[int], purged: frozenset[Key]
) -> Mapping[int, MessageText]:
    """A few originals, from the cache of those read last if they are there."""
    key = session.pk, purged
    found = _few.get(key) or {}
    if unread := indexes - found.keys():
        more = _texts(load_recorded_at(session, unread), keep=True)
        kept = found if len(found) + len(more) <= _MAX_READ_ALONE else {}
        found = {**{index: found[index] for index in indexes & found.keys()}, **more}
        found = {**kept, **found}
        _few.keep(key, found)
    return {index: found[index] for index in sorted(indexes) if index in found}


def _texts(
    originals: Mapping[int, Original], *, keep: bool = False
) -> dict[int, MessageText]:
    return {
        index: MessageText(
            one.key,
            one.role,
            one.parts,
            one.row.parsing_strategy,
            one.row.name or None,
            one.decoded() if keep else one,
        )
        for index, one in sorted(originals.items())
    }


def mask_text(session: Session, text: str) -> str:
    """A text, masked wherever it quotes what redactions that are on mask in the session."""
    return mask_words(text, masked_texts(session)) if text else text


def mask_title(session: Session, title: str) -> str:
    """A session's title on one line, masked by redactions that are on in the session."""
    return mask.mask_title(" ".join(title.split()), masked_texts(session))


def masked_texts(session: Session) -> Mapping[str, str]:
    """Map of each text that redactions mask in the session to its replacement."""
    return load_history(session).masked if session.head else {}


def masked_in(session: Session, indexes: Sequence[int] | None) -> Mapping[str, str]:
    """`masked_texts` for these originals only, or for the whole session if None."""
    if indexes is None or not session.head:
        return masked_texts(session)
    masks = load_history(session).log.masks
    return selectors.masked_texts(session, masks, set(map(original_key, indexes)))


def mask_originals(session: Session, readings: Readings) -> Readings:
    """The originals, masked by redactions that are on."""
    masks = load_history(session).log.masks if session.head else None
    if not masks:
        return readings
    return {
        index: masks.mask_parts(original_key(index), parts)
        for index, parts in readings.items()
    }


def masked_places(sessions: QuerySet[Session]) -> Iterator[tuple[uuid.UUID, int]]:
    """Yield session and index of the originals in which something may be masked."""
    entries = LogEntry.objects.filter(session__in=sessions, kind=Redact.kind)
    for session in Session.objects.filter(pk__in=entries.values("session")):
        for index in load_history(session).log.masks.indexes:
            yield session.pk, index
