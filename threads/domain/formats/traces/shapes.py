"""Messages as programs log them: one reader for the shapes of many frameworks.

A trace holds a framework's inputs and outputs: lists of messages, request and response bodies, a
prompt and its answer, as JSON or as JSON in a string (sometimes encoded twice). Values that aren't
messages read as nothing; nothing raises.

Checked against the pairs of traces and messages that Langfuse publishes for 19 frameworks.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.anthropic import messages as anthropic
from threads.domain.formats.io import fields, json_text
from threads.domain.formats.kit.calls import CallLinks
from threads.domain.formats.openai import items as openai_items
from threads.domain.formats.openai import messages as openai
from threads.domain.message import Message, Role, Usage
from threads.domain.part import JSON, Part, Text, Thinking, ToolCall, ToolResult

from . import langchain
from .shape_blocks import TEXTS, read_blocks, read_call, read_id, read_result

ROLES = langchain.CHAT_ROLES | {"model": Role.ASSISTANT, "chatbot": Role.ASSISTANT}
NESTED = 4
"""The most levels of JSON in strings, and of objects around messages, that are unwrapped."""
LISTS = ("messages", "contents", "input_messages", "output_messages")
HOLDERS = (
    *("message", "new_message", "output", "input", "generations", "kwargs"),
    "response",
)
"""Members that hold one or more messages, in an object that isn't a message itself."""
ANSWERS = ("completion", "text", "answer", "output_text")
"""Members that hold an answer's text."""


def read_messages(value: JSON, role: Role) -> list[Message]:
    """The messages with content in a logged value; plain text is one message of this role.

    Results without an id are linked to calls by name and order.
    """
    links = CallLinks()
    found = _unprinted(list(_read(value, role, NESTED)))
    return [links.given(message) for message in found if message.parts]


def _unprinted(found: list[Message]) -> Iterator[Message]:
    """The messages, without the content of answers whose null content was printed as text.

    The calls in an answer, or the results that follow it, show that it had calls but no text.
    """
    for message, following in zip_longest(found, found[1:]):
        is_called = following is not None and following.role is Role.TOOL
        if message.role is Role.ASSISTANT and is_printed(message.text):
            calls = tuple(part for part in message.parts if not isinstance(part, Text))
            is_called = is_called or any(isinstance(part, ToolCall) for part in calls)
            yield replace(message, parts=calls) if is_called else message
        else:
            yield message


def is_printed(content: JSON) -> bool:
    """Whether a content may be null as Python prints it."""
    return isinstance(content, str) and content == "None"


def read_structured(value: JSON, role: Role) -> list[Message]:
    """The messages in a structured value: plain text doesn't count as a message."""
    value = unwrapped(value)
    return [] if isinstance(value, str) else read_messages(value, role)


def unwrapped(value: JSON) -> JSON:
    """A value parsed from the strings of JSON it was encoded in."""
    for _ in range(NESTED):
        if not isinstance(value, str) or not value.lstrip().startswith(("[", "{", '"')):
            break
        try:
            value = json_text.parse(value.encode("utf-8", "surrogatepass"))
        except Invalid:
            break
    return value


def read_message(message: dict[str, Any], role: Role | None = None) -> Message | None:
    """One message of any framework; `role` applies if it has none. None if it isn't a message."""
    if langchain.is_message(message):
        return langchain.read_message(message)
    if openai_items.is_item(message):
        try:
            item = openai_items.read_item(message)
        except Invalid:
            return None
        return openai_items.message_of(item, message, ()) if item else None
    said = fields.text(message, "role") or (role or "")
    speaker = ROLES.get(said.lower(), Role.TOOL if said else None)
    if speaker is None or not message.keys() & CONTENT:
        return None
    parts = _filed_calls(message) or tuple(_parts(message))
    name = fields.text(message, "name", "tool_name", "toolName")
    if speaker is Role.TOOL:
        parts = _results(message, parts, name or (said if said not in ROLES else ""))
        speaker = Role.ASSISTANT if _all(parts, ToolCall) else speaker
    elif _all(parts, ToolResult):  # a user message for Anthropic and Gemini
        speaker = Role.TOOL if "parts" in message else speaker
    return Message(
        role=speaker,
        parts=parts,
        name=(name or None) if speaker is not Role.TOOL else None,
        model=fields.word(message, "model") or None,
        source_id=fields.word(message, "id") or None,
    )


CONTENT = frozenset(
    {"content", "parts", "tool_calls", "toolCalls", "function_call", "text"}
)
"""Every message has one of these members."""


def read_usage(value: JSON) -> Usage | None:
    """The usage in a response of any provider."""
    usage = fields.mapping(unwrapped(value), "usage")
    if "prompt_tokens" in usage:
        return openai.read_usage(usage)
    return anthropic.read_usage(usage) if "input_tokens" in usage else None


def _read(value: JSON, role: Role, depth: int) -> Iterator[Message]:
    value = unwrapped(value)
    if isinstance(value, str):
        if value:
            yield Message(role=role, parts=(Text(value),))
    elif isinstance(value, list):
        yield from _list(value, role, depth)
    elif isinstance(value, dict) and depth:
        yield from _object(value, role, depth - 1)


def _list(values: list[Any], role: Role, depth: int) -> Iterator[Message]:
    """The messages of a list; a list of blocks or of calls is one message."""
    blocks = [fields.text(value, "type") for value in values]
    calls = [read_call(fields.mapping(value)) for value in values]
    if values and all(kind in TEXTS for kind in blocks):
        yield Message(role=role, parts=read_blocks(values))
    elif values and all(_is_bare_call(value) for value in values) and None not in calls:
        yield Message(role=Role.ASSISTANT, parts=tuple(call for call in calls if call))
    else:
        yield from _joined(values, role, depth - 1) if depth else ()


def _joined(values: list[Any], role: Role, depth: int) -> Iterator[Message]:
    """The messages of a list; the items of one OpenAI Responses answer are one message."""
    held: Message | None = None
    for value in values:
        if not isinstance(value, dict | list):
            continue
        for message in _read(value, role, depth):
            is_piece = isinstance(value, dict) and openai_items.is_item(value)
            is_piece = is_piece and message.role is Role.ASSISTANT
            if held and is_piece:
                held = replace(held, parts=held.parts + message.parts)
                continue
            if held:
                yield held
            held = message if is_piece else None
            if not is_piece:
                yield message
    if held:
        yield held


def _is_bare_call(value: JSON) -> bool:
    """Whether an object is a call outside a message, as the AI SDK logs replies."""
    keys = fields.mapping(value).keys()
    return "toolName" in keys or ("function" in keys and "role" not in keys)


def _is_function(value: JSON) -> bool:
    return isinstance(fields.mapping(value).get("function"), dict)


def _object(value: dict[str, Any], role: Role, depth: int) -> Iterator[Message]:
    message = read_message(value)
    if message is not None:
        yield message
        return
    if value.get("object") == "response":
        yield from _read(value.get("output"), role, depth)
        return
    before = [*_system(value)]
    held = next((name for name in LISTS if value.get(name)), None)
    if held is not None:
        yield from before
        yield from _read(value[held], Role.USER, depth)
    elif value.get("choices") or value.get("candidates"):
        yield from _choices(value)
    elif value.get("prompt"):
        yield from before
        yield from _read(value["prompt"], Role.USER, depth)
    elif isinstance(value.get("content"), dict):  # a Gemini candidate
        yield from _read(value["content"], role, depth)
    else:
        yield from _inside(value, role, depth)


def _inside(value: dict[str, Any], role: Role, depth: int) -> Iterator[Message]:
    """The messages in a member that holds them, else the text of an answer."""
    for name in HOLDERS:
        if isinstance(value.get(name), dict | list):
            found = [*_read(value[name], role, depth)]
            if found:
                yield from found
                return
    words = fields.text(value, *ANSWERS)
    arguments = fields.items(value, "args")
    if role is Role.ASSISTANT and words:
        yield Message(role=role, parts=(Text(words),))
    elif role is Role.USER and arguments and isinstance(arguments[0], str):
        yield Message(role=role, parts=(Text(arguments[0]),))


def _system(value: dict[str, Any]) -> Iterator[Message]:
    """The system prompt that a request has beside its messages."""
    names = ("system", "system_instruction", "systemInstruction", "instructions")
    for holder in (value, fields.mapping(value, "config")):
        for name in names:
            said = holder.get(name)
            parts = read_blocks(fields.mapping(said).get("parts") or said)
            if parts:
                yield Message(role=Role.SYSTEM, parts=parts)
                return


def _choices(value: dict[str, Any]) -> Iterator[Message]:
    """The first answer of a response."""
    for name in ("choices", "candidates"):
        for choice in fields.items(value, name)[:1]:
            inner = fields.mapping(choice, "message")
            inner = inner or fields.mapping(choice, "content")
            message = read_message(inner, Role.ASSISTANT)
            if message is not None:
                model = fields.word(value, "model") or message.model
                yield replace(message, model=model)


def _parts(message: dict[str, Any]) -> Iterator[Part]:
    """Reasoning, content and calls; a call that is also in the content counts once."""
    words = fields.text(message, "reasoning_content", "reasoning")
    if words:
        yield Thinking(words)
    content = read_blocks(
        next((message[n] for n in ("content", "parts", "text") if message.get(n)), None)
    )
    yield from content
    given = {part.id for part in content if isinstance(part, ToolCall)}
    for holder in (message, fields.mapping(message, "additional_kwargs")):
        listed = fields.items(holder, "tool_calls") or fields.items(holder, "toolCalls")
        calls = [*listed, fields.mapping(holder, "function_call")]
        found = [call for one in calls if (call := read_call(fields.mapping(one)))]
        yield from (call for call in found if not call.id or call.id not in given)
        given |= {call.id for call in found}


def _results(
    message: dict[str, Any], parts: tuple[Part, ...], name: str
) -> tuple[Part, ...]:
    """The results in a tool message, or its content as one result."""
    if any(isinstance(part, ToolResult | ToolCall) for part in parts):
        return parts
    if isinstance(fields.mapping(message, "content").get("function"), dict):
        return ()  # the definition of a tool
    call_id = read_id(message, "tool_call_id", "tool_use_id", "toolCallId", "call_id")
    return (read_result(message, call_id, name),)


def _filed_calls(message: dict[str, Any]) -> tuple[Part, ...]:
    """Calls that a log has as the content of a tool's or the model's message."""
    listed, is_call = message.get("content"), _is_function
    if isinstance(listed, str) and listed.startswith("[{"):
        listed, is_call = unwrapped(listed), _is_bare_call
    if not isinstance(listed, list) or not all(map(is_call, listed)):
        return ()
    calls = [read_call(fields.mapping(one)) for one in listed]
    return tuple(call for call in calls if call and call.id)


def _all(parts: tuple[Part, ...], kind: type[ToolCall] | type[ToolResult]) -> bool:
    return bool(parts) and all(isinstance(part, kind) for part in parts)
