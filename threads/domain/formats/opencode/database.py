"""The database of opencode (`opencode.db`).

Version 1 has the tables `session`, `message` and `part`. Version 2 writes `session_v2` and
`session_message` beside them, into which it copied the older sessions once.

Source: packages/opencode/src/session/session.sql.ts of sst/opencode,
packages/core/src/session/sql.ts of anomalyco/opencode.
"""

import sqlite3
from collections.abc import Iterator
from functools import partial
from typing import Any, BinaryIO

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.io import fields, json_file, json_text, sqlite_file
from threads.domain.formats.io.folder import Folder, Gathered
from threads.domain.formats.io.sqlite_file import SqliteFile
from threads.domain.formats.kit.items import Items
from threads.domain.transcript import Transcript, Warning

from .parts import Located, SessionTurn, begun_by
from .session import items_of, transcript
from .typed_messages import TypedMessage, typed_items

TABLES = ("session", "message", "part")
TABLES_2 = ("session_v2", "session_message")
_SESSIONS = "SELECT rowid, * FROM {} ORDER BY time_created, id"
_MESSAGES = (
    "SELECT rowid, id FROM message WHERE session_id = ? ORDER BY time_created, id"
)
_PARTS = "SELECT rowid, id FROM part WHERE message_id = ? ORDER BY id"
_TYPED = (
    "SELECT rowid, id, type FROM session_message WHERE session_id = ? ORDER BY seq, id"
)
_DATA = {
    table: f"SELECT data FROM {table} WHERE rowid = ?"  # noqa: S608  # our own names
    for table in (*TABLES, *TABLES_2)
}
_TYPED_CALLS = (
    "SELECT rowid FROM session_message"
    " WHERE session_id = ? AND type = 'assistant' AND instr(data, ?) ORDER BY seq"
)
_CALLS = "SELECT rowid FROM part WHERE session_id = ? AND instr(data, ?) ORDER BY id"


def transcripts(
    file: BinaryIO, log: BinaryIO | None = None, member: str = ""
) -> list[Transcript]:
    """The sessions of a database that hold messages. Raises Invalid if it isn't opencode's.

    A session that was copied into the tables of version 2 is read there, unless it was continued
    with version 1 since.
    """
    held = sqlite_file.open_file(file, log)
    databases = (Database(held), TypedDatabase(held))
    if not any(held.has(set(one.tables)) for one in databases):
        held.require(set(TABLES), "opencode's")
    found: dict[str, tuple[int, Transcript]] = {}
    for database in databases:
        infos = database.sessions() if held.has(set(database.tables)) else []
        for info in infos:
            id_, changed = fields.text(info, "id"), fields.count(info, "time_updated")
            if id_ in found and found[id_][0] > changed:
                continue
            items = database.items(info)
            one = transcript(info, items, call_of=database.call_of, member=member)
            if one is not None:
                found[id_] = changed, one
    return [one for _, one in found.values()]


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


class Database:
    """The tables of version 1, in a file that is opened for each reading."""

    tables: tuple[str, ...] = TABLES

    def __init__(self, held: SqliteFile) -> None:
        self._held = held

    def sessions(self) -> list[dict[str, Any]]:
        """The rows of the sessions."""
        with self._held.opened() as connection:
            rows = connection.execute(_SESSIONS.format(self.tables[0]))
            columns = [column[0] for column in rows.description]
            return [_session(dict(zip(columns, row, strict=True))) for row in rows]

    def items(self, info: dict[str, Any]) -> Items:
        """The items of a session."""
        return items_of(partial(self.turns, fields.text(info, "id")), info)

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


class TypedDatabase(Database):
    """The tables of version 2."""

    tables = TABLES_2

    def items(self, info: dict[str, Any]) -> Items:
        """The items of a session."""
        return typed_items(partial(self.messages, fields.text(info, "id")), info)

    def messages(
        self, session_id: str, warnings: list[Warning]
    ) -> Iterator[TypedMessage]:
        """The messages of a session, row by row."""
        try:
            with self._held.opened() as connection:
                rows = connection.execute(_TYPED, [session_id]).fetchall()
                for rowid, *named in rows:
                    id_, type_ = map(sqlite_file.text, named)
                    data = _data(connection, "session_message", rowid, warnings)
                    value = {**data, "id": id_, "type": type_}
                    yield TypedMessage(value, f"row:session_message/{rowid}")
        except Invalid as error:
            warnings.append(json_file.warning(error))

    def call_of(self, parent: str, child: str) -> str:
        """The id of the call in a session that started a sub-agent's session; empty if none."""
        with self._held.opened() as connection:
            found = connection.execute(_TYPED_CALLS, [parent, child]).fetchall()
            for (rowid,) in found:
                data = _data(connection, "session_message", rowid, [])
                for piece in fields.items(data, "content"):
                    if begun_by(fields.mapping(piece)) == child:
                        return fields.text(piece, "id")
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
    plain["fork"] = {"sessionID": plain.get("fork_session_id")}
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
