"""The database of opencode (`opencode.db`): the tables `session`, `message` and `part`.

Source: packages/opencode/src/session/session.sql.ts of sst/opencode.
"""

import sqlite3
from collections.abc import Iterator
from functools import partial
from typing import Any, BinaryIO

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.io import fields, json_file, json_text, sqlite_file
from threads.domain.formats.io.folder import Folder, Gathered
from threads.domain.formats.io.sqlite_file import SqliteFile
from threads.domain.transcript import Transcript, Warning

from .parts import Located, SessionTurn, begun_by
from .session import items_of, transcript

TABLES = ("session", "message", "part")
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
    """The sessions of a database that hold messages. Raises Invalid if it isn't opencode's."""
    database = open_database(file, log)
    found = []
    for info in database.sessions():
        items = items_of(partial(database.turns, fields.text(info, "id")), info)
        found.append(transcript(info, items, call_of=database.call_of, member=member))
    return [one for one in found if one is not None]


def databases(folder: Folder) -> Iterator[Gathered]:
    """Databases whose latest changes are in a write-ahead log beside them."""
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
    """The database in a file, including what is still in its write-ahead log."""
    return Database(sqlite_file.open_file(file, log))


class Database:
    """opencode's tables, in a file that is opened for each reading."""

    def __init__(self, held: SqliteFile) -> None:
        self._held = held

    def sessions(self) -> list[dict[str, Any]]:
        """The rows of the sessions. Raises Invalid if the tables aren't opencode's."""
        self._held.require(set(TABLES), "opencode's")
        with self._held.opened() as connection:
            rows = connection.execute(_SESSIONS)
            columns = [column[0] for column in rows.description]
            return [_session(dict(zip(columns, row, strict=True))) for row in rows]

    def turns(self, session_id: str, warnings: list[Warning]) -> Iterator[SessionTurn]:
        """The turns of a session, row by row."""
        try:
            with self._held.opened() as connection:
                rows = connection.execute(_MESSAGES, [session_id]).fetchall()
                for rowid, id_ in rows:
                    yield _turn(connection, rowid, sqlite_file.text(id_), warnings)
        except Invalid as error:
            warnings.append(json_file.warning(error))

    def call_of(self, parent: str, child: str) -> str:
        """The id of the call in a session that started a sub-agent's session; empty if none."""
        with self._held.opened() as connection:
            found = connection.execute(_CALLS, [parent, child]).fetchall()
            for (rowid,) in found:
                part = _data(connection, "part", rowid, [])
                if begun_by(part) == child:
                    return fields.text(part, "callID")
        return ""


def _session(row: dict[str, Any]) -> dict[str, Any]:
    """A row in the form of the export: text as text, JSON parsed."""
    plain = {
        name: sqlite_file.text(value) if isinstance(value, bytes) else value
        for name, value in row.items()
    }
    for name in ("model", "revert"):
        try:
            plain[name] = json_text.parse(fields.text(plain, name).encode())
        except Invalid:
            plain[name] = None
    return plain


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
    """The JSON of a row; an empty object, with a warning, if it can't be read."""
    [data] = connection.execute(_DATA[table], [rowid]).fetchone() or [None]
    return fields.mapping(sqlite_file.parsed(data, (table, rowid), warnings))
