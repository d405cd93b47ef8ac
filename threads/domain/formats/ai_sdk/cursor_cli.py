"""The database of Cursor's CLI (`store.db`): one conversation, as blobs that refer to one another.

`meta` holds the conversation's name and its root, as JSON in hex. The root is a protocol buffer
whose field 1 lists the messages by the ids of their blobs. Each message is JSON, a ModelMessage of
the AI SDK. Blobs that the root doesn't list (summarised messages, earlier states) become events.

Source: github.com/specstoryai/getspecstory, `specstory-cli/pkg/providers/cursorcli`.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.io import fields, json_file, sqlite_file
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.io.source import BROKEN, ByteSpan
from threads.domain.formats.io.sqlite_file import SqliteFile
from threads.domain.formats.kit.database_format import DatabaseFormat, rows
from threads.domain.formats.kit.items import Item, Items
from threads.domain.formats.kit.transcripts import transcript_of
from threads.domain.message import Message
from threads.domain.part import JSON
from threads.domain.transcript import Event, Transcript, Warning

from .messages import read_message

NAME = "cursor_cli"
_META = "SELECT value FROM meta WHERE key = '0'"
_BLOB = "SELECT rowid AS place, data FROM blobs WHERE id = ?"
_BLOBS = "SELECT rowid AS place, id, data FROM blobs ORDER BY rowid"
_MESSAGE = b"\x0a\x20"
"""How a message's id begins in the root: field 1, 32 bytes."""
_ID = 32
_NOWHERE = ByteSpan(0, 0)


def _sessions(database: SqliteFile, member: str) -> Iterator[Transcript | None]:
    told = _facts(database)
    yield transcript_of(
        Items(partial(_items, database, fields.text(told, "latestRootBlobId"))),
        format=NAME,
        title=fields.text(told, "name"),
        external_id=fields.word(told, "agentId", limit=255) or None,
        model=fields.word(told, "lastUsedModel"),
        strategy="openai",
        member=member,
    )


def _facts(database: SqliteFile) -> dict[str, Any]:
    """Facts about the conversation. Raises Invalid if the database is another program's."""
    with database.opened() as connection:
        found = [sqlite_file.text(value) for (value,) in connection.execute(_META)]
    try:
        raw = bytes.fromhex("".join(found))
    except ValueError:
        raw = b""
    told = fields.mapping(sqlite_file.parsed(raw, ("meta", "0"), []))
    if "latestRootBlobId" not in told:
        words = "This is an SQLite database, but not one of Cursor's CLI."
        raise Invalid(words, code="format_unsupported")
    return told


def _items(database: SqliteFile, root: str, warnings: list[Warning]) -> Iterator[Item]:
    """The messages that the root lists, then an event for each other JSON blob."""
    used: set[str] = {root}
    try:
        with database.opened() as connection:
            top = next(rows(connection, _BLOB, root), None)
            for id_ in _named(_bytes(top["data"]) if top else b""):
                used.add(id_)
                row = next(rows(connection, _BLOB, id_), None)
                if row is None:
                    warnings.append(Warning("blob_missing", f"Blob {id_} is missing."))
                    continue
                yield from _message(row, warnings)
            for row in rows(connection, _BLOBS):
                is_used = sqlite_file.text(row["id"]) in used
                if not is_used and _bytes(row["data"])[:1] == b"{":
                    yield Event("blob", _record(row))
    except Invalid as error:
        warnings.append(json_file.warning(error))


def _named(root: bytes) -> Iterator[str]:
    """The ids of the messages, in order; they come first in the root."""
    at = 0
    while root.startswith(_MESSAGE, at) and at + 2 + _ID <= len(root):
        yield root[at + 2 : at + 2 + _ID].hex()
        at += 2 + _ID


def _message(row: dict[str, Any], warnings: list[Warning]) -> Iterator[Message | Event]:
    at = ("blobs", row["place"])
    value: JSON = sqlite_file.parsed(row["data"], at, warnings)
    if value is BROKEN:
        yield Event("unreadable", _record(row))
        return
    try:
        made = list(read_message(Element(value, _NOWHERE)))
    except Invalid as error:
        warnings.append(json_file.warning(error, at))
        yield Event("unreadable", _record(row))
        return
    for message in made:
        yield replace(message, records=(_record(row),))


def _record(row: dict[str, Any]) -> str:
    return f"row:blobs/{row['place']}"


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value or "").encode()


FORMAT = DatabaseFormat(
    name=NAME,
    label="a Cursor CLI database",
    tables=frozenset({"blobs", "meta"}),
    sessions=_sessions,
).format
