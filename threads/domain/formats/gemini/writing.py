"""Writes the body of a request to the Gemini API.

System messages at the top become `systemInstruction`; one further down is a user's text in a frame.
The results of one turn's calls are in the single content after it, as the API requires. Signatures
of thoughts are sent only if they are Gemini's, because a provider refuses another's. Left out is
what has no place in the form: opaque blocks of others, the names of files, empty messages.

Source: ai.google.dev/api/generate-content.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from threads.domain.formats.anthropic.messages import FRAME
from threads.domain.formats.arguments import object_of
from threads.domain.formats.format import Heading
from threads.domain.formats.io import base64_text, json_text
from threads.domain.formats.requests import (
    SYSTEM,
    SYSTEM_GAP,
    split_system,
)
from threads.domain.message import Message, Role
from threads.domain.part import (
    File,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    signer_of,
)

Block = dict[str, Any]
STRATEGIES = frozenset({"gemini", "gemini_gca"})
"""Parsing strategies of messages by Gemini: only their signatures are sent."""
OWN_PARTS = frozenset(
    {"executableCode", "codeExecutionResult", "toolCall", "toolResponse"}
)
"""Opaque parts that are Gemini's own, so they may be written in its form."""
SIGNABLE = Text | ToolCall | Image | File
"""Parts to which a signature directly before them is attached."""


def write(messages: Iterable[Message], heading: Heading) -> Iterator[bytes]:
    """A request's `{"systemInstruction", "contents"}`, one content per line, with inline media."""
    system, rest = split_system(messages, heading.system)
    words = SYSTEM_GAP.join(text for message in system if (text := message.text))
    head = {"systemInstruction": {"parts": [{"text": words}]}} if words else {}
    yield from json_text.dump_list(head, "contents", _contents(rest, heading))


def _contents(messages: Iterable[Message], heading: Heading) -> Iterator[Block]:
    """The contents of a request, with the results of one turn joined, without empty messages."""
    held: Block | None = None
    names: dict[str, str] = {}
    for message in messages:
        content = write_content(message, heading, names)
        if not content["parts"]:
            continue
        if held and _is_answer(held) and _is_answer(content):
            held["parts"] += content["parts"]
            continue
        if held:
            yield held
        held = content
    if held:
        yield held


def _is_answer(content: Block) -> bool:
    return all("functionResponse" in part for part in content["parts"])


def write_content(message: Message, heading: Heading, names: dict[str, str]) -> Block:
    """The content of one message; the tool name of each call is added to `names` by call id."""
    role = "model" if message.role is Role.ASSISTANT else "user"
    if message.role in SYSTEM:
        text = message.text
        return {"role": role, "parts": [{"text": FRAME.format(text)}] if text else []}
    parts: list[Block] = []
    signature: str | None = None
    for part in message.parts:
        if signature and not isinstance(part, SIGNABLE):
            parts.append({"text": "", "thoughtSignature": signature})
            signature = None
        if isinstance(part, Thinking) and not part.text:
            is_own = signer_of(part, heading.strategy) in STRATEGIES
            signature = (part.data or part.signature) if is_own else None
            continue
        if written := _part(part, heading, names):
            signed = {"thoughtSignature": signature} if signature else {}
            parts.append(written | signed)
            signature = None
    if signature:
        parts.append({"text": "", "thoughtSignature": signature})
    return {"role": role, "parts": parts}


def _part(part: Part, heading: Heading, names: dict[str, str]) -> Block | None:
    match part:
        case Text(text) if text:
            return {"text": text}
        case Thinking(text, signature):
            is_own = bool(signature) and signer_of(part, heading.strategy) in STRATEGIES
            return {"text": text, "thought": True} | (
                {"thoughtSignature": signature} if is_own else {}
            )
        case ToolCall(id_, name, arguments):
            names[id_] = name
            call = {"name": name, "args": object_of(arguments)}
            return {"functionCall": _with_id(id_, call)}
        case ToolResult():
            return {"functionResponse": _response(part, heading, names)}
        case Image() | File():
            return _media(part, heading)
        case Opaque(type_, data) if type_ in OWN_PARTS and isinstance(data, dict):
            return data
    return None


def _with_id(id_: str, form: Block) -> Block:
    return {"id": id_, **form} if id_ else form


def _response(result: ToolResult, heading: Heading, names: dict[str, str]) -> Block:
    texts = [
        item.text for item in result.content if isinstance(item, Text) and item.text
    ]
    media = [item for item in result.content if isinstance(item, Image | File)]
    name = result.name or names.get(result.call_id) or "tool"
    said = {"error" if result.is_error else "output": "\n\n".join(texts)}
    form = _with_id(result.call_id, {"name": name, "response": said})
    if media:
        form["parts"] = [_media(item, heading) for item in media]
    return form


def _media(part: Image | File, heading: Heading) -> Block:
    data = heading.data(part)
    if data is None:
        place = {"mimeType": part.media_type, "fileUri": heading.address(part)}
        return {"fileData": place}
    words = base64_text.encode(data)
    return {"inlineData": {"mimeType": part.media_type, "data": words}}
