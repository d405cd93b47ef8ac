"""Django's backend for SQLite, whose writers wait for their turn (`write_queue`)."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from weakref import WeakSet

from django.db import OperationalError
from django.db.backends.sqlite3 import base

from .spare import spare
from .write_queue import WriteQueue, is_nowait, queue_of

_WRITES = frozenset({"INSERT", "UPDATE", "DELETE", "REPLACE"})
_LOCKED = "database is locked"


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection that takes its turn before it writes and gives it up at the end."""

    _queue: WriteQueue | None = None
    """The queue in which this connection has the turn."""
    after_commit: Callable[[], object] | None = None
    """Called after each commit, when others may already write: it may take its time."""
    _opened = 0.0
    """When the connection was opened, as `time.monotonic` has it."""

    def __init__(self, *values: Any, **named: Any) -> None:
        super().__init__(*values, **named)
        self._cursors: WeakSet[Any] = WeakSet()

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Connect to the file, creating it readable by its owner only.

        SQLite's own files beside it get the same mode. A spare connection is used if there is one.
        """
        if taken := spare.take(str(conn_params["database"])):
            connection, self._opened = taken
            return connection
        self._opened = time.monotonic()
        if not self.is_in_memory_db():
            with suppress(OSError):  # it exists, or SQLite reports what is wrong
                flags = os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
                os.close(os.open(conn_params["database"], flags, 0o600))
        return super().get_new_connection(conn_params)

    def create_cursor(self, name: str | None = None) -> Any:
        """A cursor whose writes outside transactions wait for their turn too."""
        cursor = self.connection.cursor(factory=self._cursor_of)
        self._cursors.add(cursor)
        return cursor

    def _cursor_of(self, connection: Any) -> "_Cursor":
        return _Cursor(connection, self._turn)

    def _start_transaction_under_autocommit(self) -> None:
        """Wait for the turn, then begin a transaction, which takes SQLite's write lock."""
        self._begin_turn()
        try:
            with self._without_busy_timeout_if_nowait():
                super()._start_transaction_under_autocommit()  # type: ignore[misc]  # not in its stubs
        except BaseException:
            self._end_turn()
            raise

    def _commit(self) -> None:
        super()._commit()  # type: ignore[misc]  # not in its stubs
        self._end_turn()
        if self.after_commit is not None:
            self.after_commit()

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]  # not in its stubs
        finally:
            self._end_turn()

    def _close(self) -> None:
        try:
            if not self._spared():
                super()._close()  # type: ignore[misc]  # not in its stubs
        finally:
            self._end_turn()

    def _spared(self) -> bool:
        """Whether the connection is kept for others instead of being closed.

        A cursor that was not read to its end, and that somebody still holds, would show them the
        database as it was.
        """
        cursors, self._cursors = self._cursors, WeakSet()
        if self.connection is None or self.errors_occurred:
            return False
        for cursor in tuple(cursors):
            cursor.close()
        path = str(self.settings_dict["NAME"])
        return spare.keep(self.connection, path, self._opened)

    def _begin_turn(self) -> None:
        queue = queue_of(str(self.settings_dict["NAME"]))
        if not queue.acquire(0 if is_nowait() else self._timeout):
            raise OperationalError(_LOCKED)
        self._queue = queue

    def _end_turn(self) -> None:
        if self._queue is not None:
            self._queue.release()
            self._queue = None

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """The turn for one statement that is its own transaction."""
        self._begin_turn()
        try:
            with self._without_busy_timeout_if_nowait():
                yield
        finally:
            self._end_turn()

    @contextmanager
    def _without_busy_timeout_if_nowait(self) -> Iterator[None]:
        """If the thread does not wait, don't wait for other processes either."""
        if not is_nowait():
            yield
            return
        self.connection.execute("PRAGMA busy_timeout=0")
        try:
            yield
        finally:
            self.connection.execute(f"PRAGMA busy_timeout={int(self._timeout * 1000)}")

    @property
    def _timeout(self) -> float:
        """Seconds that a writer waits in the queue and, again, for other processes."""
        return float(self.settings_dict["OPTIONS"].get("timeout", 5))


class _Cursor(base.SQLiteCursorWrapper):
    """Django's cursor; outside of a transaction, writes wait for their turn."""

    def __init__(self, connection: Any, turn: Callable[[], Any]) -> None:
        super().__init__(connection)
        self._turn = turn

    def execute(self, query: str, params: Any = None) -> Any:
        """Run a statement."""
        if self.connection.in_transaction or not _writes(query):
            return super().execute(query, params)
        with self._turn():
            return super().execute(query, params)

    def executemany(self, query: str, param_list: Any) -> Any:
        """Run a statement for each set of values."""
        if self.connection.in_transaction or not _writes(query):
            return super().executemany(query, param_list)
        with self._turn():
            return super().executemany(query, param_list)


def _writes(query: str) -> bool:
    return query.lstrip()[:7].rstrip().upper() in _WRITES
