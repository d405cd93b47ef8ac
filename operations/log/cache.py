"""In-process caches of what is derived from sessions; they may be emptied at any time.

Originals and the log only grow, so what was read stays valid and only the rest has to be read.
Cached values are shared by the threads of the process; they are replaced, never mutated.
A value cached inside a transaction is visible only to that transaction until it commits, because a
rollback must leave nothing behind.

Everything derived from a session is cached under its version. The total size of all caches is
bounded in bytes (`CONTEXTSTUDIO_CACHE_MB`), so that a process that has shown a thousand sessions
takes no more memory than one that has shown the last of them.
"""

import uuid
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar

from cachetools import LRUCache
from django.conf import settings
from django.db import transaction

from threads.models import Session

Value = TypeVar("Value")

_ENTRY = 200
"""Overhead in bytes of each cached value."""
_all: list["Cache[Any]"] = []


class _Held(NamedTuple):
    """A value, and its approximate size in bytes."""

    value: Any
    weight: int


class Memory:
    """The LRU storage that several caches share, bounded by `most` bytes.

    A value that is larger than the bound is kept alone.
    """

    def __init__(self, most: int) -> None:
        self.held: LRUCache[tuple[Cache[Any], Hashable], _Held] = LRUCache(
            most, lambda one: min(_ENTRY + one.weight, most)
        )
        self.lock = Lock()


PROCESS_MEMORY = Memory(max(1, settings.CACHE_MB) << 20)


class Cache(Generic[Value]):
    """A cache for values of one kind, in a memory shared with other kinds.

    `weigh` returns the approximate size of a value in bytes, without what it shares with values of
    other kinds. The figures were measured as the memory a process frees when one kind is dropped.
    """

    def __init__(
        self, weigh: Callable[[Value], int], memory: Memory = PROCESS_MEMORY
    ) -> None:
        self._weigh = weigh
        self._memory = memory
        self._times_cleared = 0
        _all.append(self)

    def get(self, key: Hashable) -> Value | None:
        """The value for a key, or None; the running transaction's own value takes precedence."""
        own = self._of_transaction(key)
        if own is not None:
            return own.value
        with self._memory.lock:
            held = self._memory.held.get((self, key))
        return None if held is None else held.value

    def keep(self, key: Hashable, value: Value) -> None:
        """Cache a value; others see it once the running transaction commits."""
        self._change(key, value)

    def drop(self, key: Hashable) -> None:
        """Drop a value; others no longer see it once the running transaction commits."""
        self._change(key, None)

    def clear(self) -> None:
        """Drop everything, including what running transactions would cache on commit."""
        with self._memory.lock:
            for one in [one for one in self._memory.held if one[0] is self]:
                del self._memory.held[one]
            self._times_cleared += 1

    def values(self) -> list[Value]:
        """All values of this cache."""
        with self._memory.lock:
            return [
                held.value
                for (cache, _), held in self._memory.held.items()
                if cache is self
            ]

    def _change(self, key: Hashable, value: Value | None) -> None:
        change = _Change(self, key, value, self._times_cleared)
        transaction.on_commit(change.make, robust=True)

    def _of_transaction(self, key: Hashable) -> "_Change[Value] | None":
        """The last change of a key in the running transaction, if any.

        It is looked up in Django's list of commit hooks, from which those of a savepoint that was
        rolled back are removed.
        """
        connection = transaction.get_connection()
        if not connection.in_atomic_block:
            return None
        for _, callback, _ in reversed(connection.run_on_commit):
            change = getattr(callback, "__self__", None)
            if (
                isinstance(change, _Change)
                and change.cache is self
                and change.key == key
                and change.times_cleared == self._times_cleared
            ):
                return change
        return None

    def take_over(self, change: "_Change[Value]") -> None:
        """Apply a transaction's change for everybody, unless the cache was cleared since."""
        place = self, change.key
        with self._memory.lock:
            if change.times_cleared != self._times_cleared:
                return
            if change.value is None:
                self._memory.held.pop(place, None)
            else:
                weight = self._weigh(change.value)
                self._memory.held[place] = _Held(change.value, weight)


@dataclass(frozen=True, slots=True, eq=False)
class _Change(Generic[Value]):
    """A change to a cache, to be made when a transaction commits."""

    cache: Cache[Value]
    key: Hashable
    value: Value | None
    """None to drop the key."""
    times_cleared: int
    """The cache's `_times_cleared` when the value was made."""

    def make(self) -> None:
        """Apply the change."""
        self.cache.take_over(self)


def forget_everything() -> None:
    """Empty all caches: for tests, and after permanent deletions."""
    for cache in _all:
        cache.clear()


_BESIDE = frozenset(
    {"overview", "created_at", "created_by", "updated_at", "deleted_at", "staged_by"}
)
"""Columns on which nothing cached depends; all others do, and so will new ones."""
_COLUMNS = tuple(
    field.attname
    for field in Session._meta.concrete_fields
    if field.attname not in _BESIDE | {"id", "head", "message_count"}
)


class SessionVersion(NamedTuple):
    """Identifies the content of a session; threads, contexts and ledgers follow from it.

    It doesn't cover what is stored beside a session (its policy, scratchpad, memos).
    """

    session: uuid.UUID
    head: int
    message_count: int
    columns: tuple[Hashable, ...]


def version_of(session: Session) -> SessionVersion:
    """The version of a session, according to this instance of its row."""
    columns = tuple(getattr(session, name) for name in _COLUMNS)
    return SessionVersion(session.pk, session.head, session.message_count, columns)
