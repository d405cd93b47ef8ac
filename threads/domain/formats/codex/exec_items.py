"""What an item says that `codex exec --json` prints: words, reasoning, or a call and its result."""

from collections.abc import Callable
from typing import Any, NamedTuple

from threads.domain.formats.io import base64_text, fields, json_text
from threads.domain.message import Message, Role
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

_FAILED = frozenset({"failed", "declined"})
_AT = ("item",)


class AnswerPart(NamedTuple):
    """A part of an answer and, where it is a call, what that brought."""

    part: Part
    result: Message | None = None


def kind_of(item: dict[str, Any]) -> str:
    """The type of an item, in either spelling."""
    return fields.text(item, "type", "item_type")


def _words(item: dict[str, Any], _id: str) -> AnswerPart | None:
    text = fields.require(item.get("text"), str, "text", (*_AT, "text"))
    return AnswerPart(Text(text)) if text else None


def _reasoning(item: dict[str, Any], _id: str) -> AnswerPart | None:
    text = fields.require(item.get("text"), str, "text", (*_AT, "text"))
    return AnswerPart(Thinking(text)) if text else None


def _command(item: dict[str, Any], id_: str) -> AnswerPart:
    command = item.get("command")
    command = fields.require(command, str, "a command", (*_AT, "command"))
    call = ToolCall(id_, "command_execution", {"command": command})
    return _answered(call, item, _texts(item.get("aggregated_output")))


def _change(item: dict[str, Any], id_: str) -> AnswerPart:
    changes = item.get("changes")
    fields.require(changes, list, "a list of changes", (*_AT, "changes"))
    return _answered(ToolCall(id_, "file_change", {"changes": changes}), item, ())


def _mcp(item: dict[str, Any], id_: str) -> AnswerPart:
    """A tool of a server, named as rollouts name it."""
    tool = fields.require(item.get("tool"), str, "the name of a tool", (*_AT, "tool"))
    server = fields.text(item, "server")
    name = f"mcp__{server}__{tool}" if server else tool
    arguments = item.get("arguments")
    call = ToolCall(id_, name, {} if arguments is None else arguments)
    result, error = item.get("result"), fields.mapping(item, "error")
    content = tuple(_block(block) for block in fields.items(result, "content"))
    structured = fields.mapping(result).get("structured_content")
    if not content and structured is not None:
        content = _texts(structured)
    return _answered(call, item, content or _texts(error.get("message")))


def _collaboration(item: dict[str, Any], id_: str) -> AnswerPart:
    """A tool for other agents: what it was given, and how they stand."""
    tool = fields.require(item.get("tool"), str, "the name of a tool", (*_AT, "tool"))
    given = {
        name: item[name]
        for name in ("prompt", "receiver_thread_ids")
        if item.get(name) is not None
    }
    states = _texts(item.get("agents_states") or None)
    return _answered(ToolCall(id_, tool, given), item, states)


def _search(item: dict[str, Any], _id: str) -> AnswerPart:
    """What the provider did itself; what it found is not printed."""
    return AnswerPart(Opaque("web_search", item))


def _answered(
    call: ToolCall,
    item: dict[str, Any],
    content: tuple[Text | Image | File | Opaque, ...],
) -> AnswerPart:
    is_error = fields.text(item, "status") in _FAILED
    result = ToolResult(call.id, content, call.name, is_error)
    return AnswerPart(call, Message(role=Role.TOOL, parts=(result,)))


def _texts(value: JSON) -> tuple[Text, ...]:
    """A text as it is, any other value as its JSON; nothing of an empty one."""
    if isinstance(value, str):
        return (Text(value),) if value else ()
    if value is None:
        return ()
    return (Text(json_text.dump(value).decode()),)


def _block(block: JSON) -> Text | Image | File | Opaque:
    """A block of a tool's result, as MCP has it."""
    kind = fields.text(block, "type")
    if kind == "text" and fields.text(block, "text"):
        return Text(block["text"])
    data = base64_text.decode(fields.mapping(block).get("data"))
    if kind == "image" and data is not None:
        return Image(fields.text(block, "mimeType") or "image/*", data=data)
    return Opaque(kind or "block", block)


READERS: dict[str, Callable[[dict[str, Any], str], AnswerPart | None]] = {
    "agent_message": _words,
    "assistant_message": _words,
    "plan": _words,
    "reasoning": _reasoning,
    "command_execution": _command,
    "file_change": _change,
    "mcp_tool_call": _mcp,
    "collab_tool_call": _collaboration,
    "web_search": _search,
}
"""Items that are of the conversation: lists of tasks and errors are events."""
CALLS = frozenset(
    {"command_execution", "file_change", "mcp_tool_call", "collab_tool_call"}
)
