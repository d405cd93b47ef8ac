"""LangChain's messages, in each of their three serialised forms.

`messages_to_dict` writes `{"type": "human", "data": …}`, `dumps` writes a constructor
(`{"lc": 1, "id": […, "HumanMessage"], "kwargs": …}`), and pydantic writes flat members. Messages
come as a list, in an object with `messages` (LangGraph's state), one per line, as a list of lists,
or as rows of the table that stores a chat history (also n8n's). Such a row has its session and, in
`message`, a message in one of these forms, possibly as text.

Sources: langchain_core `messages/`, `load/dump.py` (0.3 and 1); langchain_postgres
`chat_message_histories.py`.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, BinaryIO

from threads.domain.formats.anthropic import messages as anthropic
from threads.domain.formats.format import Format
from threads.domain.formats.io import fields, json_file, speakers
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.kit.chats import sessions
from threads.domain.formats.kit.items import Item, Opener, already_open, items_in
from threads.domain.formats.kit.transcripts import (
    require_transcripts,
    with_skipped_warnings,
)
from threads.domain.formats.openai import messages as openai
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role, Usage
from threads.domain.part import JSON, Part, Thinking, ToolCall
from threads.domain.transcript import Event, Transcript, Warning

from .shape_blocks import read_blocks, read_call, read_result

NAME = "langchain"
LABEL = "a dump of LangChain messages"
ROLES = {
    "human": Role.USER,
    "ai": Role.ASSISTANT,
    "system": Role.SYSTEM,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}
CHAT_ROLES = {role.value: role for role in Role} | ROLES
OTHERS = frozenset({"remove", "chat"})
"""Other types among the messages: a removal order, and a message with a custom role."""
OPENING = 50
"""How many messages are searched for the user's first words and the model."""
SESSIONS = frozenset({*speakers.SESSIONS, "SessionId"})
COLUMNS = ("message", "History")
"""Members that hold the message of a table's row, if another member names the session."""
HOLDERS = ("values", "kwargs", "channel_values", "input", "output", "data")
"""Members of objects that may enclose a list of messages."""


def is_message(value: JSON) -> bool:
    """Whether an object is a LangChain message, in any of the three forms."""
    type_, data = _opened(value)
    return type_ in ROLES.keys() | OTHERS and (
        "content" in data or (type_ == "remove" and "id" in data)
    )


def read_message(value: JSON) -> Message | None:
    """One message; None if it isn't one (such as a removal order)."""
    type_, data = _opened(value)
    role = ROLES.get(type_) or CHAT_ROLES.get(fields.text(data, "role"))
    if role is None or not is_message(value):
        return None
    meta = fields.mapping(data, "response_metadata")
    name = fields.text(data, "name")
    parts: tuple[Part, ...] = ()
    if role is Role.TOOL:
        parts = (read_result(data, fields.text(data, "tool_call_id"), name),)
    developer = fields.mapping(data, "additional_kwargs").get("__openai_role__")
    return Message(
        role=Role.DEVELOPER if developer == "developer" else role,
        parts=parts or tuple(_parts(data)),
        name=(name or None) if role is not Role.TOOL else None,
        created_at=fields.moment(fields.mapping(value).get("created_at")),
        model=fields.word(meta, "model_name", "model") or None,
        source_id=fields.word(data, "id") or None,
        usage=_usage(data, meta),
    )


def _opened(value: JSON) -> tuple[str, dict[str, Any]]:
    """The type of a message and its members, without the enclosing objects."""
    said = _in_row(fields.mapping(value))
    type_ = fields.text(said, "type")
    if said.get("lc") == 1:
        path = fields.items(said, "id")
        type_ = path[-1] if path and isinstance(path[-1], str) else ""
        said = fields.mapping(said, "kwargs")
    elif isinstance(said.get("data"), dict) and "content" not in said:
        said = said["data"]
    type_ = type_.removesuffix("Chunk").removesuffix("Message").lower()
    return type_, said


def _in_row(value: dict[str, Any]) -> dict[str, Any]:
    """The message of a table's row; any other value unchanged."""
    if "type" not in value and not SESSIONS.isdisjoint(value):
        for name in COLUMNS:
            held = value.get(name)
            if isinstance(held, str) and held.startswith("{"):
                held = json_file.parsed(held.encode("utf-8", "surrogatepass"))
            if isinstance(held, dict) and "type" in held:
                return held
    return value


def _parts(data: dict[str, Any]) -> Iterator[Part]:
    """Reasoning, content and calls; calls that are also in the content count once."""
    further = fields.mapping(data, "additional_kwargs")
    content = read_blocks(data.get("content"))
    if not any(isinstance(part, Thinking) for part in content):
        # Beside the content: DeepSeek's reasoning text, OpenAI's summaries.
        if words := fields.text(further, "reasoning_content"):
            yield Thinking(words)
        elif isinstance(further.get("reasoning"), dict):
            yield from read_blocks({**further["reasoning"], "type": "reasoning"})
    yield from content
    given = {part.id for part in content if isinstance(part, ToolCall)}
    listed = fields.items(data, "tool_calls") or fields.items(further, "tool_calls")
    broken = fields.items(data, "invalid_tool_calls")
    legacy = [] if listed else [fields.mapping(further, "function_call")]
    for one in (*listed, *broken, *legacy):
        call = read_call(fields.mapping(one))
        if call and (not call.id or call.id not in given):
            given.add(call.id)
            yield call


def _usage(data: dict[str, Any], meta: dict[str, Any]) -> Usage | None:
    """LangChain's own counts, in which cached tokens are input; else the provider's."""
    counted = data.get("usage_metadata")
    if isinstance(counted, dict):
        details = fields.mapping(counted, "input_token_details")
        return Usage(
            input_tokens=fields.count(counted, "input_tokens"),
            output_tokens=fields.count(counted, "output_tokens"),
            cached_tokens=fields.count(details, "cache_read"),
        )
    said = openai.read_usage(meta.get("token_usage"))
    return said or anthropic.read_usage(meta.get("usage"))


# Files


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The conversations of a file: the file as a whole, or one per row."""
    skipped: list[Warning] = []
    opener = already_open(file)
    found: list[Transcript | None] = []
    bare: list[ByteSpan] = []
    for span in json_file.held_objects(file, "messages", skipped):
        row = json_file.in_memory(file, span)
        value = json_file.known_value(row, span, skipped)
        if (held := _held(row, span, value)) is None:
            bare.append(span)
        else:
            found.append(_transcript(file, held, opener, value))
    rows = partial(_rows, file, bare)
    if parted := sessions.split_rows(rows, _speakers):
        skipped += sessions.separation_warnings(parted)
        for one in parted:
            spans = [span for _, span in one.places()]
            found.append(_transcript(file, spans, opener, None, one.id))
    elif bare:
        found.append(_transcript(file, bare, opener, None))
    return with_skipped_warnings(require_transcripts(found, skipped, LABEL), skipped)


def _rows(file: BinaryIO, spans: list[ByteSpan]) -> Iterator[sessions.PlacedRow]:
    for number, span in enumerate(spans):
        yield sessions.PlacedRow(number, *span, json_file.known_value(file, span, []))


def _speakers(value: JSON) -> set[str]:
    message = read_message(value)
    return {str(message.role)} if message else set()


def _held(file: BinaryIO, span: ByteSpan, value: JSON) -> list[ByteSpan] | None:
    """The places of a row's messages; None if it isn't a row with messages."""
    if isinstance(value, list):
        return [child.span for child in json_file.children(file, span.start, [])]
    if is_message(value) or not isinstance(value, dict):
        return None
    for child in json_file.children(file, span.start, []):
        inner = value.get(str(child.key))
        if child.key == "messages" and isinstance(inner, list):
            return [one.span for one in json_file.children(file, child.span.start, [])]
        if child.key in HOLDERS and isinstance(inner, dict):
            found = _held(file, child.span, inner)
            if found is not None:
                return found
    return None


def _transcript(
    file: BinaryIO, spans: list[ByteSpan], opener: Opener, row: JSON, called: str = ""
) -> Transcript | None:
    """The conversation of these messages; None if none can be read."""

    def read(file: BinaryIO, warnings: list[Warning]) -> Iterator[Item]:
        for span in spans:
            value = json_file.known_value(file, span, warnings)
            message = read_message(value)
            if message is None:
                kind = _opened(value)[0]
                yield Event(kind or "record", span.record)
            else:
                yield replace(message, records=(span.record,))

    found = (item for item in read(file, []) if isinstance(item, Message))
    messages = list(islice(found, OPENING))
    if not messages:
        return None
    items = items_in(opener, read)
    words = (m.text.strip() for m in messages if m.role is Role.USER)
    external_id = fields.word(row, "thread_id", "session_id", "id", limit=255)
    return Transcript(
        format=NAME,
        title=fields.one_line(fields.first(words)) or "LangChain conversation",
        items=items,
        external_id=external_id or sessions.id_of(called),
        model=fields.first(m.model or "" for m in messages),
        warnings=items.warnings,
    )


def _score(sample: Sample) -> float:
    """By LangChain's messages; surer with a constructor or members that only LangChain has."""
    rows: list[Any] = [*sample.rows]
    if isinstance(sample.document, list) and not rows:
        rows = [one for row in sample.document if isinstance(row, list) for one in row]
    for row in rows[:1]:
        rows = [*rows, *_inner(row)]
    found = [row for row in rows if is_message(row)]
    for row in found:  # not only by a type that other formats have too
        if _opened(row)[0] in ("human", "ai") or "data" in row or row.get("lc") == 1:
            return 0.95
    return 0.6 if found else 0


def _inner(row: JSON) -> list[Any]:
    """The messages in a row, nested one or two members deep."""
    found = fields.items(row, "messages")
    for name in HOLDERS:
        found = found or fields.items(fields.mapping(row, name), "messages")
    return found


FORMAT = Format(NAME, LABEL, _score, read)
