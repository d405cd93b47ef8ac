"""Sessions of Goose: exports, output of runs, and the JSON Lines files used before its database.

`goose session export --format json` writes an object with the messages in `conversation`; `goose
run --output-format json` has them in `messages`, and `stream-json` has one per line. Up to 1.9, a
session was a file with a line of facts followed by one message per line. A tool's call and its
result are each `{"status": "success", "value"}` or an error, or `{"Ok"}` and `{"Err"}`. A
compaction hides messages from the model (`agentVisible`), and adds messages after them that only
the model sees.

Source: block/goose, crates/goose/src/conversation/message.rs, crates/goose/src/context_mgmt, and
tool_result_serde.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from threads.domain.formats import blocks
from threads.domain.formats.io import base64_text, fields, json_text
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.kit.items import Item, attempt
from threads.domain.formats.kit.list_format import ListFormat, Values, per_element
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.part import (
    JSON,
    File,
    Image,
    Opaque,
    Part,
    Text,
    ToolCall,
    ToolResult,
)
from threads.domain.transcript import Compaction, Event, Warning

ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
CALLS = ("toolRequest", "frontendToolRequest")
OWN = frozenset({*CALLS, "toolResponse", "systemNotification", "actionRequired"})
"""Blocks that only Goose has."""
UNSENT = frozenset(
    {"systemNotification", "actionRequired", "toolConfirmationRequest", "error"}
)
"""Blocks that Goose shows to its user and sends to no model."""


class ItemsWithVisibility(NamedTuple):
    """The items read from a message, and who sees it."""

    items: Iterable[Item]
    by_model: bool
    by_people: bool


def visible_items(rows: Iterable[ItemsWithVisibility]) -> Iterator[Item]:
    """The items of a session; messages hidden by a compaction are replaced by its own messages."""
    count = 0
    hidden: list[int] = []
    said: list[Message] = []

    def compaction() -> Iterator[Compaction]:
        if hidden:
            yield Compaction(
                replaces=tuple(hidden),
                messages=tuple(said),
                record=said[0].records[0],
            )
            hidden.clear()
        said.clear()

    for row in rows:
        items = list(row.items)
        messages = [one for one in items if isinstance(one, Message)]
        if messages and row.by_model and not row.by_people and hidden:
            said += messages
            continue
        if said:
            yield from compaction()
        if messages and not row.by_model and not row.by_people:
            # The summary of a compaction, which the next compaction hid.
            yield from (Event("summary", one.records[0]) for one in messages)
            continue
        if not row.by_model:
            hidden += range(count, count + len(messages))
        count += len(messages)
        yield from items
    if said:
        yield from compaction()


def _listed(rows: Iterable[Element], warnings: list[Warning]) -> Iterator[Item]:
    """The messages of a list; an unreadable one becomes an event and a warning."""
    return visible_items(
        with_visibility(
            fields.mapping(row.value).get("metadata"),
            attempt(partial(_message, row), row, warnings),
        )
        for row in rows
    )


def with_visibility(metadata: JSON, items: Iterable[Item]) -> ItemsWithVisibility:
    """The items with their visibility, from the metadata of their message."""
    told = fields.mapping(metadata)
    return ItemsWithVisibility(
        items,
        told.get("agentVisible") is not False,
        told.get("userVisible") is not False,
    )


def _message(row: Element) -> Iterator[Item]:
    """A message of the session. Raises Invalid if it isn't one."""
    yield read_message(row.value, row.record)


def read_message(value: JSON, record: str) -> Message | Event:
    """The message in a value; an event if no model was sent it. Raises Invalid if it isn't one."""
    given = fields.require(value, dict, "a message", ())
    content = fields.require(
        given.get("content"), list, "a list of blocks", ("content",)
    )
    kinds = [fields.text(block, "type") for block in content]
    if kinds and UNSENT.issuperset(kinds):
        return Event(kinds[0], record, fields.moment(given.get("created")))
    parts = [
        p for i, block in enumerate(content) for p in _block(block, ("content", i))
    ]
    return Message(
        role=blocks.read_role(given, ROLES, ()),
        parts=tuple(parts),
        source_id=fields.word(given, "id") or None,
        created_at=fields.moment(given.get("created")),
        records=(record,),
    )


def _line(row: Element) -> Iterator[Item]:
    """The item of a line: a message, a message printed by a run, or an event."""
    given = fields.mapping(row.value)
    if isinstance(given.get("message"), dict):
        yield from _message(row._replace(value=given["message"]))
    elif "role" in given:
        yield from _message(row)
    else:
        yield Event(fields.text(given, "type") or "session", row.record)


def _block(block: JSON, at: tuple[str | int, ...]) -> tuple[Part, ...]:
    given = fields.mapping(block)
    kind = fields.text(given, "type")
    if kind in CALLS:
        return (_call(given),)
    if kind == "toolResponse":
        return (_result(given),)
    if kind == "redactedThinking":
        given = {"type": "redacted_thinking", "data": given.get("data")}
        return blocks.read_block(given, at)
    if kind == "image" and "data" in given:
        return (_image(given),)
    return blocks.read_block(block, at)


def _outcome(value: JSON) -> tuple[JSON, bool]:
    """The value of a result, and whether it is an error."""
    said = fields.mapping(value)
    if "Ok" in said or fields.text(said, "status") == "success":
        return said.get("Ok", said.get("value")), False
    return said.get("Err", said.get("error", value)), True


def _call(block: dict[str, Any]) -> Part:
    """A call; a malformed one is kept whole."""
    found, failed = _outcome(block.get("toolCall"))
    name = fields.text(found, "name")
    if failed or not name:
        return Opaque(fields.text(block, "type"), block)
    arguments = fields.mapping(found).get("arguments")
    id_ = fields.text(block, "id")
    return ToolCall(id_, name, {} if arguments is None else arguments)


def _result(block: dict[str, Any]) -> ToolResult:
    """A result: MCP blocks, alone or in an object, or an error message."""
    found, failed = _outcome(block.get("toolResult"))
    said = fields.mapping(found)
    failed = failed or said.get("isError") is True
    content = said.get("content", found)
    if not isinstance(content, list):
        words = content if isinstance(content, str) else _spelled(content)
        content = [{"type": "text", "text": words}]
    made = (_answer(one) for one in content)
    parts = tuple(part for part in made if part != Text(""))
    return ToolResult(fields.text(block, "id"), parts, None, failed)


def _answer(block: JSON) -> Text | Image | File | Opaque:
    """The part of an MCP block."""
    given = fields.mapping(block)
    resource = fields.mapping(given, "resource")
    match given.get("type"):
        case "text" if isinstance(given.get("text"), str):
            return Text(given["text"])
        case "image":
            return _image(given)
        case "resource" if isinstance(resource.get("text"), str):
            return Text(resource["text"])
    return Opaque(fields.text(given, "type") or "content", block)


def _image(block: dict[str, Any]) -> Image | Opaque:
    data = base64_text.decode(block.get("data"))
    if data is None:
        return Opaque("image", block)
    return Image(fields.text(block, "mimeType") or "image/*", data=data)


def _spelled(value: JSON) -> str:
    return "" if value is None else json_text.dump(value).decode()


def _known(said: Values, _file_name: str) -> dict[str, Any]:
    model = fields.mapping(said["model_config"])
    return {
        "title": fields.text(
            {"name": said["name"], "description": said["description"]},
            "name",
            "description",
        ),
        "external_id": fields.as_word(said["id"], 200) or None,
        "model": fields.word(model, "model_name"),
        "strategy": "anthropic",
    }


def score(sample: Sample) -> float:
    """By its own blocks, in a session or on lines; without any, by the session's working folder."""
    said = sample.object
    listed = fields.items(said, "conversation") or fields.items(said, "messages")
    rows = [fields.mapping(row.get("message")) or row for row in sample.records]
    kinds = {
        fields.text(block, "type")
        for row in (*listed, *rows)
        for block in fields.items(row, "content")
    }
    if kinds & OWN:
        return 0.95
    if "working_dir" in said and isinstance(said.get("conversation"), list):
        return 0.95
    begins = fields.mapping(next(iter(sample.records), None))
    return 0.95 if {"working_dir", "description"} <= begins.keys() else 0


EXPORTED = ListFormat(
    name="goose",
    label="a Goose session",
    score=score,
    lists={"conversation": _listed, "messages": _listed},
    known=_known,
    bare=per_element(_line),
)
