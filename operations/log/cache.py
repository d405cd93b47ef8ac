"""What replay needs of a session, kept in the process: it may be emptied at any time.

Originals and the log only grow, so what was read stays right and only the rest is read
again. Entries are shared by threads of the process; each is replaced whole, never changed.
What was read inside a transaction is kept only once it is committed, for a transaction that
is rolled back must leave nothing behind.
"""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, Generic, TypeVar

from cachetools import LRUCache
from django.db import transaction

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

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._values.clear()

    def _keep(self, key: Hashable, value: Value) -> None:
        with self._lock:
            self._values[key] = value


def forget_everything() -> None:
    """Empty the caches: for tests, and after what is permanent."""
    for cache in _all:
        cache.clear()
