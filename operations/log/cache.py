"""What replay needs of a session, kept in the process: it may be emptied at any time.

Originals and the log only grow, so what was read stays right and only the rest is read
again. Entries are shared by threads of the process; each is replaced whole, never changed.
What was read inside a transaction is kept only once it is committed, for a transaction that
is rolled back must leave nothing behind.

All that is derived from a session is kept under its version.
"""

import uuid
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar

from cachetools import LRUCache
from django.db import transaction

from threads.models import Session

Value = TypeVar("Value")

MOST_LEAVES = 2_000_000
"""How many originals all kept values may hold together."""
_all: list["Cache[Any]"] = []


class Cache(Generic[Value]):
    """Values by key, least recently used first out, bounded by the weight of what is kept.

    A value that weighs more than all may together is kept alone.
    """

    def __init__(self, weigh: Callable[[Value], int], most: int = MOST_LEAVES) -> None:
        self._values: LRUCache[Hashable, Value] = LRUCache(
            most, lambda value: min(weigh(value), most)
        )
        self._lock = Lock()
        _all.append(self)

    def get(self, key: Hashable) -> Value | None:
        """The value kept under a key, if there is one."""
        with self._lock:
            return self._values.get(key)

    def keep(self, key: Hashable, value: Value) -> None:
        """Keep a value once the running transaction is committed, at once outside of one."""
        transaction.on_commit(lambda: self._keep(key, value), robust=True)

    def drop(self, key: Hashable) -> None:
        """Forget a value once the running transaction is committed, at once outside of one."""
        transaction.on_commit(lambda: self._drop(key), robust=True)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._values.clear()

    def _keep(self, key: Hashable, value: Value) -> None:
        with self._lock:
            self._values[key] = value

    def _drop(self, key: Hashable) -> None:
        with self._lock:
            self._values.pop(key, None)


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
