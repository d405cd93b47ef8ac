"""What messages read in a thread, their originals kept from one request to the next.

Originals never change, so that what was read of a session stays right when it grows or its
log does; only a purge takes words back.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from operations.domain.context.assembly import Spoken
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, original_index
from operations.domain.tree.span import read_changed
from operations.log.cache import Cache
from operations.log.selectors import load_history
from threads.models import Session
from threads.store.selectors import Original, load_recorded_at

MOST = 50_000
"""How many originals are kept with their words, which weigh more than all else."""
_HELD = "_originals_as_spoken"
FEW = 200
"""Originals that are read for themselves; where more are wanted, all are read and kept."""


class _Read(NamedTuple):
    """The originals of a session as they were recorded, under the purges that there were."""

    purged: frozenset[Key]
    spoken: list[Spoken]


_originals: Cache[_Read] = Cache(lambda read: len(read.spoken), MOST)


def load_spoken(
    session: Session, thread: Thread, keys: Iterable[Key]
) -> dict[Key, Spoken]:
    """What messages read in the thread, by key: replacements and redactions applied."""
    wanted = {key: original_index(key) for key in keys}
    originals = load_as_recorded(
        session, {at for at in wanted.values() if at is not None}
    )
    found: dict[Key, Spoken] = {}
    for key, index in wanted.items():
        if index is None:
            made = thread.made(key)
            one = Spoken(made.parts, session.parsing_strategy) if made else None
        else:
            one = originals.get(index)
        if one is not None:
            changes = thread.spans(key)
            found[key] = (
                one._replace(parts=read_changed(one.parts, changes)) if changes else one
            )
    return found


def load_as_recorded(session: Session, indexes: set[int]) -> Mapping[int, Spoken]:
    """The originals at these indexes as they were recorded; a few are only read, not kept."""
    purged = (
        frozenset(load_history(session).log.purged) if session.head else frozenset()
    )
    # Within a transaction nothing is kept yet, so the session's own row holds it meanwhile.
    read = getattr(session, _HELD, None) or _originals.get(session.pk)
    if read is None or read.purged != purged:
        read = _Read(purged, [])
    end = max(indexes, default=-1) + 1
    if len(read.spoken) < end:
        if len(indexes) <= FEW:
            return _spoken(load_recorded_at(session, indexes))
        rest = range(len(read.spoken), session.message_count)
        more = _spoken(load_recorded_at(session, rest))
        read = _Read(purged, [*read.spoken, *more.values()])
        _originals.keep(session.pk, read)
        setattr(session, _HELD, read)
    return {index: read.spoken[index] for index in indexes if index < len(read.spoken)}


def _spoken(originals: Mapping[int, Original]) -> dict[int, Spoken]:
    return {
        index: Spoken(one.parts, one.row.parsing_strategy, one.row.name or None)
        for index, one in sorted(originals.items())
    }
