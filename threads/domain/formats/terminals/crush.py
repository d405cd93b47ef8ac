"""Crush's database (`crush.db`): the tables `sessions` and `messages`, a message's parts as JSON.

After a summary, the model is given the summary as a user message, and the messages after it. A
sub-agent's session is named after the call that started it (`<message>$$<call>`).

Source: github.com/charmbracelet/crush, `internal/db/migrations`, `internal/message/content.go`,
`internal/agent/agent.go`.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.arguments import read_call
from threads.domain.formats.io import base64_text, fields, json_file, sqlite_file
from threads.domain.formats.io.source import BROKEN
from threads.domain.formats.io.sqlite_file import SqliteFile
from threads.domain.formats.kit.database_format import DatabaseFormat, rows
from threads.domain.formats.kit.items import Item, Items
from threads.domain.formats.kit.transcripts import first_messages, transcript_of
from threads.domain.message import Message, Role
from threads.domain.part import (
    JSON,
    File,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolResult,
)
from threads.domain.transcript import (
    Compaction,
    Event,
    Parent,
    Relation,
    Transcript,
    Warning,
)

NAME = "crush"
_ROLES = {
    role.value: role for role in (Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL)
}
_SESSIONS = "SELECT * FROM sessions ORDER BY created_at, id"
_MESSAGES = "SELECT rowid AS place, * FROM messages WHERE session_id = ? ORDER BY created_at, rowid"


def _sessions(database: SqliteFile, member: str) -> Iterator[Transcript | None]:
    with database.opened() as connection:
        found = [*rows(connection, _SESSIONS)]
    for row in found:
        told = {name: sqlite_file.text(value) for name, value in row.items()}
        items = Items(partial(_items, database, told))
        above, _, call = fields.text(told, "id").rpartition("$$")
        parent_id = fields.word(told, "parent_session_id", limit=255)
        parent = Parent(
            external_id=parent_id,
            relation=Relation.SUBAGENT,
            call_id=(call if above else "") or None,
        )
        models = (message.model for message in first_messages(items))
        yield transcript_of(
            items,
            format=NAME,
            title=fields.text(told, "title"),
            external_id=fields.word(told, "id", limit=255) or None,
            model=next(filter(None, models), ""),
            member=member,
            parent=parent if parent_id else None,
        )


def _items(
    database: SqliteFile, session: dict[str, str], warnings: list[Warning]
) -> Iterator[Item]:
    """The messages of a session, row by row."""
    count = 0
    try:
        with database.opened() as connection:
            for row in rows(connection, _MESSAGES, fields.text(session, "id")):
                item = _message(row, warnings)
                told = fields.text(session, "summary_message_id")
                is_summary = row.get("is_summary_message") == 1 or (
                    told and sqlite_file.text(row["id"]) == told
                )
                if isinstance(item, Message) and is_summary and count and item.text:
                    said = replace(
                        item, role=Role.USER, parts=(Text(item.text),), model=None
                    )
                    yield Compaction(
                        replaces=tuple(range(count)),
                        messages=(said,),
                        record=item.records[0],
                        created_at=item.created_at,
                    )
                    continue
                count += isinstance(item, Message)
                yield item
    except Invalid as error:
        warnings.append(json_file.warning(error))


def _message(row: dict[str, Any], warnings: list[Warning]) -> Message | Event:
    """The message of a row; an event if it says nothing, or can't be read."""
    record = f"row:messages/{row['place']}"
    moment = fields.moment(row.get("created_at"))
    parts = sqlite_file.parsed(row["parts"], ("messages", row["place"]), warnings)
    role = _ROLES.get(sqlite_file.text(row["role"]))
    if parts is BROKEN:
        return Event("unreadable", record, moment)
    said = tuple(
        part
        for one in (parts if isinstance(parts, list) else ())
        for part in _part(one)
    )
    if role is None or not said:
        return Event(sqlite_file.text(row["role"])[:64] or "record", record, moment)
    model = fields.as_word(sqlite_file.text(row.get("model")))
    return Message(
        role=role,
        parts=said,
        model=(model or None) if role is Role.ASSISTANT else None,
        source_id=fields.as_word(sqlite_file.text(row["id"])) or None,
        created_at=moment,
        records=(record,),
    )


def _part(one: JSON) -> Iterator[Part]:
    kind, data = fields.text(one, "type"), fields.mapping(one, "data")
    if kind == "text":
        if words := fields.text(data, "text"):
            yield Text(words)
    elif kind == "reasoning":
        yield from _thought(data)
    elif kind == "tool_call":
        name = fields.text(data, "name") or "tool"
        yield read_call(fields.text(data, "id"), name, data.get("input", ""))
    elif kind == "tool_result":
        yield _result(data)
    elif kind == "image_url" and (url := fields.text(data, "url")):
        held = base64_text.split_data_uri(url)
        yield Image(held[0], data=held[1]) if held else Image("image/*", url=url)
    elif (
        kind == "binary"
        and (content := base64_text.decode(data.get("Data"))) is not None
    ):
        yield _media(fields.text(data, "MIMEType"), fields.text(data, "Path"), content)
    elif kind == "shell_command":
        output = fields.text(data, "output")
        yield Text(f"$ {fields.text(data, 'command')}\n{output}")
    elif kind != "finish" and isinstance(one, dict):
        yield Opaque(kind or "part", one)


def _thought(data: dict[str, Any]) -> Iterator[Part]:
    words = fields.text(data, "thinking")
    signature = fields.text(data, "signature", "thought_signature") or None
    if words or signature:
        yield Thinking(words, signature) if words else Thinking("", data=signature)


def _result(data: dict[str, Any]) -> ToolResult:
    words = fields.text(data, "content")
    found: list[Text | Image | File] = [Text(words)] if words else []
    content = base64_text.decode(data.get("data")) if data.get("data") else None
    if content:
        found.append(_media(fields.text(data, "mime_type"), "", content))
    name, is_error = fields.text(data, "name") or None, data.get("is_error") is True
    return ToolResult(fields.text(data, "tool_call_id"), tuple(found), name, is_error)


def _media(kind: str, path: str, data: bytes) -> Image | File:
    if kind.startswith("image/"):
        return Image(kind, data=data)
    name = path.replace("\\", "/").rpartition("/")[2] or None
    return File(kind or "application/octet-stream", name, data=data)


FORMAT = DatabaseFormat(
    name=NAME,
    label="a Crush database",
    tables=frozenset({"sessions", "messages"}),
    columns=(b"parent_session_id", b"parts"),
    sessions=_sessions,
).format
