"""Inspect's messages: content that names its attachments, calls, results, reasoning.

Source: inspect_ai `model/_chat_message.py` and `_util/content.py` (0.3).
"""

from collections.abc import Callable, Iterator
from typing import Any

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.io import base64_text, fields
from threads.domain.formats.openai import messages as openai
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

ROLES = {role.value: role for role in Role}
SCHEMES = ("attachment://", "tc://")
"""What stands for a long text: the address of an attachment (`tc://` until 2024)."""
Find = Callable[[str], str | None]
"""The text of an attachment by its hash; None where there is none."""


def read_message(
    message: JSON, find: Find, *, records: tuple[str, ...] = ()
) -> Message:
    """One message, its attachments in place. Raises Invalid where it has no known role."""
    message = fields.mapping(resolve(message, find))
    role = ROLES.get(fields.text(message, "role"))
    if role is None:
        raise Invalid(f"A message's role is one of {', '.join(ROLES)}.", at=("role",))
    parts = tuple(_content(message.get("content")))
    if role is Role.TOOL:
        parts = (_result(message, parts),)
    elif role is Role.ASSISTANT:
        parts = (*_old_reasoning(message), *parts, *_calls(message))
    return Message(
        role=role,
        parts=parts,
        model=fields.word(message, "model") or None,
        source_id=fields.word(message, "id") or None,
        records=records,
    )


def resolve(value: JSON, find: Find) -> JSON:
    """A value with each text that is an attachment's address replaced by the attachment."""
    if isinstance(value, str) and value.startswith(SCHEMES):
        found = find(value.partition("://")[2])
        return value if found is None else found
    if isinstance(value, list):
        return [resolve(item, find) for item in value]
    if isinstance(value, dict):
        return {name: resolve(item, find) for name, item in value.items()}
    return value


def read_usage(usage: JSON) -> Usage | None:
    """Tokens as Inspect counts them; what was cached is input too, whatever the provider says."""
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
        yield _reasoning(block)
    elif media := _media(block, kind):
        yield media
    elif kind == "tool_use" and "arguments" in block:
        yield from _server_tool(block)
    else:
        yield Opaque(kind or "block", block)


def _reasoning(block: dict[str, Any]) -> Thinking:
    """What a provider encrypted is kept for it; its summary is what can be read of it."""
    words = fields.text(block, "reasoning")
    signature = fields.text(block, "signature") or None
    if block.get("redacted") is True:
        return Thinking(fields.text(block, "summary"), data=words)
    return Thinking(words, signature)


def _media(block: dict[str, Any], kind: str) -> Image | File | None:
    """A picture, a sound, a film or a document: inline, or at its address."""
    address = fields.text(block, kind)
    if kind not in ("image", "audio", "video", "document") or not address:
        return None
    inline = base64_text.split_data_uri(address)
    if kind == "image":
        return Image(inline[0], data=inline[1]) if inline else _linked(address)
    name = fields.text(block, "filename") or None
    if inline:
        return File(inline[0], name, data=inline[1])
    form = fields.text(block, "format") or "*"
    type_ = fields.text(block, "mime_type") or f"{kind}/{form}"
    return File(type_, name, url=address)


def _linked(address: str) -> Image | None:
    return None if address.startswith("data:") else Image("image/*", url=address)


def _server_tool(block: dict[str, Any]) -> Iterator[Part]:
    """A tool that the provider ran: the call and its result stand in one block."""
    id_, name = fields.text(block, "id"), fields.text(block, "name")
    error = fields.text(block, "error")
    words = fields.text(block, "result") or error
    content = (Text(words),) if words else ()
    yield ToolCall(id_, name, openai.read_arguments(block["arguments"]))
    yield ToolResult(id_, content, name or None, bool(error))


def _result(message: dict[str, Any], parts: tuple[Part, ...]) -> ToolResult:
    error = fields.mapping(message, "error")
    content = tuple(
        part for part in parts if isinstance(part, Text | Image | File | Opaque)
    )
    if not content and fields.text(error, "message"):
        content = (Text(error["message"]),)
    return ToolResult(
        fields.text(message, "tool_call_id"),
        content,
        fields.text(message, "function") or None,
        bool(error),
    )


def _old_reasoning(message: dict[str, Any]) -> Iterator[Part]:
    """Reasoning beside the content, as it was written for some weeks of 2025."""
    if words := fields.text(message, "reasoning"):
        yield Thinking(words)


def _calls(message: dict[str, Any]) -> Iterator[Part]:
    for call in fields.items(message, "tool_calls"):
        arguments = fields.mapping(call).get("arguments", {})
        yield ToolCall(
            fields.text(call, "id"), fields.text(call, "function"), arguments
        )
