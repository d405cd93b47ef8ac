"""Reads somebody else's SQLite file, without trusting anything in it.

The file is opened read-only, its tables are read by plain queries, and rows are parsed one at a
time. A record in it is a row (`row:part/12`).
"""

import shutil
import sqlite3
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from contextstudio.accounts.domain.errors import Invalid, Place
from threads.domain.part import JSON
from threads.domain.transcript import Warning

from . import json_file, json_text
from .source import BROKEN

SQLITE = b"SQLite format 3\0"
"""How an SQLite file begins."""
MAX_ROW = 64 << 20
"""The most bytes in one value of a row."""
STEPS, STEPS_A_BYTE = 500_000, 5
"""Limits on steps of SQLite's virtual machine: a base for each file, and more for each of its
bytes. Reading a file of the shortest possible rows once takes half a step per byte. Pages that
point to one another in a cycle make an endless table out of a few kilobytes, which SQLite would
read, or sort, for ever."""
_STEPS_A_ROW, _BYTES_A_STEP = 20, 8
_STEPS_AT_ONCE = 10_000
_COMPUTED = "SELECT 1 FROM pragma_table_xinfo(?) WHERE hidden <> 0"


class SqliteFile:
    """A file opened for each reading. `folder` holds a temporary copy, deleted with this object."""

    def __init__(self, path: Path, folder: str = "") -> None:
        self._path = path
        self._spent = 0
        if folder:
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

    @contextmanager
    def opened(self) -> Iterator[sqlite3.Connection]:
        """A read-only connection. Raises Invalid if SQLite can't read the file to its end."""
        most = STEPS + STEPS_A_BYTE * self._path.stat().st_size

        def spend(steps: int = _STEPS_AT_ONCE) -> bool:
            self._spent += steps
            return self._spent > most

        def taken(_: object, row: tuple[object, ...]) -> tuple[object, ...]:
            size = sum(len(value) for value in row if isinstance(value, bytes))
            if spend(_STEPS_A_ROW + size // _BYTES_A_STEP):
                raise _endless()
            return row

        with _connected(self._path, "mode=ro&immutable=1") as connection:
            connection.execute("PRAGMA query_only = ON")
            connection.set_progress_handler(spend, _STEPS_AT_ONCE)
            connection.row_factory = taken
            try:
                yield connection
            except sqlite3.OperationalError as error:
                raise (_endless() if self._spent > most else error) from error

    def require(self, tables: set[str], whose: str) -> None:
        """Raise Invalid unless it has these tables; `whose` says what the file was taken for."""
        if not self.has(tables):
            words = f"This is an SQLite database, but not {whose}."
            raise Invalid(words, code="format_unsupported")

    def has(self, tables: set[str]) -> bool:
        """Whether it has these tables, and they can be read safely."""
        with self.opened() as connection:
            query = (
                "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
            )
            names = {text(name) for (name,) in connection.execute(query)}
            # A generated column could produce a value of any size.
            is_plain = not any(
                connection.execute(_COMPUTED, [name]).fetchone() for name in tables
            )
        return names >= tables and is_plain


def open_file(file: BinaryIO, log: BinaryIO | None = None) -> SqliteFile:
    """The database in a file, including what is still in its write-ahead log."""
    path = getattr(file, "name", None)
    if log is None and isinstance(path, str) and Path(path).is_file():
        return SqliteFile(Path(path))
    folder = tempfile.mkdtemp()
    copy = Path(folder) / "copy.db"
    database = SqliteFile(copy, folder)
    for source, name in ((file, "copy.db"), (log, "copy.db-wal")):
        if source is not None:
            source.seek(0)
            with (Path(folder) / name).open("wb") as target:
                shutil.copyfileobj(source, target)
    if log is not None:
        # Merges the log into the copy.
        with _connected(copy, "mode=rw") as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
    return database


@contextmanager
def _connected(path: Path, options: str) -> Iterator[sqlite3.Connection]:
    """A connection. Raises Invalid for what SQLite can't read.

    If the file is broken, even the error message may not be valid text.
    """
    address = f"file:{quote(str(path))}?{options}"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.text_factory = bytes
            connection.execute("PRAGMA trusted_schema = OFF")
            yield connection
    except (sqlite3.Error, UnicodeError) as error:
        words = f"This database can't be read: {error}."
        raise Invalid(words, code="database_broken") from None


def _endless() -> Invalid:
    words = "This database is damaged: its tables claim to hold more than its bytes."
    return Invalid(words, code="database_broken")


def text(value: object) -> str:
    """A value of a row as text; bytes that are not UTF-8 are replaced."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def parsed(value: object, at: Place, warnings: list[Warning]) -> JSON:
    """The JSON in a value of a row; `BROKEN`, with a warning, if it can't be read."""
    raw = value if isinstance(value, bytes) else str(value or "").encode()
    try:
        if len(raw) > MAX_ROW:
            words = f"It is longer than {MAX_ROW:,} bytes."
            raise Invalid(words, code="element_too_long")
        return json_text.parse(raw)
    except Invalid as error:
        warnings.append(json_file.warning(error, at))
        return BROKEN
