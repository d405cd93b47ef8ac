"""The database of opencode (`opencode.db`): the tables `session`, `message` and `part`.

It is somebody else's SQLite file, so nothing of it is trusted: it is opened for reading only,
its tables are read by plain queries, and a row is parsed when it is its turn. What has its own
record is a row (`row:part/12`).

Source: packages/opencode/src/session/session.sql.ts of sst/opencode.
"""

import shutil
import sqlite3
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.io import fields, json_file, json_text
from threads.domain.formats.kit.items import Item
from threads.domain.part import JSON
from threads.domain.transcript import Transcript, Warning

from .parts import Located, SessionTurn
from .session import transcript
from .turns import Turns

TABLES = ("session", "message", "part")
MAX_ROW = 64 << 20
"""Bytes of one row."""
_SESSIONS = "SELECT rowid, * FROM session ORDER BY time_created, id"
_MESSAGES = (
    "SELECT rowid, id FROM message WHERE session_id = ? ORDER BY time_created, id"
)
_PARTS = "SELECT rowid, id FROM part WHERE message_id = ? ORDER BY id"
_DATA = {table: f"SELECT data FROM {table} WHERE rowid = ?" for table in TABLES}  # noqa: S608  # our own names
_CALLS = "SELECT rowid FROM part WHERE session_id = ? AND instr(data, ?) ORDER BY id"


class Database:
    """A file that is opened anew for each reading; a copy goes with its folder when this goes."""

    def __init__(self, path: Path, folder: str = "") -> None:
        self._address = f"file:{quote(str(path))}?mode=ro&immutable=1"
        if folder:
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

    @contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        """A connection; what SQLite can't read is refused as Invalid.

        Where the file is broken, even the reason may be no text.
        """
        try:
            with closing(sqlite3.connect(self._address, uri=True)) as connection:
                connection.text_factory = bytes
                connection.execute("PRAGMA trusted_schema = OFF")
                connection.execute("PRAGMA query_only = ON")
                yield connection
        except (sqlite3.Error, UnicodeError) as error:
            words = f"This database can't be read: {error}."
            raise Invalid(words, code="database_broken") from None


def open_database(file: BinaryIO, log: BinaryIO | None = None) -> Database:
    """The database in a file, with what still stands in its write-ahead log."""
    path = getattr(file, "name", None)
    if log is None and isinstance(path, str) and Path(path).is_file():
        return Database(Path(path))
    folder = tempfile.mkdtemp()
    copy = Path(folder) / "opencode.db"
    database = Database(copy, folder)
    for source, name in ((file, "opencode.db"), (log, "opencode.db-wal")):
        if source is not None:
            source.seek(0)
            with (Path(folder) / name).open("wb") as target:
                shutil.copyfileobj(source, target)
    if log is not None:
        _take_in(copy)
    return database


def _take_in(path: Path) -> None:
    """Write the log into the copy of its database."""
    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA journal_mode = DELETE")
    except (sqlite3.Error, UnicodeError) as error:
        words = f"This database can't be read: {error}."
        raise Invalid(words, code="database_broken") from None


def sessions(database: Database) -> list[dict[str, Any]]:
    """The rows of the sessions. Raises Invalid where these aren't opencode's tables."""
    with database.open() as connection:
        query = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
        names = {_text(name) for (name,) in connection.execute(query)}
        if not names.issuperset(TABLES):
            raise Invalid(
                "This is an SQLite database, but not opencode's.",
                code="format_unsupported",
            )
        rows = connection.execute(_SESSIONS)
        columns = [column[0] for column in rows.description]
        return [_session(dict(zip(columns, row, strict=True))) for row in rows]


def _session(row: dict[str, Any]) -> dict[str, Any]:
    """A row as the export writes it: text as text, JSON as its value."""
    plain = {name: _plain(value) for name, value in row.items()}
    for name in ("model", "revert"):
        try:
            plain[name] = json_text.parse(fields.text(plain, name).encode())
        except Invalid:
            plain[name] = None
    return plain


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _plain(value: object) -> JSON:
    return _text(value) if isinstance(value, bytes) else value


@dataclass(frozen=True, slots=True)
class Rows:
    """The turns of a session, row by row."""

    database: Database
    session_id: str
    revert: JSON = None
    warnings: list[Warning] = field(default_factory=list)

    def __iter__(self) -> Iterator[Item]:
        self.warnings.clear()
        turns = Turns(self.revert)
        try:
            with self.database.open() as connection:
                rows = connection.execute(_MESSAGES, [self.session_id]).fetchall()
                for rowid, id_ in rows:
                    yield from turns.take(self._turn(connection, rowid, _text(id_)))
        except Invalid as error:
            self.warnings.append(json_file.warning(error))
        yield from turns.end()

    def _turn(
        self, connection: sqlite3.Connection, rowid: int, id_: str
    ) -> SessionTurn:
        info = {**self._data(connection, "message", rowid), "id": id_}
        parts = connection.execute(_PARTS, [id_]).fetchall()
        located = [
            Located(self._data(connection, "part", part), f"row:part/{part}")
            for part, _ in parts
        ]
        return SessionTurn(info, located, f"row:message/{rowid}", is_apart=True)

    def _data(
        self, connection: sqlite3.Connection, table: str, rowid: int
    ) -> dict[str, Any]:
        """The JSON of a row; an empty object and a warning where it can't be read."""
        try:
            return fields.mapping(read_row(connection, table, rowid))
        except Invalid as error:
            self.warnings.append(json_file.warning(error, (table, rowid)))
            return {}

    def call_of(self, child: str) -> str:
        """The call in this session that began another one, a sub-agent's."""
        with self.database.open() as connection:
            found = connection.execute(_CALLS, [self.session_id, child]).fetchall()
            for (rowid,) in found:
                part = self._data(connection, "part", rowid)
                metadata = fields.mapping(fields.mapping(part, "state"), "metadata")
                if fields.text(metadata, "sessionId", "sessionID") == child:
                    return fields.text(part, "callID")
        return ""


def read_row(connection: sqlite3.Connection, table: str, rowid: int) -> JSON:
    """The value of a row's `data`. Raises Invalid where it is no JSON, or too long."""
    [data] = connection.execute(_DATA[table], [rowid]).fetchone() or [None]
    raw = data if isinstance(data, bytes) else str(data or "").encode()
    if len(raw) > MAX_ROW:
        raise Invalid(f"It is longer than {MAX_ROW:,} bytes.", code="element_too_long")
    return json_text.parse(raw)


def transcripts(
    file: BinaryIO, log: BinaryIO | None = None, member: str = ""
) -> list[Transcript]:
    """The sessions of a database that hold messages. Raises Invalid where it is another's."""
    database = open_database(file, log)
    found = []
    for info in sessions(database):
        items = Rows(database, fields.text(info, "id"), info["revert"])
        one = transcript(
            info,
            items,
            items.warnings,
            call_of=lambda parent, child: Rows(database, parent).call_of(child),
            member=member,
        )
        found += [one] if one else []
    return found
