"""Cursor's state (`state.vscdb`): conversations (`composerData:…`) and their bubbles.

A conversation lists its bubbles, or holds them itself. A bubble is what a person typed, or a piece
of an answer: text, reasoning, or a tool call with its result. What Cursor adds around them for its
model isn't in the file.

Source: github.com/specstoryai/getspecstory, `specstory-cli/pkg/providers/cursoride`;
github.com/Dicklesworthstone/coding_agent_session_search, `tests/fixtures/cursor`.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from threads.domain.formats.arguments import read_call
from threads.domain.formats.io import fields, json_text, sqlite_file
from threads.domain.formats.io.sqlite_file import SqliteFile
from threads.domain.formats.kit.database_format import DatabaseFormat
from threads.domain.formats.kit.items import Item, Items
from threads.domain.formats.kit.transcripts import transcript_of
from threads.domain.message import Message, Role, Usage
from threads.domain.part import JSON, Part, Text, Thinking, ToolResult
from threads.domain.transcript import Event, Transcript, Warning

NAME = "cursor"
_CONVERSATIONS = (
    "SELECT rowid FROM cursorDiskKV"
    " WHERE key >= 'composerData:' AND key < 'composerData;' ORDER BY rowid"
)
_ROW = "SELECT key, value FROM cursorDiskKV WHERE rowid = ?"
_BUBBLE = "SELECT rowid, value FROM cursorDiskKV WHERE key = ?"
_LISTS = ("fullConversationHeadersOnly", "conversation")
_USER = 1


def _sessions(database: SqliteFile, member: str) -> Iterator[Transcript | None]:
    with database.opened() as connection:
        places = [place for (place,) in connection.execute(_CONVERSATIONS)]
    for place in places:
        key, told = _conversation(database, place, [])
        id_ = fields.word(told, "composerId", limit=255) or key.partition(":")[2][:255]
        yield transcript_of(
            Items(partial(_items, database, place)),
            format=NAME,
            title=fields.text(told, "name"),
            external_id=fields.as_word(id_, 255) or None,
            model=fields.word(fields.mapping(told, "modelConfig"), "modelName"),
            member=member,
        )


def _conversation(
    database: SqliteFile, place: int, warnings: list[Warning]
) -> tuple[str, dict[str, Any]]:
    with database.opened() as connection:
        [(key, value)] = connection.execute(_ROW, [place]).fetchall()
    told = sqlite_file.parsed(value, ("cursorDiskKV", place), warnings)
    return sqlite_file.text(key), fields.mapping(told)


def _items(database: SqliteFile, place: int, warnings: list[Warning]) -> Iterator[Item]:
    """The items of a conversation's bubbles, each from its own row or the conversation's."""
    key, told = _conversation(database, place, warnings)
    id_ = key.partition(":")[2]
    listed = next(filter(None, (fields.items(told, name) for name in _LISTS)), [])
    record = f"row:cursorDiskKV/{place}"
    with database.opened() as connection:
        for one in listed:
            bubble = fields.text(one, "bubbleId")
            found = connection.execute(_BUBBLE, [f"bubbleId:{id_}:{bubble}"]).fetchone()
            if found is None:
                yield from _bubble(fields.mapping(one), record)
                continue
            value = sqlite_file.parsed(found[1], ("cursorDiskKV", found[0]), warnings)
            yield from _bubble(fields.mapping(value), f"row:cursorDiskKV/{found[0]}")


def _bubble(given: dict[str, Any], record: str) -> Iterator[Item]:
    """The messages of a bubble; an event if it says nothing."""
    moment = fields.moment(given.get("createdAt", given.get("timestamp")))
    words = fields.text(given, "text", "rawText", "content", "message")
    tool = fields.mapping(given, "toolFormerData")
    is_user = given.get("type") == _USER
    thought = fields.mapping(given, "thinking")
    parts: list[Part] = []
    if said := fields.text(thought, "text"):
        parts.append(Thinking(said, fields.text(thought, "signature") or None))
    if words:
        parts.append(Text(words))
    call_id = (
        fields.text(tool, "toolCallId") or fields.text(given, "bubbleId") or record
    )
    name = fields.text(tool, "name") or "tool"
    if tool:
        arguments = fields.text(tool, "rawArgs", "params") or tool.get("params") or {}
        parts.append(read_call(call_id, name, arguments))
    if not parts:
        yield Event("bubble", record, moment)
        return
    yield Message(
        role=Role.USER if is_user else Role.ASSISTANT,
        parts=tuple(parts),
        model=fields.word(fields.mapping(given, "modelInfo"), "modelName") or None,
        source_id=fields.word(given, "bubbleId") or None,
        created_at=moment,
        usage=_usage(given.get("tokenCount")),
        records=(record,),
    )
    if tool and (answer := _answer(tool)):
        is_error = fields.text(tool, "status") == "error"
        result = ToolResult(call_id, (Text(answer),), name, is_error)
        yield Message(
            role=Role.TOOL, parts=(result,), created_at=moment, records=(record,)
        )


def _answer(tool: dict[str, Any]) -> str:
    """A tool's result, or its error."""
    value = tool.get("result") or tool.get("error")
    if value is None or isinstance(value, str):
        return value or ""
    return json_text.decode(json_text.dump(value))


def _usage(counted: JSON) -> Usage | None:
    found = Usage(
        input_tokens=fields.count(counted, "inputTokens"),
        output_tokens=fields.count(counted, "outputTokens"),
    )
    return found if found != Usage() else None


FORMAT = DatabaseFormat(
    name=NAME,
    label="a Cursor database",
    tables=frozenset({"cursorDiskKV"}),
    sessions=_sessions,
).format
