"""Zed's threads: its database (`threads.db`), or the JSON of one thread.

An agent's message holds its calls and their results, so it becomes an assistant message followed by
a tool message. In the database a thread is JSON, usually compressed with zstandard.

Source: github.com/zed-industries/zed, `crates/agent/src/db.rs`, `legacy_thread.rs`, `thread.rs`.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, BinaryIO

import zstandard

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats import blocks
from threads.domain.formats.io import (
    base64_text,
    fields,
    json_file,
    json_text,
    sqlite_file,
)
from threads.domain.formats.io.source import BROKEN
from threads.domain.formats.io.sqlite_file import MAX_ROW, SqliteFile
from threads.domain.formats.kit.database_format import DatabaseFormat, rows
from threads.domain.formats.kit.items import Item, Items
from threads.domain.formats.kit.transcripts import require_transcripts, transcript_of
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.part import (
    JSON,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from threads.domain.transcript import Event, Parent, Relation, Transcript, Warning

NAME = "zed"
LABEL = "a Zed thread"
_THREADS = "SELECT rowid AS place, * FROM threads ORDER BY updated_at, id"
_DATA = "SELECT data_type, data FROM threads WHERE rowid = ?"
_WINDOW = 128 << 20
"""The most bytes of memory for decompression: the limit of `zstd` itself."""
_OLD = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}


def read_thread(file: BinaryIO, _name: str) -> list[Transcript]:
    """The thread of a file. Raises Invalid if it holds no message."""
    warnings: list[Warning] = []
    members = json_file.members(file, 0, warnings)

    def items(warned: list[Warning]) -> Iterator[Item]:
        if "messages" in members:
            for row in json_file.elements(file, members["messages"].start, warned):
                yield from _messages(row.value, row.record)

    said = {
        name: json_file.get(file, members, name)
        for name in ("title", "summary", "model")
    }
    return require_transcripts(
        [_transcript(Items(items, given=warnings), said)], warnings, LABEL
    )


def _transcript(items: Items, said: dict[str, Any], **given: Any) -> Transcript | None:
    return transcript_of(
        items,
        format=NAME,
        title=fields.text(said, "title", "summary"),
        model=fields.word(fields.mapping(said, "model"), "model"),
        **given,
    )


def _sessions(database: SqliteFile, member: str) -> Iterator[Transcript | None]:
    with database.opened() as connection:
        found = [
            {name: value for name, value in row.items() if name != "data"}
            for row in rows(connection, _THREADS)
        ]
    for row in found:
        told = {name: sqlite_file.text(value) for name, value in row.items()}
        parent_id = fields.word(told, "parent_id", limit=255)
        parent = Parent(external_id=parent_id, relation=Relation.SUBAGENT)
        place = row["place"]
        thread = _thread(database, place, [])
        yield _transcript(
            Items(partial(_held, database, place)),
            {"title": fields.text(told, "summary"), "model": thread.get("model")},
            external_id=fields.word(told, "id", limit=255) or None,
            member=member,
            parent=parent if parent_id else None,
        )


def _held(database: SqliteFile, place: int, warnings: list[Warning]) -> Iterator[Item]:
    """The messages of a thread in the database, all with the record of its row."""
    for message in fields.items(_thread(database, place, warnings), "messages"):
        yield from _messages(message, f"row:threads/{place}")


def _thread(
    database: SqliteFile, place: int, warnings: list[Warning]
) -> dict[str, Any]:
    with database.opened() as connection:
        [(kind, data)] = connection.execute(_DATA, [place]).fetchall()
    try:
        raw = _unpacked(data) if sqlite_file.text(kind) == "zstd" else data
    except Invalid as error:
        warnings.append(json_file.warning(error, ("threads", place)))
        return {}
    return fields.mapping(sqlite_file.parsed(raw, ("threads", place), warnings))


def _unpacked(data: object) -> bytes:
    """Decompressed data, at most one byte more than a row may have. Raises Invalid."""
    packed = data if isinstance(data, bytes) else b""
    unpacker = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
    try:
        with unpacker.stream_reader(packed) as stream:
            return stream.read(MAX_ROW + 1)
    except zstandard.ZstdError:
        raise Invalid("It can't be unpacked.", code="row_broken") from None


# Messages


def _messages(value: JSON, record: str) -> Iterable[Item]:
    """The messages made from one of Zed's; an event if it says nothing."""
    given = fields.mapping(value)
    user, agent = fields.mapping(given, "User"), fields.mapping(given, "Agent")
    if user or agent:
        content = fields.items(user or agent, "content")
        parts = [part for one in content for part in _part(one)]
        role = Role.USER if user else Role.ASSISTANT
        results = [*fields.mapping(agent, "tool_results").values()]
        id_ = fields.word(user, "id")
    else:
        said = _OLD.get(fields.text(given, "role"))
        role, parts = said or Role.USER, [*_old_parts(given)] if said else []
        results, id_ = fields.items(given, "tool_results"), ""
    found: list[Item] = []
    if parts:
        found.append(
            Message(
                role=role, parts=tuple(parts), source_id=id_ or None, records=(record,)
            )
        )
    answers = tuple(_result(one) for one in results if isinstance(one, dict))
    if answers:
        found.append(Message(role=Role.TOOL, parts=answers, records=(record,)))
    kind = value if isinstance(value, str) else next(iter(given), "record")
    kind = "unreadable" if value is BROKEN else kind
    return found or [Event(kind[:64] or "record", record)]


def _part(block: JSON) -> Iterator[Part]:
    """The part of a block, whose kind is the name of its only member."""
    name = next(iter(fields.mapping(block)), "")
    held = fields.mapping(block).get(name)
    if name == "Text":
        if isinstance(held, str) and held:
            yield Text(held)
    elif name == "Thinking":
        yield from _thought(fields.text(held, "text"), fields.text(held, "signature"))
    elif name == "RedactedThinking" and isinstance(held, str):
        yield Thinking("", data=held)
    elif name == "ToolUse" and isinstance(held, dict):
        yield _call(held)
    elif name == "Image" and (image := _image(held)):
        yield image
    elif name == "Mention" and (words := fields.text(held, "content")):
        yield Text(words)
    elif isinstance(block, dict):
        yield Opaque(name or "block", block)


def _thought(words: str, signature: str) -> Iterator[Part]:
    if words:
        yield Thinking(words, signature or None)
    elif signature:
        yield Thinking("", data=signature)


def _call(held: dict[str, Any]) -> ToolCall:
    name = fields.text(held, "name") or "tool"
    return ToolCall(fields.text(held, "id"), name, held.get("input", {}))


def _image(held: JSON) -> Image | None:
    data = base64_text.decode(fields.text(held, "source"))
    return Image("image/png", data=data) if data else None


def _result(given: dict[str, Any]) -> ToolResult:
    content = given.get("content")
    found: list[Text | Image] = []
    for one in content if isinstance(content, list) else [content]:
        if isinstance(one, str):
            found += [Text(one)] if one else []
            continue
        for part in _part(one):
            if isinstance(part, Text | Image):
                found.append(part)
    output = given.get("output")
    if not found and output not in (None, ""):
        words = (
            output
            if isinstance(output, str)
            else json_text.decode(json_text.dump(output))
        )
        found.append(Text(words))
    name, is_error = (
        fields.text(given, "tool_name") or None,
        given.get("is_error") is True,
    )
    return ToolResult(fields.text(given, "tool_use_id"), tuple(found), name, is_error)


def _old_parts(given: dict[str, Any]) -> Iterator[Part]:
    """The parts of a message of an older version, its attachments first."""
    for name in ("context", "text"):
        if words := fields.text(given, name):
            yield Text(words)
    for one in fields.items(given, "segments"):
        kind, words = fields.text(one, "type"), fields.text(one, "text")
        if kind == "thinking":
            yield from _thought(words, fields.text(one, "signature"))
        elif kind == "RedactedThinking":
            yield Thinking("", data=fields.text(one, "data"))
        else:
            yield from blocks.read_content(words, ("segments",))
    for one in fields.items(given, "tool_uses"):
        if isinstance(one, dict):
            yield _call(one)


def _told(sample: Sample) -> float:
    told = sample.object
    messages = fields.items(told, "messages")
    if any(fields.mapping(one).keys() & {"User", "Agent"} for one in messages):
        return 0.95
    is_old = any("segments" in fields.mapping(one) for one in messages)
    return 0.95 if is_old and "summary" in told and "version" in told else 0


FORMAT = DatabaseFormat(
    name=NAME,
    label="a Zed database of threads",
    tables=frozenset({"threads"}),
    columns=(b"data_type",),
    sessions=_sessions,
    alone=read_thread,
    told=_told,
).format
