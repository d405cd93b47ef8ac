"""Goose's database (`sessions.db`): the tables `sessions` and `messages`, with content as JSON.

Source: block/goose, crates/goose/src/session/session_manager.rs.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.io import fields, json_file, sqlite_file
from threads.domain.formats.io.source import BROKEN
from threads.domain.formats.io.sqlite_file import SqliteFile
from threads.domain.formats.kit.database_format import DatabaseFormat, rows
from threads.domain.formats.kit.items import Item, Items
from threads.domain.formats.kit.transcripts import transcript_of
from threads.domain.transcript import Event, Transcript, Warning

from .goose import (
    EXPORTED,
    ItemsWithVisibility,
    parent_of,
    read_message,
    score,
    visible_items,
    with_visibility,
)

_SESSIONS = "SELECT * FROM sessions ORDER BY created_at, id"
_MESSAGES = "SELECT rowid AS place, * FROM messages WHERE session_id = ? ORDER BY rowid"


def _sessions(database: SqliteFile, member: str) -> Iterator[Transcript | None]:
    with database.opened() as connection:
        found = [*rows(connection, _SESSIONS)]
    for row in found:
        told = {name: sqlite_file.text(value) for name, value in row.items()}
        model = sqlite_file.parsed(told.get("model_config_json") or "{}", (), [])
        yield transcript_of(
            Items(partial(_in_database, database, told["id"])),
            format="goose",
            title=fields.text(told, "name", "description"),
            external_id=fields.as_word(told["id"], 200) or None,
            model=fields.word(model, "model_name"),
            strategy="anthropic",
            member=member,
            parent=parent_of(told),
        )


def _in_database(
    database: SqliteFile, id_: str, warnings: list[Warning]
) -> Iterator[Item]:
    """The messages of a session, row by row."""
    try:
        with database.opened() as connection:
            yield from visible_items(
                _row(row, warnings) for row in rows(connection, _MESSAGES, id_)
            )
    except Invalid as error:
        warnings.append(json_file.warning(error))


def _row(row: dict[str, Any], warnings: list[Warning]) -> ItemsWithVisibility:
    at = ("messages", row["place"])
    record = f"row:messages/{row['place']}"
    metadata = row.get("metadata_json")
    told = sqlite_file.parsed(metadata, at, warnings) if metadata else {}
    content = sqlite_file.parsed(row["content_json"], at, warnings)
    given = {
        "id": sqlite_file.text(row.get("message_id")),
        "role": sqlite_file.text(row["role"]),
        "created": row.get("created_timestamp"),
        "content": content,
        "metadata": told,
    }
    try:
        if content is BROKEN:
            raise Invalid("It can't be read.")
        return with_visibility(told, [read_message(given, record)])
    except Invalid as error:
        if content is not BROKEN:
            warnings.append(json_file.warning(error, at))
        return with_visibility(told, [Event("unreadable", record)])


FORMAT = DatabaseFormat(
    name="goose",
    label="a Goose database",
    tables=frozenset({"sessions", "messages"}),
    columns=(b"content_json", b"working_dir"),
    sessions=_sessions,
    alone=EXPORTED.read,
    told=score,
).format
