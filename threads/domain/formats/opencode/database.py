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
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.io import fields, json_file, json_text
from threads.domain.formats.io.folder import Folder, Gathered
from threads.domain.transcript import Transcript, Warning

from .parts import Located, SessionTurn, begun_by
from .session import items_of, transcript

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


def transcripts(
    file: BinaryIO, log: BinaryIO | None = None, member: str = ""
) -> list[Transcript]:
    """The sessions of a database that hold messages. Raises Invalid where it is another's."""
    database = open_database(file, log)
    found = []
    for info in database.sessions():
        items = items_of(partial(database.turns, fields.text(info, "id")), info)
        found.append(transcript(info, items, call_of=database.call_of, member=member))
    return [one for one in found if one is not None]


def databases(folder: Folder) -> Iterator[Gathered]:
    """Databases whose last changes lie in a log beside them."""
    for member in folder.named(".db"):
        log = folder.members.get(f"{member.name}-wal")
        if log is None:
            continue
        try:
            with member.open() as file, log.open() as changes:
                found = transcripts(file, changes, member.name)
        except Invalid:
            continue
        if found:
            names = {f"{member.name}{end}" for end in ("", "-wal", "-shm")}
            yield Gathered(found, frozenset(names & folder.members.keys()))


def open_database(file: BinaryIO, log: BinaryIO | None = None) -> "Database":
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
        with _connected(
            copy, "mode=rw"
        ) as connection:  # the log is written into the copy
            connection.execute("PRAGMA journal_mode = DELETE")
    return database


class Database:
    """A file that is opened anew for each reading; a copy goes with its folder when this goes."""

    def __init__(self, path: Path, folder: str = "") -> None:
        self._path = path
        if folder:
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

    def sessions(self) -> list[dict[str, Any]]:
        """The rows of the sessions. Raises Invalid where these aren't opencode's tables."""
        with self._opened() as connection:
            query = (
                "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
            )
            names = {_text(name) for (name,) in connection.execute(query)}
            if not names.issuperset(TABLES):
                raise Invalid(
                    "This is an SQLite database, but not opencode's.",
                    code="format_unsupported",
                )
            rows = connection.execute(_SESSIONS)
            columns = [column[0] for column in rows.description]
            return [_session(dict(zip(columns, row, strict=True))) for row in rows]

    def turns(self, session_id: str, warnings: list[Warning]) -> Iterator[SessionTurn]:
        """The turns of a session, row by row."""
        try:
            with self._opened() as connection:
                rows = connection.execute(_MESSAGES, [session_id]).fetchall()
                for rowid, id_ in rows:
                    yield _turn(connection, rowid, _text(id_), warnings)
        except Invalid as error:
            warnings.append(json_file.warning(error))

    def call_of(self, parent: str, child: str) -> str:
        """The call in a session that began another one, a sub-agent's."""
        with self._opened() as connection:
            found = connection.execute(_CALLS, [parent, child]).fetchall()
            for (rowid,) in found:
                part = _data(connection, "part", rowid, [])
                if begun_by(part) == child:
                    return fields.text(part, "callID")
        return ""

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        with _connected(self._path, "mode=ro&immutable=1") as connection:
            connection.execute("PRAGMA query_only = ON")
            yield connection


@contextmanager
def _connected(path: Path, options: str) -> Iterator[sqlite3.Connection]:
    """A connection; what SQLite can't read is refused as Invalid.

    Where the file is broken, even the reason may be no text.
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


def _session(row: dict[str, Any]) -> dict[str, Any]:
    """A row as the export writes it: text as text, JSON as its value."""
    plain = {
        name: _text(value) if isinstance(value, bytes) else value
        for name, value in row.items()
    }
    for name in ("model", "revert"):
        try:
            plain[name] = json_text.parse(fields.text(plain, name).encode())
        except Invalid:
            plain[name] = None
    return plain


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _turn(
    connection: sqlite3.Connection, rowid: int, id_: str, warnings: list[Warning]
) -> SessionTurn:
    info = {**_data(connection, "message", rowid, warnings), "id": id_}
    located = [
        Located(_data(connection, "part", part, warnings), f"row:part/{part}")
        for part, _ in connection.execute(_PARTS, [id_]).fetchall()
    ]
    return SessionTurn(info, located, f"row:message/{rowid}", is_apart=True)


def _data(
    connection: sqlite3.Connection, table: str, rowid: int, warnings: list[Warning]
) -> dict[str, Any]:
    """The JSON of a row; an empty object and a warning where it can't be read."""
    [data] = connection.execute(_DATA[table], [rowid]).fetchone() or [None]
    raw = data if isinstance(data, bytes) else str(data or "").encode()
    try:
        if len(raw) > MAX_ROW:
            words = f"It is longer than {MAX_ROW:,} bytes."
            raise Invalid(words, code="element_too_long")
        return fields.mapping(json_text.parse(raw))
    except Invalid as error:
        warnings.append(json_file.warning(error, (table, rowid)))
        return {}
