"""What messages say: as they were recorded, and as they read in a thread. Everyone reads here.

Originals never change, so what was read of a session stays right when it grows or its log
does; only a purge takes words back. Text
that redactions cover is masked in originals, and in what quotes them outside of the thread.
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
from operations.domain.tree.span import read_changed
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
"""Originals that are read for themselves; where more are wanted, or all are no more, all are read
and kept."""
_MOST_FEW = 1_000
"""Of those, how many are kept of a session."""


class MessageText(NamedTuple):
    """What one message says, and what is known of it besides."""

    key: Key
    role: Role
    parts: tuple[Part, ...]
    strategy: str
    """The `parsing_strategy` it was recorded with; the session's for what operations made."""
    name: str | None
    original: Original | None
    """The original as it was recorded; None for what an operation made, or is not recorded yet."""


@dataclass(frozen=True, slots=True)
class MessageReader:
    """Reads the messages of a thread.

    `inbound` are messages that a client sends and the session does not hold: they stand as
    originals from index `held` on.
    """

    session: Session
    thread: Thread
    held: int | None = None
    inbound: Sequence[Message] = ()

    def effective(self, keys: Iterable[Key]) -> dict[Key, MessageText]:
        """What messages read in the thread, with replacements and redactions applied.

        By key and in the order of the keys; what the thread does not know is left out.
        """
        return {
            key: text._replace(parts=read_changed(text.parts, changes))
            if (changes := self.thread.spans(key))
            else text
            for key, text in self.recorded(keys).items()
        }

    def recorded(self, keys: Iterable[Key]) -> dict[Key, MessageText]:
        """What messages said when they were recorded: for those who mask or compare."""
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
                if made := self.thread.made(key):
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
    """The originals of a session, from the first, under the purges that there were."""

    purged: frozenset[Key]
    texts: list[MessageText]
    weight: int
    """About how many bytes of memory these take."""


_kept: Cache[_CachedTexts] = Cache(lambda kept: kept.weight)


def _originals(session: Session, indexes: set[int]) -> Mapping[int, MessageText]:
    """The originals at these indexes as they were recorded; a few are only read, not kept."""
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
    """About how many bytes of memory texts take: as they are recorded, and as they are read."""
    recorded = (one.original.row.content for one in texts.values() if one.original)
    return 600 * len(texts) + 2 * sum(map(len, recorded))


_few: Cache[dict[int, MessageText]] = Cache(_weigh)


def _few_originals(
    session: Session, indexes: set[int], purged: frozenset[Key]
) -> Mapping[int, MessageText]:
    """A few originals; those that were read last need not be read again."""
    key = session.pk, purged
    found = _few.get(key) or {}
    if unread := indexes - found.keys():
        more = _texts(load_recorded_at(session, unread), keep=True)
        kept = found if len(found) + len(more) <= _MOST_FEW else {}
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
    """A text with what redactions that are on mask in the session, wherever it is found."""
    return mask_words(text, masked_texts(session)) if text else text


def mask_title(session: Session, title: str) -> str:
    """A title of a session with what redactions that are on mask in it, on one line as it is."""
    return mask.mask_title(" ".join(title.split()), masked_texts(session))


def masked_texts(session: Session) -> Mapping[str, str]:
    """What redactions that are on mask in the session, and what is read in its place."""
    return load_history(session).masked if session.head else {}


def masked_in(session: Session, indexes: Sequence[int] | None) -> Mapping[str, str]:
    """What redactions that are on mask in these originals; None: in all of the session."""
    if indexes is None or not session.head:
        return masked_texts(session)
    masks = load_history(session).log.masks
    return selectors.masked_texts(session, masks, set(map(original_key, indexes)))


def mask_originals(session: Session, readings: Readings) -> Readings:
    """Originals with the text masked that redactions which are on mask."""
    masks = load_history(session).log.masks if session.head else None
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
