"""One sample of an Inspect log: its messages, and the events about them.

Source: inspect_ai `model/_chat_message.py` and `_util/content.py` (0.3).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, BinaryIO, NamedTuple

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.arguments import read_call
from threads.domain.formats.io import base64_text, fields, json_file
from threads.domain.formats.io.source import ByteSpan, Child
from threads.domain.formats.kit.items import Item, member_events
from threads.domain.message import Message, Role, Usage
from threads.domain.part import (
    JSON,
    File,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from threads.domain.transcript import Event, Warning

KNOWN = {"id", "epoch", "uuid", "started_at", "completed_at", "total_time"}
KNOWN |= {"working_time", "input", "messages", "events", "attachments"}
"""Members of a sample that identify it, or are read; every other non-empty one becomes an
event."""
ROLES = {role.value: role for role in Role}
SCHEMES = ("attachment://", "tc://")
"""Schemes of attachment addresses, which replace long texts (`tc://` until 2024)."""
Find = Callable[[str], str | None]
"""Returns the text of an attachment by its hash; None if there is none."""


@dataclass(frozen=True, slots=True)
class LogRun:
    """What a log says about all its samples."""

    id: str = ""
    task: str = ""
    model: str = ""
    status: str = ""
    record: str = ""


class MessageNote(NamedTuple):
    """What an event tells about a message: its usage, and when it was made."""

    place: int
    usage: Usage | None
    at: datetime | None


NO_NOTE = MessageNote(0, None, None)
Members = dict[str, ByteSpan]


def read(
    members: Members, run: LogRun, file: BinaryIO, warnings: list[Warning]
) -> Iterator[Item]:
    """The items of a sample: its head, then messages with their events."""
    if run.record:
        yield Event(f"run/{run.status}", run.record)
    yield from member_events(members, members.keys() - {"input"})
    events, told = _events(file, members, warnings)
    given = 0
    for message in messages(file, members, warnings):
        known = told.get(_key(message), NO_NOTE)
        # Events come before the message that the last of them made.
        yield from events[given : known.place]
        given = max(given, known.place)
        yield replace(message, usage=known.usage, created_at=known.at)
    yield from events[given:]
    yield from member_events(members, KNOWN)


def messages(
    file: BinaryIO, members: Members, warnings: list[Warning]
) -> Iterator[Message]:
    """The messages of a sample; its input, if it did not get any further."""
    find = _finder(file, members)
    is_empty = True
    for message in _listed(file, members.get("messages"), find, warnings):
        is_empty = False
        yield message
    if not is_empty or "input" not in members:
        return
    span = members["input"]
    value = json_file.known_value(file, span, warnings)
    if isinstance(value, str) and value:
        said = {"role": "user", "content": value}
        yield read_message(said, find, span.record)
    elif isinstance(value, list):
        yield from _listed(file, span, find, warnings)


def _listed(
    file: BinaryIO, place: ByteSpan | None, find: Find, warnings: list[Warning]
) -> Iterator[Message]:
    """The messages of a list; none if there is no list."""
    for _, span in elements(file, place, warnings):
        value = json_file.known_value(file, span, warnings)
        try:
            yield read_message(value, find, span.record)
        except Invalid as error:
            words = f"At byte {span.start:,}: {error.message}"
            warnings.append(Warning(error.code, words))


def _events(
    file: BinaryIO, members: Members, warnings: list[Warning]
) -> tuple[list[Event], dict[str, MessageNote]]:
    """The events of a sample, and a map of `_key` to what they tell about the message."""
    found: list[Event] = []
    told: dict[str, MessageNote] = {}
    for child in elements(file, members.get("events"), warnings):
        value = fields.mapping(json_file.known_value(file, child.span, warnings))
        kind = fields.text(value, "event") or "event"
        at = fields.moment(value.get("timestamp"))
        found.append(Event(kind, child.span.record, at))
        ended = fields.moment(value.get("completed")) or at
        if kind == "tool":
            told[fields.text(value, "id")] = MessageNote(len(found), None, ended)
        elif id_ := _reply_id(output := fields.mapping(value, "output")):
            told[id_] = MessageNote(len(found), read_usage(output.get("usage")), ended)
    # The sample's output is the reply to its last request: use its usage if no event has it.
    last = fields.mapping(json_file.get(file, members, "output"))
    id_ = _reply_id(last)
    known = told.get(id_, NO_NOTE)
    if id_ and known.usage is None:
        told[id_] = known._replace(usage=read_usage(last.get("usage")))
    return found, told


def _reply_id(output: dict[str, Any]) -> str:
    choice = next(iter(fields.items(output, "choices")), None)
    return fields.text(fields.mapping(choice, "message"), "id")


def _key(message: Message) -> str:
    """The id by which events refer to a message: a result's call id, else the message's own."""
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    if message.role is Role.TOOL and results:
        return results[0].call_id
    return message.source_id or ""


def _finder(file: BinaryIO, members: Members) -> Find:
    """A lookup of a sample's attachments, which are read one by one on request."""
    spans: Members | None = None

    def find(name: str) -> str | None:
        nonlocal spans
        if spans is None:
            held = members.get("attachments")
            spans = {} if held is None else json_file.members(file, held.start, [])
        if name not in spans:
            return None
        value = json_file.get(file, spans, name)
        return value if isinstance(value, str) else ""

    return find


def elements(
    file: BinaryIO, span: ByteSpan | None, warnings: list[Warning]
) -> Iterator[Child]:
    """The elements of a list; none if there is no list."""
    if span is not None and json_file.is_list(file, span):
        yield from json_file.children(file, span.start, warnings)


# Messages


def read_message(message: JSON, find: Find, *records: str) -> Message:
    """One message with its attachments resolved. Raises Invalid if its role is unknown."""
    message = fields.mapping(resolve(message, find))
    role = ROLES.get(fields.text(message, "role"))
    if role is None:
        raise Invalid(
            f"A message's role must be one of {', '.join(ROLES)}.", at=("role",)
        )
    parts = tuple(_content(message.get("content")))
    if role is Role.TOOL:
        parts = (_result(message, parts),)
    elif role is Role.ASSISTANT:
        # For some weeks of 2025, reasoning was beside the content.
        words = fields.text(message, "reasoning")
        before = (Thinking(words),) if words else ()
        parts = (*before, *parts, *_calls(message))
    return Message(
        role=role,
        parts=parts,
        model=fields.word(message, "model") or None,
        source_id=fields.word(message, "id") or None,
        records=records,
    )


def resolve(value: JSON, find: Find) -> JSON:
    """The value with each attachment address replaced by the attachment."""
    if isinstance(value, str) and value.startswith(SCHEMES):
        found = find(value.partition("://")[2])
        return value if found is None else found
    if isinstance(value, list):
        return [resolve(item, find) for item in value]
    if isinstance(value, dict):
        return {name: resolve(item, find) for name, item in value.items()}
    return value


def read_usage(usage: JSON) -> Usage | None:
    """Tokens as Inspect counts them; cached tokens are input too, whatever the provider says."""
    if not isinstance(usage, dict):
        return None
    output = fields.count(usage, "output_tokens")
    total = fields.count(usage, "total_tokens") - output
    return Usage(
        input_tokens=max(fields.count(usage, "input_tokens"), total),
        output_tokens=output,
        cached_tokens=fields.count(usage, "input_tokens_cache_read"),
    )


def _content(content: JSON) -> Iterator[Part]:
    if isinstance(content, str) and content:
        yield Text(content)
    for block in content if isinstance(content, list) else []:
        if isinstance(block, str):
            block = {"type": "text", "text": block}
        yield from _block(fields.mapping(block))


def _block(block: dict[str, Any]) -> Iterator[Part]:
    kind = fields.text(block, "type")
    if kind == "text":
        if words := fields.text(block, "text"):
            yield Text(words)
    elif kind == "reasoning":
        said = fields.text(block, "reasoning")
        if block.get("redacted") is True:
            # Keep the data that the provider encrypted; only the summary of it is readable.
            yield Thinking(fields.text(block, "summary"), data=said)
        else:
            yield Thinking(said, fields.text(block, "signature") or None)
    elif media := _media(block, kind):
        yield media
    elif kind == "tool_use" and "arguments" in block:
        yield from _server_tool(block)
    else:
        yield Opaque(kind or "block", block)


def _media(block: dict[str, Any], kind: str) -> Image | File | None:
    """An image, a sound, a video or a document: inline, or by address; else None."""
    address = fields.text(block, kind)
    if kind not in ("image", "audio", "video", "document") or not address:
        return None
    inline = base64_text.split_data_uri(address)
    if kind == "image":
        if inline:
            return Image(inline[0], data=inline[1])
        return None if address.startswith("data:") else Image("image/*", url=address)
    name = fields.text(block, "filename") or None
    if inline:
        return File(inline[0], name, data=inline[1])
    form = fields.text(block, "format") or "*"
    type_ = fields.text(block, "mime_type") or f"{kind}/{form}"
    return File(type_, name, url=address)


def _server_tool(block: dict[str, Any]) -> Iterator[Part]:
    """A tool that the provider ran: one block has both the call and its result."""
    id_, name = fields.text(block, "id"), fields.text(block, "name")
    words, error = fields.text(block, "result", "error"), fields.text(block, "error")
    content = (Text(words),) if words else ()
    yield read_call(id_, name, block["arguments"])
    yield ToolResult(id_, content, name or None, bool(error))


def _result(message: dict[str, Any], parts: tuple[Part, ...]) -> ToolResult:
    """A tool's result, after the reason if it failed: the model is sent that."""
    error = fields.mapping(message, "error")
    content = tuple(
        part for part in parts if isinstance(part, Text | Image | File | Opaque)
    )
    reason = fields.text(error, "message")
    if reason and not any(
        reason in part.text for part in content if isinstance(part, Text)
    ):
        content = (Text(reason), *content)
    name = fields.text(message, "function") or None
    return ToolResult(fields.text(message, "tool_call_id"), content, name, bool(error))


def _calls(message: dict[str, Any]) -> Iterator[Part]:
    for call in fields.items(message, "tool_calls"):
        id_, name = fields.text(call, "id"), fields.text(call, "function")
        yield ToolCall(id_, name, fields.mapping(call).get("arguments", {}))
