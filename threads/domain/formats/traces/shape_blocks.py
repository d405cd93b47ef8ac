"""Content blocks of agent frameworks, in any dialect.

LangChain, the AI SDK, OpenTelemetry's GenAI conventions and others write the providers' blocks, and
blocks of their own that mean the same: a call is `tool_call`, `tool-call`, `tool_use` or
`function_call`, its arguments `args`, `input` or `arguments`. One table reads them all; other
blocks are kept whole. Nothing here raises: traces hold whatever a program wrote.

Sources: LangChain `messages/content.py`, OpenTelemetry `gen-ai-input-messages.json`,
the AI SDK's `ModelMessage`, and the providers' own (`blocks`).
"""

from base64 import b64encode
from collections.abc import Iterator
from typing import Any

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats import arguments, blocks
from threads.domain.formats.gemini import parts as gemini_parts
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
TEXTS = frozenset({"text", "input_text", "output_text", "text-plain"})
THOUGHTS = {"reasoning", "thinking", "redacted_thinking", "reasoning_content"}
CALLS = frozenset(
    {"tool_call", "tool-call", "tool_use", "function_call", "server_tool_call"}
    | {"server_tool_use", "invalid_tool_call", "custom_tool_call"}
)
RESULTS = frozenset(
    {"tool_result", "tool-result", "tool_call_response", "function_call_output"}
    | {"server_tool_result", "server_tool_call_response", "tool-error"}
)
IDS = ("tool_use_id", "tool_call_id", "toolCallId", "call_id", "id")
"""Members with the id of a call; in an item of OpenAI's Responses, `id` is the item's own."""
NAMES = ("name", "toolName", "tool_name")
ARGUMENTS = ("args", "input", "arguments")
_OPTIONS = {"providerOptions"}
ANSWERS = ("content", "response", "result", "output")
GEMINI = frozenset(
    {"text", "functionCall", "function_call", "inlineData", "inline_data"}
) | {*("functionResponse", "function_response", "fileData", "file_data", "thought")}
"""Members of Gemini's parts, which have no `type`."""


def read_blocks(content: JSON) -> tuple[Part, ...]:
    """The parts of a content: text, a block, or a list of both; empty text is not a part."""
    found = content if isinstance(content, list) else [content]
    return tuple(part for block in found for part in _read(block))


def read_call(call: JSON) -> ToolCall | None:
    """A call in any shape, including OpenAI's `function`; None if it isn't one."""
    inner = fields.mapping(call, "function") or fields.mapping(call, "custom")
    name = fields.text(inner, *NAMES) or fields.text(call, *NAMES)
    if not name and not isinstance(fields.mapping(call).get("function"), str):
        return None
    name = name or call["function"]
    held = [inner.get(n, fields.mapping(call).get(n)) for n in ARGUMENTS]
    given: JSON = next((value for value in held if value is not None), {})
    return arguments.read_call(read_id(call, *IDS), name, given)


def read_id(record: JSON, *names: str) -> str:
    """The first of these ids; if it is a list (a run's and the call's), the last in it."""
    for name in names:
        value = fields.mapping(record).get(name)
        if isinstance(value, list) and value:
            value = value[-1]
        if isinstance(value, str) and value:
            return value
    return ""


def read_result(block: Block, call_id: str, name: str) -> ToolResult:
    """A tool's result: text, blocks, or a value that is written as JSON."""
    answer = next((block[n] for n in ANSWERS if block.get(n) is not None), None)
    failed = block.get("is_error") is True or block.get("isError") is True
    failed = failed or fields.text(block, "status") == "error"
    is_error = failed or fields.text(block, "type") == "tool-error"
    if answer is None and is_error:
        answer = block.get("error")
    return ToolResult(call_id, read_answer(answer), name or None, is_error)


def read_answer(answer: JSON) -> tuple[Text | Image | File | Opaque, ...]:
    """A tool's answer as the parts of a result."""
    if isinstance(answer, dict) and {"type", "value"} == answer.keys() - _OPTIONS:
        answer = answer["value"]  # the AI SDK's
    is_blocks = isinstance(answer, list) and all(
        isinstance(block, str) or fields.text(block, "type") for block in answer
    )
    if is_blocks or (isinstance(answer, dict) and fields.text(answer, "type") in TEXTS):
        found = read_blocks(answer)
        return tuple(p for p in found if isinstance(p, Text | Image | File | Opaque))
    words = spelled(answer)
    return (Text(words),) if words else ()


def spelled(value: JSON) -> str:
    """A value as text: a string itself, else its JSON; empty for null."""
    if isinstance(value, str):
        return value
    return "" if value is None else json_text.dump(value).decode()


def _read(block: JSON) -> Iterator[Part]:
    if isinstance(block, str):
        yield from (Text(block),) if block else ()
    elif isinstance(block, dict):
        kind = fields.text(block, "type")
        if not kind and block.keys() & GEMINI:
            yield from gemini_parts.read_parts(block, (), _NoIds())
        elif (part := _part(block, kind)) and part != Text(""):
            yield part
    elif block is not None:
        yield Text(spelled(block))


class _NoIds(OpenCalls):
    """Leaves calls without ids as they are: they are linked later, with those of other dialects."""

    def begin(self, id_: str, name: str) -> str:
        return id_

    def answer(self, id_: str, name: str | None) -> str:
        return id_


def _part(block: Block, kind: str) -> Part | None:
    if kind in TEXTS:
        return Text(spelled(block.get("text", block.get("content"))))
    if kind in THOUGHTS:
        return _thinking(block)
    if kind in CALLS and (call := read_call(block)):
        return call
    if kind in RESULTS:
        name = fields.text(block, *NAMES)
        return read_result(block, read_id(block, *IDS), name)
    media = _media(untagged(block))
    return media or _provider_s(block) or Opaque(kind or "block", block)


def _thinking(block: Block) -> Thinking | None:
    """Reasoning: its text or summaries, its signature, and its encrypted data; None if empty."""
    extras = fields.mapping(block, "extras")
    summaries = fields.items(block, "summary")
    words = fields.text(block, "thinking", "reasoning", "text", "content")
    texts = (fields.text(one, "text") for one in summaries)
    words = words or "\n\n".join(filter(None, texts))
    signature = fields.text(block, "signature") or fields.text(extras, "signature")
    encrypted = fields.text(block, "encrypted_content", "data")
    if words or signature or encrypted:
        return Thinking(words, signature or None, encrypted or None)
    return None


def untagged(block: Block) -> Block:
    """The block with its bytes or address as text; version 7 of the AI SDK names their kind."""
    held = fields.mapping(block, "data")
    kind = fields.text(held, "type")
    words = fields.text(held, kind) if kind in ("data", "url", "text") else ""
    if not words:
        return block
    if kind == "text":
        words = b64encode(words.encode("utf-8", "surrogatepass")).decode()
    rest = {name: value for name, value in block.items() if name != "data"}
    return {**rest, "url" if kind == "url" else "data": words}


def whole_type(media_type: str) -> str:
    """A media type of which only the first half may be given, as in the AI SDK."""
    return media_type if "/" in media_type or not media_type else f"{media_type}/*"


def _media(block: Block) -> Image | File | None:
    """An image or a file, by bytes or by address, as frameworks write them; else None."""
    kind = fields.text(block, "modality") or fields.text(block, "type")
    type_ = fields.text(block, "mime_type", "mediaType", "mimeType", "media_type")
    type_ = whole_type(type_)
    is_image = kind.startswith("image") or type_.startswith("image/")
    name = fields.text(block, "filename", "file_name", "name") or None
    url = fields.text(block, "url", "uri", "image")
    encoded = fields.text(block, "base64", "data", "content", "image")
    if inline := base64_text.split_data_uri(url or encoded):
        type_, data = inline
    elif url.startswith(("http://", "https://")):
        if is_image:
            return Image(type_ or "image/*", url=url)
        return File(type_ or "application/octet-stream", name, url=url)
    elif not type_ or (data := base64_text.decode(encoded) or b"") == b"":
        return None
    return Image(type_, data=data) if is_image else File(type_, name, data=data)


def _provider_s(block: Block) -> Part | None:
    """The part of a block in a provider's published form; None if it can't be read."""
    try:
        return next(iter(blocks.read_block(block, ())), None)
    except Invalid:
        return None
