"""What replay needs of a session, kept in the process: it may be emptied at any time.

Originals and the log only grow, so what was read stays right and only the rest is read
again. Entries are shared by threads of the process; each is replaced whole, never changed.
What was read inside a transaction is kept only once it is committed, for a transaction that
is rolled back must leave nothing behind.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, Generic, TypeVar

from django.db import transaction

Value = TypeVar("Value")

MOST_LEAVES = 2_000_000
"""How many originals all kept values may hold together."""
_all: list["Cache[Any]"] = []


class Cache(Generic[Value]):
    """Values by key, least recently used first out, bounded by the weight of what is kept."""

    def __init__(self, weigh: Callable[[Value], int], most: int = MOST_LEAVES) -> None:
        self._weigh, self._most = weigh, most
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._weight = 0
        self._lock = Lock()
        _all.append(self)

    def get(self, key: Hashable) -> Value | None:
        """The value kept under a key, if there is one."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        return None

    def keep(self, key: Hashable, value: Value) -> None:
        """Keep a value once the running transaction is committed, at once outside of one."""
        transaction.on_commit(lambda: self._keep(key, value), robust=True)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._values.clear()
            self._weight = 0

    def _keep(self, key: Hashable, value: Value) -> None:
        with self._lock:
            old = self._values.pop(key, None)
            if old is not None:
                self._weight -= self._weigh(old)
            self._values[key] = value
            self._weight += self._weigh(value)
            while self._weight > self._most and len(self._values) > 1:
                _, dropped = self._values.popitem(last=False)
                self._weight -= self._weigh(dropped)


def forget_everything() -> None:
    """Empty the caches: for tests, and after what is permanent."""
    for cache in _all:
        cache.clear()
