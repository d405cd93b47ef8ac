"""Items of OpenAI's Responses API, which also make up Codex's rollouts.

A conversation is a flat list of items. One answer of the model is several of them (reasoning,
message, calls), so consecutive items by the model form one message. A call and its output are
linked by `call_id`; `id` is the item's own.

Sources: platform.openai.com/docs/api-reference/responses, Codex's own protocol.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from contextstudio.accounts.domain.errors import Invalid, Place
from threads.domain.formats import blocks
from threads.domain.formats.arguments import parsed, read_call
from threads.domain.formats.io import base64_text, fields, json_text
from threads.domain.message import ASSISTANT, TOOL, Message, Role, Usage
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

COMPACTIONS = frozenset({"compaction", "compaction_summary", "context_compaction"})
"""Items that only the provider can read."""
SEARCHES = frozenset({"web_search_call", "file_search_call"})
"""Searches by the provider itself."""
HOSTED = (
    COMPACTIONS
    | SEARCHES
    | {"code_interpreter_call"}
    | {"mcp_call", "mcp_list_tools", "mcp_approval_request"}
    | {"program", "program_output"}
)
"""Steps that the provider ran itself: no output item follows, so they are kept whole."""
CALLED = frozenset(
    {"function", "custom_tool", "local_shell", "shell", "computer", "apply_patch"}
    | {"tool_search", "image_generation"}
)
"""Kinds of calls whose types identify a list of items."""
OTHERS = frozenset({"item_reference", "additional_tools", "configuration_update"})
"""Items that are not part of the conversation, although their names might suggest it."""
SEARCH = "tool_search"
"""A tool of the API's own, whose output is a list of tools instead of text."""
_FREE = frozenset({"function_call", "custom_tool_call", "local_shell_call"})
"""Calls that are written in the same form again, or whose output may be a function's: Codex answers
its shell so."""
_ARGUMENTS = ("action", "actions", "operation", "arguments", "input")
_ENVELOPE = ("type", "id", "call_id", "status")
_ROLES = {role.value: role for role in Role}
_PICTURES = {b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif", b"RIFF": "image/webp"}

ReadItem = tuple[Role, tuple[Part, ...], str | None]
"""A read item: role, parts, and the speaker's name; the assistant's items are then joined."""


def read_item(item: JSON, at: Place = ()) -> ReadItem | None:
    """The contents of an item; None if it isn't part of the conversation.

    Raises Invalid at the place that is malformed.
    """
    if not isinstance(item, dict):
        raise Invalid("Expected an item here.", at=at)
    type_ = item.get("type")
    if type(type_) is not str:
        type_ = "message" if "role" in item else ""
    if reader := _READERS.get(type_):
        return reader(item, at)
    if type_ in OTHERS:
        return None
    if type_ in HOSTED or item.get("execution") == "server":
        return _hosted(item, at)
    if type_.endswith("_output"):
        return _output(item, at)
    if type_.endswith("_call"):
        return _call(item, at)
    return None


def is_item(record: JSON) -> bool:
    """Whether an object looks like an item that no other format has."""
    type_ = fields.text(record, "type")
    if type_ == "message":
        content = fields.items(record, "content")
        kinds = {fields.text(block, "type") for block in content}
        return bool(kinds & {"input_text", "output_text", "input_image"})
    if type_ == "reasoning":
        return "summary" in record or "encrypted_content" in record
    if type_ in COMPACTIONS:
        return "encrypted_content" in record
    called = type_.removesuffix("_output").removesuffix("_call")
    return type_ in HOSTED or (called != type_ and called in CALLED)


def bound_call(item: dict[str, Any]) -> str:
    """The id of a call whose two halves must be sent in one form; empty for any other item.

    The API looks for the call of an output only among those of the same type. Calls of tools that
    it defines itself (shell, patches, computer) are written as a function's, and those of a
    function whose arguments are no JSON, such as after a cut, as a custom tool's.
    """
    type_ = fields.text(item, "type")
    if type_ in HOSTED or item.get("execution") == "server":
        return ""
    is_output = type_.endswith("_output")
    called = type_.removesuffix("_output")
    if is_output and called in ("function_call", "custom_tool_call"):
        return ""
    if type_ == "function_call":
        is_text = isinstance(parsed(item.get("arguments", {})), str)
        return _call_id(item) if is_text else ""
    if not is_output and (called in _FREE or not called.endswith("_call")):
        return ""
    return _call_id(item)


def message_of(
    read: ReadItem, item: JSON, records: tuple[str, ...], at: datetime | None = None
) -> Message:
    """An item as a message of its own."""
    role, parts, name = read
    return Message.__new__(  # calling the class takes twice as long
        Message,
        role=role,
        parts=parts,
        name=name,
        source_id=fields.word(item, "id") or None if item and "id" in item else None,
        created_at=at,
        records=records,
    )


class AssistantTurn:
    """An answer of the model, assembled from its items."""

    __slots__ = ("created_at", "parts", "records", "source_id", "usage")

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.records: list[str] = []
        self.source_id: str | None = None
        self.created_at: datetime | None = None
        self.usage: Usage | None = None

    @property
    def size(self) -> int:
        """The number of its items so far."""
        return len(self.records)

    def add(
        self, parts: Iterable[Part], item: JSON, record: str, at: datetime | None = None
    ) -> None:
        """Add an item: its parts, and the record it was read from."""
        if not self.records:
            self.created_at = at
        self.parts.extend(parts)
        self.records.append(record)
        if self.source_id is None and "id" in item:
            self.source_id = fields.word(item, "id") or None

    def message(self, model: str = "") -> Message | None:
        """The message; None if no item says anything (reasoning without text or encrypted data)."""
        if not self.parts:
            return None
        return Message.__new__(  # as above
            Message,
            role=ASSISTANT,
            parts=tuple(self.parts),
            model=model or None,
            source_id=self.source_id,
            created_at=self.created_at,
            usage=self.usage,
            records=tuple(self.records),
        )


def read_usage(usage: JSON, cached: JSON) -> Usage | None:
    """The tokens of one answer; `cached` is the object with the count of cached tokens."""
    if not isinstance(usage, dict):
        return None
    return Usage(
        input_tokens=fields.count(usage, "input_tokens"),
        output_tokens=fields.count(usage, "output_tokens"),
        cached_tokens=fields.count(cached, "cached_tokens", "cached_input_tokens"),
    )


def _message(item: dict[str, Any], at: Place) -> ReadItem:
    role = blocks.read_role(item, _ROLES, at)
    return role, blocks.read_content(item.get("content"), (*at, "content")), None


def _reasoning(item: dict[str, Any], _at: Place) -> ReadItem:
    """The full reasoning if present, else its summary, with the encrypted data."""
    words, encrypted = _joined(item, "content") or _joined(item, "summary"), None
    if "encrypted_content" in item:
        encrypted = fields.text(item, "encrypted_content") or None
    signer = "openai" if encrypted else None
    parts = (Thinking(words, None, encrypted, signer),) if words or encrypted else ()
    return ASSISTANT, parts, None


def _joined(item: dict[str, Any], member: str) -> str:
    pieces = item.get(member)
    if not pieces or not isinstance(pieces, list):
        return ""
    return "\n\n".join(fields.text(piece, "text") for piece in pieces)


def _function_call(item: dict[str, Any], at: Place) -> ReadItem:
    """A function call; its name begins with the namespace, as Codex displays it."""
    name = item.get("name")
    if not isinstance(name, str):
        raise Invalid("Expected the name of a tool here.", at=(*at, "name"))
    given = item.get("arguments")
    if "arguments" not in item:
        given = _rest(item, "name", "namespace") or ""
    return ASSISTANT, (_named(read_call(_call_id(item), name, given), item),), None


def _custom_call(item: dict[str, Any], at: Place) -> ReadItem:
    """A call whose input is text by definition, even if the text happens to be JSON."""
    name = fields.require(item.get("name"), str, "the name of a tool", (*at, "name"))
    call = ToolCall(_call_id(item), name, item.get("input", ""))
    return ASSISTANT, (_named(call, item),), None


def _named(call: ToolCall, item: dict[str, Any]) -> ToolCall:
    """The call with its tool's full name, which begins with the namespace if there is one."""
    if not (namespace := fields.text(item, "namespace")):
        return call
    return replace(call, name=namespace + call.name, namespace=namespace)


def _call(item: dict[str, Any], _at: Place) -> ReadItem:
    """A call of a tool that the API defines (shell, computer, tool search, …)."""
    name = fields.text(item, "name") or item["type"].removesuffix("_call")
    member = next((name for name in _ARGUMENTS if name in item), None)
    arguments: JSON = _rest(item) if member is None else item[member]
    return ASSISTANT, (ToolCall(_call_id(item), name, arguments),), None


def _output(item: dict[str, Any], at: Place) -> ReadItem:
    """A tool's result: text, blocks, or (older Codex) content with a success flag."""
    if "output" not in item:
        return TOOL, (_unread_output(item),), None
    output, is_error = item["output"], False
    if output and isinstance(output, str):
        return TOOL, (ToolResult(_call_id(item), (Text(output),)),), None
    if isinstance(output, dict) and not {"content", "type"} & output.keys():
        output = json_text.decode(json_text.dump(output))
    if isinstance(output, dict):
        is_error = output.get("success") is False
        is_picture = output.get("type") == "computer_screenshot"
        block = output | {"type": "input_image" if is_picture else "output"}
        output = output.get("content", [block])
    if isinstance(output, list):  # a shell's output has no type
        output = [{"type": "output"} | b if isinstance(b, dict) else b for b in output]
    said = {"content": output, "is_error": is_error}
    return TOOL, (blocks.read_result(said, _call_id(item), (*at, "output")),), None


def _unread_output(item: dict[str, Any]) -> ToolResult:
    """A tool's result under an unknown member, kept as it is."""
    rest = _rest(item)
    return ToolResult(_call_id(item), (Opaque(item["type"], rest),) if rest else ())


def _rest(item: dict[str, Any], *known: str) -> dict[str, Any]:
    """The members of an item other than the common ones and the known ones."""
    return {k: v for k, v in item.items() if k not in (*_ENVELOPE, *known)}


def _search_output(item: dict[str, Any], _at: Place) -> ReadItem:
    """The tools that a search found, kept as they are: they can be called from then on."""
    if item.get("execution") == "server":
        return _hosted(item, _at)
    found = {k: v for k, v in item.items() if k not in ("id", "call_id")}
    content = (Opaque(f"{SEARCH}_output", found),)
    return TOOL, (ToolResult(_call_id(item), content),), None


def _agent_message(item: dict[str, Any], at: Place) -> ReadItem:
    """A message by another agent to this one."""
    content = blocks.read_content(item.get("content"), (*at, "content"))
    return Role.USER, content, fields.text(item, "author") or None


def _approval(item: dict[str, Any], _at: Place) -> ReadItem:
    return Role.USER, (Opaque(item["type"], item),), None


def _hosted(item: dict[str, Any], _at: Place) -> ReadItem:
    return ASSISTANT, (Opaque(item["type"], item),), None


def _picture(item: dict[str, Any], at: Place) -> ReadItem:
    """An image that the model generated; kept whole if its bytes are missing."""
    data = base64_text.decode(item.get("result"))
    if not data:
        return _hosted(item, at)
    found = (kind for magic, kind in _PICTURES.items() if data.startswith(magic))
    return ASSISTANT, (Image(next(found, "image/png"), data=data),), None


def _call_id(item: dict[str, Any]) -> str:
    id_ = item.get("call_id")
    return id_ if id_ and isinstance(id_, str) else fields.text(item, "id")


_READERS: dict[str, Callable[[dict[str, Any], Place], ReadItem]] = {
    "message": _message,
    "reasoning": _reasoning,
    "function_call": _function_call,
    "function_call_output": _output,
    "custom_tool_call": _custom_call,
    f"{SEARCH}_output": _search_output,
    "agent_message": _agent_message,
    "mcp_approval_response": _approval,
    "image_generation_call": _picture,
}
