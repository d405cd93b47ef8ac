"""A queue in which the writers of a process wait: first come, first served.

SQLite lets waiters for its write lock retry after pauses, so that under load some wait for seconds
while others pass them, and the lock is idle between two tries. Here a writer that is done hands
over to the next at once.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


class WriteQueue:
    """One turn at a time, in the order of arrival. Any thread may end a turn."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[threading.Lock] = deque()
        self._taken = False
        self._since = 0.0
        self.longest = 0.0
        """Duration of the longest turn in seconds; may be reset to 0."""

    def acquire(self, timeout: float) -> bool:
        """Wait up to `timeout` seconds for a turn; returns whether the caller has it."""
        with self._lock:
            if not self._taken:
                self._taken = True
                self._since = time.monotonic()
                return True
            if timeout <= 0:
                return False
            gate = threading.Lock()
            gate.acquire()
            self._waiting.append(gate)
        if gate.acquire(timeout=timeout):
            return True
        with self._lock:
            if gate in self._waiting:
                self._waiting.remove(gate)
                return False
        return True  # it was handed over at that very moment

    def release(self) -> None:
        """End a turn and hand over to the next in the queue."""
        with self._lock:
            now = time.monotonic()
            self.longest = max(self.longest, now - self._since)
            self._since = now
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False


_queues: dict[str, WriteQueue] = {}
_thread_state = threading.local()
# Turns taken at a fork belong to threads of the parent; no thread of the child would end them.
os.register_at_fork(after_in_child=_queues.clear)


def queue_of(database: str) -> WriteQueue:
    """The queue of this database file, one for the whole process."""
    return _queues.setdefault(database, WriteQueue())


def is_nowait() -> bool:
    """Whether this thread writes only if it needn't wait."""
    return bool(getattr(_thread_state, "depth", 0))


@contextmanager
def nowait() -> Iterator[None]:
    """Within this context, a write that would have to wait fails at once."""
    _thread_state.depth = getattr(_thread_state, "depth", 0) + 1
    try:
        yield
    finally:
        _thread_state.depth -= 1
