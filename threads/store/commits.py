"""Commits that need not be on the disk yet, for what nobody was told of."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from threading import Event, Thread
from typing import Any

from django.db import connection

_NORMAL, _FULL = 1, 2
"""How SQLite calls waiting at checkpoints alone, and waiting at every commit too."""
_PAGES = 1000
"""Of the log, SQLite's own measure, from which on a commit makes a checkpoint."""
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
    path, ended = str(connection.settings_dict["NAME"]), Event()

    def checkpoint() -> None:
        with closing(
            sqlite3.connect(path, timeout=0, isolation_level=None)
        ) as database:
            while not ended.wait(_PAUSE):
                with suppress(sqlite3.OperationalError):  # another is at it
                    database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()

    checkpoints = Thread(target=checkpoint)
    _ask(f"synchronous={_NORMAL}")
    # Else a commit would make them too, with the write lock held for as long.
    _ask("wal_autocheckpoint=0")
    checkpoints.start()
    try:
        yield
    finally:
        ended.set()
        # Before the thread has ended: the commit that follows must be on the disk whatever it does.
        _ask(f"synchronous={_FULL}")
        _ask(f"wal_autocheckpoint={_PAGES}")
        checkpoints.join()


def _ask(pragma: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA {pragma}")
        row = cursor.fetchone()
        return row and row[0]
