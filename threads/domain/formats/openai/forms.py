"""OpenAI Chat Completions messages: the public form, and the form of a request.

The public form is what the public API shows and accepts: `GET …/messages` and threads. Its `parts`
hold what OpenAI's members beside them can't express: several results, reasoning, blocks of others.

Source: platform.openai.com/docs/api-reference/chat/create.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from contextstudio.accounts.domain.errors import Invalid, Place
from threads.domain.formats import blocks, contextstudio
from threads.domain.formats.arguments import text_of
from threads.domain.formats.format import Heading
from threads.domain.formats.io import base64_text, json_text
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

Address = Callable[[Image | File], str]
"""Returns the address of an image or a file."""
NATIVE_BLOCKS = frozenset({"refusal", "input_audio", "file"})
"""Opaque blocks that are OpenAI's own, so they may be written in its form."""


ADDRESS = "/api/blobs/{}"
_ADDRESS = re.compile(ADDRESS.format("([0-9a-f]{64})"))
_ADDRESSES = ("url", "file_data")


def blob_address(part: Image | File) -> str:
    """The address of an image or a file in the public API: a blob, its own address, or inline."""
    if part.sha256 is not None:
        return ADDRESS.format(part.sha256)
    return part.url or base64_text.data_uri(part.media_type, part.data or b"")


# The public form


def write_message(
    message: Message, *, address: Address = blob_address
) -> dict[str, Any]:
    """The public form of a message: role, content, calls, results.

    If a message is just one result, `content` is that result's; if it has only calls, it is
    null. `tool_results` is always present, `tool_call_id` only if there is exactly one result.
    """
    calls = [part for part in message.parts if isinstance(part, ToolCall)]
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    content = write_content(message.parts, address=address)
    if not content and len(results) == 1:
        content = write_content(results[0].content, address=address)
    form: dict[str, Any] = {"role": str(message.role), "content": content}
    if message.name:
        form["name"] = message.name
    if calls:
        form["content"] = content or None
        form["tool_calls"] = [write_call(call) for call in calls]
    if len(results) == 1:
        form["tool_call_id"] = results[0].call_id
    form["tool_results"] = [_write_result(result, address) for result in results]
    return form


def write_content(
    parts: Iterable[Part], *, address: Address = blob_address
) -> str | list[dict[str, Any]]:
    """`content` of the public form: a string if all parts are text, else OpenAI's blocks.

    Thinking, calls and results have members of their own and are left out here.
    """
    shown = [
        part for part in parts if not isinstance(part, Thinking | ToolCall | ToolResult)
    ]
    texts = [part.text for part in shown if isinstance(part, Text)]
    if len(texts) == len(shown):
        return "\n\n".join(texts)
    return [block for part in shown for block in write_blocks(part, address)]


def write_call(call: ToolCall) -> dict[str, Any]:
    """A tool call in OpenAI's form, with its arguments as originally written."""
    function = {"name": call.name, "arguments": text_of(call)}
    return {"id": call.id, "type": "function", "function": function}


def write_blocks(part: Part, address: Address) -> Iterator[dict[str, Any]]:
    """The content block of a part; nothing if OpenAI has none for it."""
    match part:
        case Text(text):
            yield {"type": "text", "text": text}
        case Image():
            yield {"type": "image_url", "image_url": {"url": address(part)}}
        case File():
            name = {} if part.name is None else {"filename": part.name}
            yield {"type": "file", "file": name | {"file_data": address(part)}}
        case Opaque(type_, {"type": said} as data) if said == type_ in NATIVE_BLOCKS:
            yield data


def _write_result(result: ToolResult, address: Address) -> dict[str, Any]:
    form: dict[str, Any] = {
        "tool_call_id": result.call_id,
        "content": write_content(result.content, address=address),
        "is_error": result.is_error,
    }
    return form | ({"name": result.name} if result.name else {})


def read_public_parts(
    message: dict[str, Any], role: Role, at: Place
) -> tuple[Part, ...] | None:
    """The `parts` of a message in the public form; None if it isn't in that form.

    Also None if somebody changed the members beside its parts: then those members count. Images
    and files are identified by their addresses.
    """
    given = message.get("parts")
    if not isinstance(given, list) or not isinstance(message.get("tool_results"), list):
        return None
    try:
        parts = tuple(
            contextstudio.read_part(_addressed(part), (*at, "parts", i))
            for i, part in enumerate(given)
        )
    except Invalid:
        return None
    form = write_message(Message(role=role, parts=parts))
    said = {name: message[name] for name in form if name in message}
    return parts if _blank(said) == _blank(form) else None


def recording_id(message: Message) -> str | None:
    """The id of the recording if a message consists only of a reference to one; else None."""
    match message.parts:
        case (Opaque("audio", {"audio": {"id": str(named), **rest}}),) if not rest:
            return named or None
    return None


def has_recording(parts: Iterable[Part], named: str) -> bool:
    """Whether a recording with this id is among the parts."""
    return any(
        isinstance(part, Opaque)
        and isinstance(part.data, dict)
        and isinstance(audio := part.data.get("audio"), dict)
        and audio.get("id") == named
        for part in parts
    )


def hashes_of(messages: Iterable[Message]) -> set[str]:
    """The hashes of the images and files to which messages refer by the API's addresses."""
    parts = (part for message in messages for part in message.parts)
    return {sha256 for part in parts for sha256 in _hashes_of(part)}


def identify_media(message: Message, known: Container[str]) -> Message:
    """The message with known images and files identified by their hashes."""
    return replace(
        message, parts=tuple(_by_hash(part, known) for part in message.parts)
    )


def _hashes_of(part: Part) -> Iterator[str]:
    if isinstance(part, ToolResult):
        for item in part.content:
            yield from _hashes_of(item)
    elif isinstance(part, Image | File) and (
        found := _ADDRESS.fullmatch(part.url or "")
    ):
        yield found[1]


def _by_hash(part: Part, known: Container[str]) -> Any:
    if isinstance(part, ToolResult):
        return replace(
            part, content=tuple(_by_hash(item, known) for item in part.content)
        )
    if isinstance(part, Image | File):
        for sha256 in _hashes_of(part):
            return replace(part, sha256=sha256, url=None) if sha256 in known else part
    return part


def _addressed(part: JSON) -> JSON:
    """The part, and the parts in it, with an address wherever there is a hash."""
    if not isinstance(part, dict):
        return part
    if isinstance(content := part.get("content"), list):
        return {**part, "content": [_addressed(item) for item in content]}
    if isinstance(sha256 := part.get("sha256"), str):
        return {**part, "url": ADDRESS.format(sha256)}
    return part


def _blank(value: JSON) -> JSON:
    """The value with empty image and file addresses, which differ where media are inline."""
    if isinstance(value, list):
        return [_blank(item) for item in value]
    if isinstance(value, dict):
        return {
            name: "" if name in _ADDRESSES else _blank(item)
            for name, item in value.items()
        }
    return value


# The form of a request


def write(messages: Iterable[Message], heading: Heading) -> Iterator[bytes]:
    """A request's `{"model", "messages"}`, one message per line, with inline images."""
    forms = (
        form
        for message in messages
        for form in write_request_messages(message, address=heading.address)
    )
    head = {"model": heading.model} if heading.model else {}
    yield from json_text.dump_list(head, "messages", forms)


def write_request_messages(
    message: Message, *, address: Address = blob_address
) -> Iterator[dict[str, Any]]:
    """The messages of a request to OpenAI made from one message: always at least one.

    Every result becomes a message with the role `tool`, the only role that may hold one. Its
    images follow in a user message, because a tool message may hold only text. Reasoning goes
    into `reasoning_content`, or with its provider's signature into litellm's `thinking_blocks`.
    """
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    rest = [part for part in message.parts if not isinstance(part, ToolResult)]
    for result in results:
        yield write_tool_message(result)
    inside = [item for result in results for item in result.content]
    media = [item for item in inside if isinstance(item, Image | File)]
    if media:
        content = [b for item in media for b in write_blocks(item, address)]
        yield {"role": "user", "content": content}
    if rest or not results:
        yield write_spoken(message.role, message.name, rest, address)


def write_tool_message(result: ToolResult) -> dict[str, Any]:
    """A result as text only, as a request to OpenAI requires."""
    words = write_content([item for item in result.content if isinstance(item, Text)])
    if not result.call_id:
        return {"role": "function", "name": result.name or "", "content": words}
    form = {"role": "tool", "tool_call_id": result.call_id, "content": words}
    return form | ({"name": result.name} if result.name else {})


def write_spoken(
    role: Role, name: str | None, parts: Sequence[Part], address: Address
) -> dict[str, Any]:
    """A message of these parts, which include no results."""
    calls = [part for part in parts if isinstance(part, ToolCall)]
    others = [part for part in parts if not isinstance(part, ToolCall)]
    spoken = [b for part in others for b in write_blocks(part, address)]
    is_text = len(spoken) == 1 and spoken[0]["type"] == "text"
    form: dict[str, Any] = {"role": str(Role.USER if role is Role.TOOL else role)}
    if name:
        form["name"] = name
    silent = None if calls else ""
    form["content"] = spoken[0]["text"] if is_text else spoken or silent
    form.update(_reasoning([part for part in others if isinstance(part, Thinking)]))
    if len(calls) == 1 and not calls[0].id:
        form["function_call"] = write_call(calls[0])["function"]
    elif calls:
        form["tool_calls"] = [write_call(call) for call in calls]
    return form


def _reasoning(given: list[Thinking]) -> dict[str, Any]:
    """The members for reasoning; only the text, if a provider other than Anthropic signed it."""
    thoughts = [
        thought if thought.signer in (None, "anthropic") else Thinking(thought.text)
        for thought in given
        if thought.signer in (None, "anthropic") or thought.text
    ]
    if not thoughts:
        return {}
    if thoughts == [Thinking(thoughts[0].text)]:  # neither signed nor encrypted
        return {"reasoning_content": thoughts[0].text}
    return {"thinking_blocks": [blocks.write_thinking(thought) for thought in thoughts]}
