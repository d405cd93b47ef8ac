"""The content of Goose's messages, as its model is sent it.

A tool may answer with one text for the model and another for the user, each annotated with its
`audience`; Goose leaves out the second when it makes a request.

Source: aaif-goose/goose, crates/goose-provider-types/src/conversation/message.rs.
"""

from collections.abc import Sequence
from typing import Any

from threads.domain.formats import blocks
from threads.domain.formats.io import base64_text, fields, json_text
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

CALLS = ("toolRequest", "frontendToolRequest")
UNSENT = frozenset(
    {"systemNotification", "actionRequired", "toolConfirmationRequest", "error"}
    | {"conversationCompacted"}
)
"""Blocks that Goose shows to its user and sends to no model."""


def is_sent(block: JSON) -> bool:
    """Whether a block of a message is sent to the model."""
    return fields.text(block, "type") not in UNSENT and is_for_model(block)


def is_for_model(block: JSON) -> bool:
    """Whether the model is part of a block's audience, as it is if none is named."""
    audience = fields.mapping(block, "annotations").get("audience")
    return not isinstance(audience, list) or "assistant" in audience


def read_parts(content: Sequence[JSON]) -> tuple[Part, ...]:
    """The parts of a message's content. Raises Invalid at a block that is malformed."""
    return tuple(
        part
        for index, block in enumerate(content)
        if is_for_model(block)
        for part in _block(block, ("content", index))
    )


def _block(block: JSON, at: tuple[str | int, ...]) -> tuple[Part, ...]:
    given = fields.mapping(block)
    match given.get("type"):
        case "toolRequest" | "frontendToolRequest":
            return (_call(given),)
        case "toolResponse":
            return (_result(given),)
        case "redactedThinking":
            given = {"type": "redacted_thinking", "data": given.get("data")}
            return blocks.read_block(given, at)
        case "reasoning" if words := fields.text(given, "text"):
            return (Thinking(words),)
        case "image" if "data" in given:
            return (_image(given),)
        case "document" if (data := base64_text.decode(given.get("data"))) is not None:
            kind = fields.text(given, "mimeType") or "application/octet-stream"
            return (File(kind, fields.text(given, "name") or None, data=data),)
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
    made = (_answer(one) for one in content if is_for_model(one))
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
        case "resource" if isinstance(resource.get("blob"), str):
            return Text(_blob(resource))
    return Opaque(fields.text(given, "type") or "content", block)


def _blob(resource: dict[str, Any]) -> str:
    """The bytes of a resource as the model reads them: as text, or as how many there are."""
    data = base64_text.decode(resource["blob"])
    if data is None:
        return fields.text(resource, "blob")
    try:
        return data.decode()
    except UnicodeDecodeError:
        kind = fields.text(resource, "mimeType") or "application/octet-stream"
        return f"[Binary content ({kind}) - {len(data)} bytes]"


def _image(block: dict[str, Any]) -> Image | Opaque:
    data = base64_text.decode(block.get("data"))
    if data is None:
        return Opaque("image", block)
    return Image(fields.text(block, "mimeType") or "image/*", data=data)


def _spelled(value: JSON) -> str:
    return "" if value is None else json_text.dump(value).decode()
