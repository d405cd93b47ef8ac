"""Reads the log and the thread it makes; `get_operation` checks access to an operation."""

import uuid
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from django.db.models import QuerySet

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import NotFound
from contextstudio.accounts.domain.rights import Right
from operations.domain.log.entry import Entry
from operations.domain.log.history import count_staged
from operations.domain.log.log import Log, fold
from operations.domain.log.mask import Masks, mask_title
from operations.domain.log.operation import EDITS
from operations.domain.thread.replay import replay
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, original_key, original_number
from operations.domain.tree.leaf import Leaf
from operations.domain.tree.map import Map
from operations.domain.tree.status import Status
from operations.models import LogEntry
from threads.domain.part import Part
from threads.models import Session
from threads.store.originals import load_recorded_at, load_skeleton
from threads.store.selectors import get_session

from .cache import Cache, version_of
from .codec import decode


class LogRow(NamedTuple):
    """What the log stores about an entry besides the entry itself: who, when, under which id."""

    id: uuid.UUID
    actor: str
    actor_name: str
    created_at: datetime
    bundle: uuid.UUID | None
    title: str
    """As given and unmasked; use `History.title` to show it."""


class History(NamedTuple):
    """The log of a session with the state folded from it, and its rows by entry number."""

    log: Log
    rows: Map[int, LogRow]
    masked: Mapping[str, str] = MappingProxyType({})
    """Map of each text masked by redactions that are on to its replacement."""

    def title(self, number: int) -> str:
        """The title of an entry, masked by redactions."""
        return mask_title(self.rows[number].title, self.masked)

    def names(self) -> dict[str, str]:
        """Map of actor to the name in their newest entry."""
        return {
            actor: self.rows[entry.number].actor_name
            for actor, entry in self.log.newest_by_actor().items()
        }


_EMPTY = History(Log(), Map())
_leaves: Cache[list[Leaf]] = Cache(lambda leaves: 150 * len(leaves))
_histories: Cache[History] = Cache(lambda history: 1_600 * len(history.rows))
_threads: Cache[Thread] = Cache(
    lambda thread: 150 * (thread.message_count + len(thread.log.edits))
)
"""The weights include what pages derive from each thread."""


_MAX_VERSIONS = 4
"""Cached versions per session; a page that is behind needs the version that it shows."""


class _Newest(NamedTuple):
    """The last thread that was replayed for a session and tags."""

    thread: Thread
    keys: tuple[Hashable, ...]
    """The cache keys of this and the previous versions, oldest first."""


_newest: Cache[_Newest] = Cache(
    lambda newest: 50 * (newest.thread.message_count + len(newest.thread.log.edits))
)
"""The next replay starts from this thread."""


def load_leaves(session: Session) -> list[Leaf]:
    """The skeleton of every original; only what is not cached is read."""
    known = _leaves.get(session.pk) or []
    count = session.message_count
    if len(known) < count:
        rest = load_skeleton(session, len(known))
        known = known + [Leaf(*row) for row in rest[: count - len(known)]]
        _leaves.keep(session.pk, known)
    return known if len(known) == count else known[:count]


def load_history(session: Session) -> History:
    """The log up to the session's head; only what is not cached is read."""
    known = _histories.get(session.pk) or _EMPTY
    if known.log.head < session.head:
        rows = LogEntry.objects.filter(
            session=session, number__gt=known.log.head, number__lte=session.head
        ).order_by("number")
        known = extended(session, known, rows)
        _histories.keep(session.pk, known)
    if known.log.head > session.head:
        return history_at(known, session.head)
    return known


def masked_texts(
    session: Session, masks: Masks, keys: Collection[Key] | None = None
) -> dict[str, str]:
    """Map of masked text to its replacement, in a session or in only these of its messages."""
    indexes = masks.indexes
    if keys is not None:
        indexes = [index for index in indexes if original_key(index) in keys]
    recorded = load_recorded_at(session, indexes) if indexes else {}

    def read(key: Key) -> tuple[Part, ...]:
        found = recorded.get(original_number(key) - 1)
        return found.parts if found else ()

    return masks.texts(read, keys)


def extended(session: Session, history: History, rows: Iterable[LogEntry]) -> History:
    """The history of a session with these entries appended."""
    entries, known = [], history.rows.mutate()
    for row in rows:
        entry = Entry(
            number=row.number,
            operation=decode(row.kind, bytes(row.payload)),
            actor=row.actor,
            bundle=str(row.bundle) if row.bundle else None,
            proposed=row.proposed,
            staged=row.staged,
        )
        entries.append(entry)
        known[row.number] = LogRow(
            row.id, row.actor, row.actor_name, row.created_at, row.bundle, row.title
        )
    log, masked = history.log.extended(entries), history.masked
    if log.masks is not history.log.masks:
        masked = masked_texts(session, log.masks)
        log.masks.set_texts(masked)
    return History(log, known.finish(), masked)


def history_at(history: History, head: int) -> History:
    """The history as it was when `head` was the last entry; the masks are those of now."""
    entries = history.log.entries[:head]
    rows = Map((entry.number, history.rows[entry.number]) for entry in entries)
    log = fold(entries)
    log.masks.set_texts(history.masked)
    return History(log, rows, history.masked)


def load_thread(
    session: Session,
    active_tags: AbstractSet[str] | None = None,
    *,
    head: int | None = None,
    message_count: int | None = None,
) -> Thread:
    """The thread as replayed; `active_tags` None means the session's own.

    An earlier `head` and `message_count` give the thread as it was then.
    """
    head = session.head if head is None else min(head, session.head)
    count = session.message_count
    if message_count is not None:
        count = min(message_count, count)
    tags = None if active_tags is None else frozenset(active_tags)
    version = version_of(session)._replace(head=head, message_count=count)
    thread = _threads.get((version, tags))
    if thread is None:
        history, newest = load_history(session), _newest.get(_lineage(session, tags))
        log = history.log if head == session.head else history_at(history, head).log
        leaves = load_leaves(session)
        thread = replay(
            leaves if count == len(leaves) else leaves[:count],
            log,
            tags,
            objective=session.objective,
            known=None if newest is None else newest.thread,
        )
        if head == session.head and count == session.message_count:
            _keep_newest(session, tags, thread)
        else:
            _threads.keep((version, tags), thread)
    return thread


def _keep_newest(session: Session, tags: frozenset[str] | None, thread: Thread) -> None:
    """Cache a thread, and drop all but the last few versions before it."""
    key, lineage = (version_of(session), tags), _lineage(session, tags)
    last = _newest.get(lineage)
    keys = (*(one for one in (last.keys if last else ()) if one != key), key)
    for one in keys[:-_MAX_VERSIONS]:
        _threads.drop(one)
    _threads.keep(key, thread)
    _newest.keep(lineage, _Newest(thread, keys[-_MAX_VERSIONS:]))


def _lineage(session: Session, tags: frozenset[str] | None) -> Hashable:
    """The cache key shared by threads of which one can be the starting point for another."""
    return session.pk, session.encoding, tags


def keep_thread(session: Session, thread: Thread, history: History) -> None:
    """Cache what a write has just replayed; takes effect when the write commits."""
    _histories.keep(session.pk, history)
    _keep_newest(session, None, thread)


def get_operation(
    caller: Caller,
    operation_id: uuid.UUID,
    right: Right = Right.READ,
    *,
    lock: bool = False,
) -> tuple[Session, str]:
    """Session and key of an operation. Raises NotFound if the caller may not see it."""
    found = LogEntry.objects.filter(id=operation_id)
    session, (key,) = _gate(caller, found, right, lock=lock, what="operation")
    return session, key


def get_operation_id(caller: Caller, session_id: uuid.UUID, number: int) -> uuid.UUID:
    """The id of a session's operation with this number. Raises NotFound."""
    session = get_session(caller, session_id)
    found = LogEntry.objects.filter(session=session, number=number)
    if (known := found.values_list("id", flat=True).first()) is None:
        raise NotFound(f"There is no operation o{number}.", at=["operation_id"])
    return known


def get_bundle(
    caller: Caller,
    bundle_id: uuid.UUID,
    right: Right = Right.READ,
    *,
    lock: bool = False,
) -> tuple[Session, tuple[str, ...]]:
    """Session and operation keys of a bundle. Raises NotFound if the caller may not see it."""
    found = LogEntry.objects.filter(bundle=bundle_id, kind__in=EDITS)
    return _gate(caller, found, right, lock=lock, what="bundle")


def _gate(
    caller: Caller, entries: QuerySet[LogEntry], right: Right, *, lock: bool, what: str
) -> tuple[Session, tuple[str, ...]]:
    rows = list(entries.order_by("number").values_list("session_id", "number"))
    refused = NotFound(f"There is no such {what}.", at=[f"{what}_id"])
    if not rows:
        raise refused
    try:
        session = get_session(caller, rows[0][0], right, lock=lock)
    except NotFound as error:
        raise refused from error
    return session, tuple(f"o{number}" for _, number in rows)


def load_payloads(sessions: QuerySet[Session]) -> Iterator[bytes]:
    """The stored payloads of these sessions' logs, to find the images that are in use."""
    entries = LogEntry.objects.filter(session__in=sessions).order_by()
    found = entries.values_list("payload", flat=True)
    return map(bytes, found.iterator(chunk_size=1000))


_ON = (Status.APPLIED, Status.UNMET, Status.SUSPENDED, Status.VOID)


def overview(thread: Thread) -> dict[str, Any]:
    """Effective tokens, and how many operations are on, off, proposed and in conflict.

    Staged operations are not counted, as they are their author's own until committed.
    """
    statuses = thread.status_counts
    return {
        "effective_tokens": thread.tokens.effective,
        "on": sum(statuses[status] for status in _ON),
        "off": statuses[Status.OFF],
        "proposed": statuses[Status.PROPOSED] - count_staged(thread.log),
        "conflict": statuses[Status.CONFLICT],
    }
