"""Reads the parts of Gemini's contents: text, thoughts, calls, responses, data.

REST writes names in camelCase; dumps of the Python SDK have snake_case names and bytes in URL-safe
base64. Both are read. `id` is optional in calls and responses: without it, they are linked by the
tool's name and by order.

Sources: ai.google.dev/api/caching#Part, ai.google.dev/gemini-api/docs/thought-signatures.
"""

from collections.abc import Callable, Iterator
from typing import Any

from contextstudio.accounts.domain.errors import Place
from threads.domain.formats.io import base64_text, fields, json_text
from threads.domain.formats.kit.calls import OpenCalls
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

Block = dict[str, Any]

_CAMEL = {
    "inline_data": "inlineData",
    "file_data": "fileData",
    "function_call": "functionCall",
    "function_response": "functionResponse",
    "thought_signature": "thoughtSignature",
    "executable_code": "executableCode",
    "code_execution_result": "codeExecutionResult",
}
_ANSWERS = ("output", "result", "error")
"""Members that are the whole response if it has no others; `result` is the Python SDK's."""
_STANDARD = str.maketrans("-_", "+/")


def read_parts(parts: JSON, at: Place, calls: OpenCalls) -> tuple[Part, ...]:
    """The parts of a content: a string, one part, or a list of them.

    Raises Invalid at the place of a value of the wrong type.
    """
    if parts is None:
        return ()
    found = [parts] if isinstance(parts, str | dict) else parts
    fields.require(found, list, "a list of parts", at)
    return tuple(
        part for i, block in enumerate(found) for part in _read(block, (*at, i), calls)
    )


def _read(block: JSON, at: Place, calls: OpenCalls) -> Iterator[Part]:
    """One part, preceded by its signature if it has one; nothing if it is empty."""
    if isinstance(block, str):
        block = {"text": block}
    fields.require(block, dict, "a part", at)
    block = {_CAMEL.get(name, name): value for name, value in block.items()}
    signature = fields.text(block, "thoughtSignature") or None
    text = fields.text(block, "text")
    if block.get("thought") is True and text:
        yield Thinking(text, signature, signer="gemini" if signature else None)
        return
    if signature:
        yield Thinking("", data=signature, signer="gemini")
    if text:
        yield Text(text)
    for name, reader in _READERS.items():
        if isinstance(found := block.get(name), dict):
            yield reader(found, calls) or Opaque(name, {name: found})
            return
    others = {
        name: value
        for name, value in block.items()
        if name not in ("text", "thought", "thoughtSignature") and value is not None
    }
    if others and not text:
        yield Opaque(next(iter(others)), others)


def _call(call: Block, calls: OpenCalls) -> Part:
    name = fields.text(call, "name")
    id_ = calls.begin(fields.text(call, "id"), name)
    arguments = call.get("args")
    return ToolCall(id_, name, {} if arguments is None else arguments)


def read_response(response: Block, calls: OpenCalls) -> ToolResult:
    """A tool's result: its text (other JSON as text), then its media."""
    name = fields.text(response, "name")
    call_id = calls.answer(fields.text(response, "id"), name)
    words, is_error = read_answer(_bare(response.get("response"), name))
    found = [
        media for part in fields.items(response, "parts") if (media := read_media(part))
    ]
    content = (*((Text(words),) if words else ()), *found)
    return ToolResult(call_id, content, name or None, is_error)


def _bare(response: JSON, name: str) -> JSON:
    """A tool's output, without the object that a client wrapped around it.

    LiteLLM wraps a text as `content`. Vercel's AI SDK wraps any value as `content` or `error`,
    beside the tool's name.
    """
    if not isinstance(response, dict):
        return response
    if response.get("name") == name and response.keys() == {"name", "content"}:
        return response["content"]
    if response.get("name") == name and response.keys() == {"name", "error"}:
        return {"error": response["error"]}
    is_text = response.keys() == {"content"} and isinstance(response["content"], str)
    return response["content"] if is_text else response


def read_answer(response: JSON) -> tuple[str, bool]:
    """The text of a response, and whether it is an error."""
    is_error = False
    if isinstance(response, dict) and len(response) == 1:
        [member] = response
        if member in _ANSWERS:
            response, is_error = response[member], member == "error"
    if isinstance(response, str):
        return response, is_error
    if response is None or response == {}:
        return "", is_error
    return json_text.dump(response).decode(), is_error


def read_media(part: JSON) -> Image | File | None:
    """The image or file of a part; None if it isn't one."""
    block = {
        _CAMEL.get(name, name): value for name, value in fields.mapping(part).items()
    }
    found = _inline(fields.mapping(block, "inlineData"))
    return found or _elsewhere(fields.mapping(block, "fileData"))


def _inline(holder: Block, _calls: OpenCalls | None = None) -> Image | File | None:
    words = "".join(fields.text(holder, "data").translate(_STANDARD).split())
    data = base64_text.decode(words + "=" * (-len(words) % 4))
    if "data" not in holder or data is None:
        return None
    return _media(holder, data=data)


def _elsewhere(holder: Block, _calls: OpenCalls | None = None) -> Image | File | None:
    url = fields.text(holder, "fileUri", "file_uri")
    return _media(holder, url=url) if url else None


def _media(
    holder: Block, *, url: str | None = None, data: bytes | None = None
) -> Image | File:
    media_type = fields.text(holder, "mimeType", "mime_type")
    if media_type.startswith("image/"):
        return Image(media_type, url=url, data=data)
    name = fields.text(holder, "displayName") or None
    return File(media_type or "application/octet-stream", name, url=url, data=data)


_READERS: dict[str, Callable[[Block, OpenCalls], Part | None]] = {
    "functionCall": _call,
    "functionResponse": read_response,
    "inlineData": _inline,
    "fileData": _elsewhere,
}
