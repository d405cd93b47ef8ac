"""Limits how many queries run at once: each is a process with a copy of a session in memory."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from contextstudio.accounts.domain.errors import TooMany

MAX_PER_PROCESS = 4
"""How many queries of all callers one process runs at once."""
MAX_PER_CALLER = 2
PATIENCE = 5.0
"""How many seconds a query waits for a place before it is refused."""

_running: Counter[str] = Counter()
_changed = threading.Condition()


@contextmanager
def place_of(actor: str) -> Iterator[None]:
    """Hold one of the places for this caller. Raises TooMany if none becomes free."""

    def is_free() -> bool:
        return _running[actor] < MAX_PER_CALLER and _running.total() < MAX_PER_PROCESS

    begun = time.monotonic()
    with _changed:
        if not _changed.wait_for(is_free, PATIENCE):
            waited = time.monotonic() - begun
            raise TooMany(
                f"The query could not start within {waited:.0f} seconds: at most {MAX_PER_CALLER} "
                f"queries of a caller can run at once, and {MAX_PER_PROCESS} in total.",
                code="too_many_queries",
                retry_after=1,
            )
        _running[actor] += 1
    try:
        yield
    finally:
        with _changed:
            _running[actor] -= 1
            if not _running[actor]:
                del _running[actor]
            _changed.notify_all()
