"""Commits that need not be on the disk yet, for what nobody was told of."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from threading import Condition, Thread
from typing import Any

from django.db import connection

_NORMAL, _FULL = 1, 2
"""How SQLite calls waiting at checkpoints alone, and waiting at every commit too."""
_PAGES = 1000
"""Of the log, SQLite's own measure, from which on a commit makes a checkpoint."""
MOST_PAGES = 2000
"""Of the log, from which on it must begin anew: half of what it is cut to (`LOG_BYTES`). SQLite
cuts it in the commit that begins it anew, and to give a gigabyte back takes half a second."""
_PAUSE = 0.01
"""Seconds between two checkpoints: in so long an import writes some 1 MB."""


@contextmanager
def on_disk_later() -> Iterator[None]:
    """In SQLite, don't wait for the disk at the commits within; the next one behind them does.

    A machine that loses its power may lose the last of them, never one before another, for
    they are written in a row. Checkpoints, which bring that row into the database and wait
    for the disk, are made by a thread meanwhile. Within a transaction, and where SQLite writes
    no such row, nothing is changed. PostgreSQL's connections are shared, so it is left as it is.
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
    # Else a commit would make them too, with the write lock held for as long.
    _ask("wal_autocheckpoint=0")
    checkpoints.start()
    line.after_turn = checkpoints.catch_up
    try:
        yield
    finally:
        line.after_turn = None
        checkpoints.end()
        # Before the thread has ended: the commit that follows must be on the disk whatever it does.
        _ask(f"synchronous={_FULL}")
        _ask(f"wal_autocheckpoint={_PAGES}")
        checkpoints.join()


class Checkpoints(Thread):
    """Makes one checkpoint after another.

    While somebody writes without a pause no checkpoint reaches the end of the log, which then grows
    for ever. So the writer waits now and then, between two transactions, until one has.
    """

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path
        self._changed = Condition()
        self._begun = self._done = 0
        self._pages = 0
        """Of the log, as the last checkpoint found it; none where that did nothing."""
        self._ended = False

    def run(self) -> None:
        """Make checkpoints until `end` is called."""
        connected = sqlite3.connect(self._path, timeout=0, isolation_level=None)
        try:
            with closing(connected) as database:
                while self._begin():
                    found = None
                    with suppress(sqlite3.OperationalError):  # another is at it
                        asked = database.execute("PRAGMA wal_checkpoint(PASSIVE)")
                        found = asked.fetchone()
                    self._note(found)
        finally:
            self.end()

    def end(self) -> None:
        """Make no other; nobody waits for one any more."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def catch_up(self) -> None:
        """Wait, where the log is long, until a checkpoint has begun and ended."""
        with self._changed:
            if self._pages >= MOST_PAGES:
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
