"""One sample of a log of Inspect: its messages, and the events that tell of them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, BinaryIO, NamedTuple

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.io import fields, json_file
from threads.domain.formats.io.source import ByteSpan, Child
from threads.domain.formats.kit.items import Item, ReadFile, others
from threads.domain.message import Message, Role, Usage
from threads.domain.part import JSON, ToolResult
from threads.domain.transcript import Event, Warning

from . import inspect_message
from .inspect_message import Find, read_usage

SCALARS = frozenset(
    {"id", "epoch", "uuid", "started_at", "completed_at", "total_time", "working_time"}
)
"""Members of a sample that say which it is; `messages`, `events` and `attachments` are read,
and every other one that holds something is an event."""
READ = frozenset({"input", "messages", "events", "attachments"})


@dataclass(frozen=True, slots=True)
class LogRun:
    """What a log says of all its samples."""

    id: str = ""
    task: str = ""
    model: str = ""
    status: str = ""
    record: str = ""


class MessageNote(NamedTuple):
    """What an event says of a message: its usage, and when it was made."""

    place: int
    usage: Usage | None
    at: datetime | None


UNTOLD = MessageNote(0, None, None)
Members = dict[str, ByteSpan]


def reading(members: Members, run: LogRun) -> ReadFile:
    """How the items of a sample are read: its head, then messages among their events."""

    def read(file: BinaryIO, warnings: list[Warning]) -> Iterator[Item]:
        if run.record:
            yield Event(f"run/{run.status}", run.record)
        yield from others(members, members.keys() - {"input"})
        events, told = _events(file, members, warnings)
        given = 0
        for message in messages(file, members, warnings):
            known = told.get(_key(message), UNTOLD)
            # Events stand before the message that the last of them made.
            yield from events[given : known.place]
            given = max(given, known.place)
            yield replace(message, usage=known.usage, created_at=known.at)
        yield from events[given:]
        yield from others(members, SCALARS | READ)

    return read


def messages(
    file: BinaryIO, members: Members, warnings: list[Warning]
) -> Iterator[Message]:
    """The messages of a sample; of one that did not get so far, its input."""
    find = _finder(file, members)
    is_empty = True
    for child in elements(file, members.get("messages"), warnings):
        if message := _message(file, child.span, find, warnings):
            is_empty = False
            yield message
    if not is_empty or "input" not in members:
        return
    value = json_file.known_value(file, members["input"], warnings)
    if isinstance(value, str) and value:
        said = {"role": "user", "content": value}
        record = members["input"].record
        yield inspect_message.read_message(said, find, records=(record,))
    elif isinstance(value, list):
        for child in elements(file, members["input"], warnings):
            if message := _message(file, child.span, find, warnings):
                yield message


def _message(
    file: BinaryIO, span: ByteSpan, find: Find, warnings: list[Warning]
) -> Message | None:
    value = json_file.known_value(file, span, warnings)
    try:
        return inspect_message.read_message(value, find, records=(span.record,))
    except Invalid as error:
        warnings.append(Warning(error.code, f"At byte {span.start:,}: {error.message}"))
        return None


def _events(
    file: BinaryIO, members: Members, warnings: list[Warning]
) -> tuple[list[Event], dict[str, MessageNote]]:
    """The events of a sample, and what they tell of its messages, by `_key`."""
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
    _tell_of_the_last(file, members, told)
    return found, told


def _tell_of_the_last(
    file: BinaryIO, members: Members, told: dict[str, MessageNote]
) -> None:
    """The sample's output is the reply to its last request: its usage, if no event says it."""
    output = fields.mapping(json_file.get(file, members, "output"))
    id_ = _reply_id(output)
    known = told.get(id_, UNTOLD)
    if id_ and known.usage is None:
        told[id_] = known._replace(usage=read_usage(output.get("usage")))


def _reply_id(output: dict[str, Any]) -> str:
    choice = next(iter(fields.items(output, "choices")), None)
    return fields.text(fields.mapping(choice, "message"), "id")


def _key(message: Message) -> str:
    """What an event calls a message: a result by its call, others by their own id."""
    result = next((p for p in message.parts if isinstance(p, ToolResult)), None)
    if message.role is Role.TOOL and result is not None:
        return result.call_id
    return message.source_id or ""


def _finder(file: BinaryIO, members: Members) -> Find:
    """The attachments of a sample, read one by one as they are asked for."""
    spans: Members | None = None

    def find(name: str) -> str | None:
        nonlocal spans
        if spans is None:
            held = members.get("attachments")
            spans = {} if held is None else json_file.members(file, held.start, [])
        return as_text(json_file.get(file, spans, name)) if name in spans else None

    return find


def elements(
    file: BinaryIO, span: ByteSpan | None, warnings: list[Warning]
) -> Iterator[Child]:
    """The elements of a list; none where there is no list."""
    if span is not None and json_file.is_list(file, span):
        yield from json_file.children(file, span.start, warnings)


def as_text(value: JSON) -> str:
    """Text; an empty one of any other value."""
    return value if isinstance(value, str) else ""
