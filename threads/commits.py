"""Commits that need not be on the disk yet, for what nobody was told of."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection
from django.db.backends.utils import CursorWrapper

_LATER = {
    "postgresql": ("SET synchronous_commit TO off", "RESET synchronous_commit"),
    "sqlite": ("PRAGMA synchronous=NORMAL", "PRAGMA synchronous=FULL"),
}
"""What begins and ends it."""


@contextmanager
def on_disk_later() -> Iterator[None]:
    """Don't wait for the disk at the commits within; the next one behind takes them along.

    A machine that loses its power may lose the last of them, never one before another: both
    databases write them in a row. Within a transaction, and where SQLite writes no such row,
    nothing is changed.
    """
    with connection.cursor() as cursor:
        if connection.in_atomic_block or not _is_in_a_row(cursor):
            yield
            return
        begin, end = _LATER[connection.vendor]
        cursor.execute(begin)
        try:
            yield
        finally:
            cursor.execute(end)


def _is_in_a_row(cursor: CursorWrapper) -> bool:
    if connection.vendor != "sqlite":
        return True
    cursor.execute("PRAGMA journal_mode")
    return bool(cursor.fetchone()[0] == "wal")
