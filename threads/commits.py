"""Commits that need not be on the disk yet, for what nobody was told of."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection
from django.db.backends.utils import CursorWrapper

_NORMAL, _FULL = 1, 2
"""How SQLite calls waiting at checkpoints alone, and waiting at every commit too."""


@contextmanager
def on_disk_later() -> Iterator[None]:
    """In SQLite, don't wait for the disk at the commits within; the next one behind them does.

    A machine that loses its power may lose the last of them, never one before another, for
    they are written in a row. Within a transaction, and where SQLite writes no such row,
    nothing is changed. PostgreSQL's connections are shared, so it is left as it is.
    """
    with connection.cursor() as cursor:
        if not _can_lag(cursor):
            yield
            return
        cursor.execute(f"PRAGMA synchronous={_NORMAL}")
        try:
            yield
        finally:
            cursor.execute(f"PRAGMA synchronous={_FULL}")


def _can_lag(cursor: CursorWrapper) -> bool:
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        return False
    cursor.execute("PRAGMA journal_mode")
    in_a_row = cursor.fetchone() == ("wal",)
    cursor.execute("PRAGMA synchronous")
    return in_a_row and bool(cursor.fetchone() == (_FULL,))
