"""Anthropic Messages: the form of a request.

The messages at the top that are the system's become `system`; one further down is a user's
text in a frame. Results stand first in one user's message behind the calls that they answer:
where a transcript holds them one by one, they are joined. Reasoning without its signature is left
out, for the provider refuses it, and so are blocks that are not Anthropic's.

Source: docs.anthropic.com/en/api/messages.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from threads.domain.formats import blocks
from threads.domain.formats.format import Heading
from threads.domain.formats.io import base64_text, json_text
from threads.domain.formats.kit.calls import CallIds
from threads.domain.formats.requests import (
    SYSTEM,
    RequestPiece,
    arguments_object,
    split_system,
    system_words,
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
)

Block = dict[str, Any]
OWN_BLOCKS = frozenset(
    {"server_tool_use", "web_search_tool_result", "web_fetch_tool_result"}
    | {"mcp_tool_use", "mcp_tool_result", "search_result", "tool_reference"}
    | {"code_execution_tool_result", "bash_code_execution_tool_result"}
    | {"text_editor_code_execution_tool_result", "container_upload"}
    | {"compaction", "image", "document"}
)
"""Opaque blocks that are Anthropic's own, so that they may be written to its form."""
FRAME = "<system_message>\n{}\n</system_message>"
"""A message of the system's where none may stand, as a user's text."""


def write(messages: Iterable[Message], heading: Heading) -> Iterator[bytes]:
    """A request's `{"model", "system", "messages"}`, a message a line, with its images inline."""
    system, rest = split_system(messages, heading.system)
    head = {"model": heading.model, "system": system_words(system)}
    said = {name: words for name, words in head.items() if words}
    ids = CallIds()
    pieces = (
        piece for message in rest for piece in write_pieces(ids.given(message), heading)
    )
    yield from json_text.dump_list(said, "messages", join(pieces))


def write_pieces(message: Message, heading: Heading) -> Iterator[RequestPiece]:
    """A message whose calls have ids, by itself; nothing where nothing of it can be sent.

    The system's is framed as a user's, and results stand first.
    """
    role = "assistant" if message.role is Role.ASSISTANT else "user"
    if message.role in SYSTEM:
        words = message.text
        content = [{"type": "text", "text": FRAME.format(words)}] if words else []
    else:
        content = [b for part in message.parts for b in _write_part(part, heading)]
    if content:
        joins = role == "user" and any(map(_is_result, content))
        yield RequestPiece(_form({"role": role}, content), joins)


def join(pieces: Iterable[RequestPiece]) -> Iterator[Block]:
    """The pieces as the messages of a request: results go into a user's message before them."""
    held: list[Block] = []
    for form, joins in pieces:
        if joins and held and held[0]["role"] == form["role"]:
            held.append(form)
            continue
        yield from _joined(held)
        held = [form]
    yield from _joined(held)


def _joined(forms: list[Block]) -> Iterator[Block]:
    if len(forms) > 1:
        yield _form(forms[0], [block for form in forms for block in _blocks(form)])
    else:
        yield from forms


def _form(form: Block, content: list[Block]) -> Block:
    """A message with its results first, and content that is one text as a string."""
    ordered: list[Block] | str = sorted(
        content, key=lambda block: not _is_result(block)
    )
    if len(content) == 1 and content[0]["type"] == "text":
        ordered = content[0]["text"]
    return {**form, "content": ordered}


def _blocks(form: Block) -> list[Block]:
    """The blocks of a message, be it one of ours or one that a client gave."""
    content = form.get("content") or []
    return [
        {"type": "text", "text": block} if isinstance(block, str) else block
        for block in ([content] if isinstance(content, str) else content)
    ]


def _is_result(block: Block) -> bool:
    return bool(block["type"] == "tool_result")


def _write_part(part: Part, heading: Heading) -> Iterator[Block]:
    match part:
        case Text(text) if text.strip():
            yield {"type": "text", "text": text}
        case Thinking(_, signature, data) if signature is not None or data is not None:
            yield blocks.write_thinking(part)
        case ToolCall():
            input_ = arguments_object(part.arguments)
            form = {"type": "tool_use", "id": part.id, "name": part.name}
            yield {**form, "input": input_}
        case ToolResult():
            yield _result(part, heading)
        case Image() | File():
            yield _media(part, heading)
        case Opaque(type_, {"type": said} as data) if said == type_ in OWN_BLOCKS:
            yield data


def _result(part: ToolResult, heading: Heading) -> Block:
    content = [block for item in part.content for block in _write_part(item, heading)]
    form: Block = {"type": "tool_result", "tool_use_id": part.call_id}
    if len(content) == 1 and content[0]["type"] == "text":
        form["content"] = content[0]["text"]
    elif content:
        form["content"] = content
    return form | ({"is_error": True} if part.is_error else {})


def _media(part: Image | File, heading: Heading) -> Block:
    data = heading.data(part)
    source = {"type": "url", "url": heading.address(part)}
    if data is not None and isinstance(part, File) and part.media_type == "text/plain":
        words = data.decode("utf-8", "replace")
        source = {"type": "text", "media_type": "text/plain", "data": words}
    elif data is not None:
        words = base64_text.encode(data)
        source = {"type": "base64", "media_type": part.media_type, "data": words}
    if isinstance(part, Image):
        return {"type": "image", "source": source}
    return {"type": "document", "source": source} | (
        {"title": part.name} if part.name else {}
    )
