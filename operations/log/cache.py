"""What is worked out of sessions, kept in the process: it may be emptied at any time.

Originals and the log only grow, so what was read stays right and only the rest is read
again. Entries are shared by threads of the process; each is replaced whole, never changed.
What was read inside a transaction is that transaction's own until it is committed, for one that
is rolled back must leave nothing behind.

All that is derived from a session is kept under its version. What all caches keep together is
bounded by its bytes (`CONTEXTSTUDIO_CACHE_MB`), so that a process that has shown a thousand
sessions takes no more memory than one that has shown the last of them.
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
"""Bytes that keeping a value takes, however small it is."""
_all: list["Cache[Any]"] = []


class _Held(NamedTuple):
    """A value, and about how many bytes it takes."""

    value: Any
    weight: int


class Memory:
    """What several caches keep together, of `most` bytes: least recently used first out.

    A value that weighs more than all may together is kept alone.
    """

    def __init__(self, most: int) -> None:
        self.held: LRUCache[tuple[Cache[Any], Hashable], _Held] = LRUCache(
            most, lambda one: min(_ENTRY + one.weight, most)
        )
        self.lock = Lock()


OF_THE_PROCESS = Memory(max(1, settings.CACHE_MB) << 20)


class Cache(Generic[Value]):
    """Values of one kind by key, in a memory that other kinds share.

    `weigh` answers about how many bytes a value takes, without what it shares with values of
    another kind. The figures come from counting what a process frees when one kind is forgotten.
    """

    def __init__(
        self, weigh: Callable[[Value], int], memory: Memory = OF_THE_PROCESS
    ) -> None:
        self._weigh = weigh
        self._memory = memory
        self._times_cleared = 0
        _all.append(self)

    def get(self, key: Hashable) -> Value | None:
        """The value kept under a key, if there is one: that of the running transaction first."""
        own = self._of_transaction(key)
        if own is not None:
            return own.value
        with self._memory.lock:
            held = self._memory.held.get((self, key))
        return None if held is None else held.value

    def keep(self, key: Hashable, value: Value) -> None:
        """Keep a value, for all once the running transaction is committed."""
        self._change(key, value)

    def drop(self, key: Hashable) -> None:
        """Forget a value, for all once the running transaction is committed."""
        self._change(key, None)

    def clear(self) -> None:
        """Forget everything, also what transactions would keep that still run."""
        with self._memory.lock:
            for one in [one for one in self._memory.held if one[0] is self]:
                del self._memory.held[one]
            self._times_cleared += 1

    def values(self) -> list[Value]:
        """All that it keeps."""
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
        """What the running transaction did to a key.

        Django's own list tells it: what a savepoint did that was rolled back is no longer there.
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
        """Make a transaction's change for all, unless everything was forgotten since."""
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
    """What is done to a cache once a transaction is committed."""

    cache: Cache[Value]
    key: Hashable
    value: Value | None
    """None: it is forgotten."""
    times_cleared: int
    """Of the cache, when the value was made."""

    def make(self) -> None:
        """Do it."""
        self.cache.take_over(self)


def forget_everything() -> None:
    """Empty the caches: for tests, and after what is permanent."""
    for cache in _all:
        cache.clear()


_BESIDE = frozenset(
    {"overview", "created_at", "created_by", "updated_at", "deleted_at", "staged_by"}
)
"""Columns on which nothing depends that is derived; every other one counts, a new one too."""
_COLUMNS = tuple(
    field.attname
    for field in Session._meta.concrete_fields
    if field.attname not in _BESIDE | {"id", "head", "message_count"}
)


class SessionVersion(NamedTuple):
    """Two sessions with the same one read the same: threads, contexts, ledgers follow from it.

    What is kept beside a session (its policy, scratchpad, memos) is no part of it.
    """

    session: uuid.UUID
    head: int
    message_count: int
    columns: tuple[Hashable, ...]


def version_of(session: Session) -> SessionVersion:
    """The version that a session has, as far as this row of it knows."""
    columns = tuple(getattr(session, name) for name in _COLUMNS)
    return SessionVersion(session.pk, session.head, session.message_count, columns)
