"""Commits that need not be on disk yet, for data that nobody was told of."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from threading import Condition, Thread
from typing import Any

from django.db import connection

_NORMAL, _FULL = 1, 2
"""SQLite's codes for syncing only at checkpoints, and for syncing at every commit too."""
_PAGES = 1000
"""Pages of the WAL from which a commit makes a checkpoint: SQLite's own default."""
MAX_PAGES = 2000
"""Pages of the WAL from which it must start over: half of what it is cut to (`LOG_BYTES`). SQLite
cuts it in the commit that starts it over, and giving back a gigabyte takes half a second."""
_PAUSE = 0.01
"""Seconds between two checkpoints: an import writes some 1 MB in this time."""


@contextmanager
def deferred_sync() -> Iterator[None]:
    """Let the commits within not wait for the disk (SQLite only); the next one afterwards does.

    If the machine loses power, the last of these commits may be lost, but never one before another,
    since they are written in sequence. Meanwhile a thread makes checkpoints, which copy the WAL
    into the database and wait for the disk. Within a transaction, and if SQLite isn't in WAL mode,
    nothing is changed. PostgreSQL's connections are shared, so it is left as it is.
    """
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        yield
        return
    # Only in WAL mode does NORMAL keep commits in order; elsewhere it could corrupt the database.
    if (_ask("journal_mode"), _ask("synchronous")) != ("wal", _FULL):
        yield
        return
    checkpoints = Checkpoints(str(connection.settings_dict["NAME"]))
    line: Any = connection
    _ask(f"synchronous={_NORMAL}")
    # Otherwise commits would make checkpoints too, holding the write lock meanwhile.
    _ask("wal_autocheckpoint=0")
    checkpoints.start()
    line.after_commit = checkpoints.catch_up
    try:
        yield
    finally:
        line.after_commit = None
        checkpoints.end()
        # Before joining the thread: the next commit must reach the disk whatever the thread does.
        _ask(f"synchronous={_FULL}")
        _ask(f"wal_autocheckpoint={_PAGES}")
        checkpoints.join()


class Checkpoints(Thread):
    """A thread that makes one checkpoint after another.

    While somebody writes without a pause, no checkpoint reaches the end of the WAL, which then
    grows forever. So the writer waits now and then, between two transactions, until one has.
    """

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path
        self._changed = Condition()
        self._begun = self._done = 0
        self._pages = 0
        """Pages of the WAL, as found by the last checkpoint; 0 if that did nothing."""
        self._ended = False

    def run(self) -> None:
        """Make checkpoints until `end` is called."""
        connected = sqlite3.connect(self._path, timeout=0, isolation_level=None)
        try:
            with closing(connected) as database:
                while self._begin():
                    found = None
                    with suppress(sqlite3.OperationalError):  # another one is running
                        asked = database.execute("PRAGMA wal_checkpoint(PASSIVE)")
                        found = asked.fetchone()
                    self._note(found)
        finally:
            self.end()

    def end(self) -> None:
        """Make no further checkpoints and release whoever waits for one."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def catch_up(self) -> None:
        """If the WAL is long, wait until a checkpoint has begun and ended."""
        with self._changed:
            if self._pages >= MAX_PAGES:
                last = self._begun + 1
                self._changed.wait_for(lambda: self._ended or self._done >= last)
                self._pages = 0

    def _begin(self) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._ended, _PAUSE)
            self._begun += 1
            return not self._ended

    def _note(self, found: tuple[int, int, int] | None) -> None:
        with self._changed:
            self._done = self._begun
            if found is not None:
                self._pages = found[1]
            self._changed.notify_all()


def _ask(pragma: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA {pragma}")
        row = cursor.fetchone()
        return row and row[0]
