"""Connections to SQLite that one request has closed and the next one uses.

Django's ASGI handler runs each request in a thread of its own, whose connection is opened and
closed with it. That takes 1.3 ms, a quarter of the time of a short call of the API: SQLite reads
the schema and prepares every statement anew, and Django registers sixty functions. PostgreSQL's
connections have a pool of their own.
"""

import os
import sqlite3
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

MAX_SPARE = 4
"""How many connections are kept, each with its page cache."""
SECONDS = 10.0
"""Age at which a connection is closed all the same, and its page cache with it: that of an import
may have grown to 48 MiB."""


class _Origin(NamedTuple):
    """What a connection was opened on; a file that has been replaced is another one."""

    process: int
    path: str
    device: int
    inode: int


class _Spare(NamedTuple):
    connection: sqlite3.Connection
    origin: _Origin | None
    opened: float


class SpareConnections:
    """Keeps connections for reuse, the last one first. Threads may share it."""

    def __init__(self) -> None:
        self.is_open = False
        """Whether any are kept: a command that is run by itself closes what it has opened."""
        self._spare: deque[_Spare] = deque()

    def take(self, path: str) -> tuple[sqlite3.Connection, float] | None:
        """A connection to this file, with the time when it was opened; None if there is none."""
        while True:
            try:
                spare = self._spare.pop()
            except IndexError:
                return None
            if spare.origin is not None and spare.origin == _origin(path):
                return spare.connection, spare.opened
            spare.connection.close()

    def keep(self, connection: sqlite3.Connection, path: str, opened: float) -> bool:
        """Keep a connection of which no cursor is open; False if the caller is to close it."""
        is_wanted = (
            self.is_open
            and not connection.in_transaction
            and len(self._spare) < MAX_SPARE
            and time.monotonic() - opened < SECONDS
        )
        if is_wanted:
            self._spare.append(_Spare(connection, _origin(path), opened))
        return is_wanted

    def close(self) -> None:
        """Close those that are kept now."""
        with suppress(IndexError):
            while True:
                self._spare.pop().connection.close()


def _origin(path: str) -> _Origin | None:
    """None if the file is gone."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return _Origin(os.getpid(), path, found.st_dev, found.st_ino)


spare = SpareConnections()
"""Those of this process."""
