"""Anthropic Messages: reads the messages of clients and files, and writes requests.

In a request, system messages at the top become `system`; one further down is a user's text in a
frame. Results come first in one user message after the calls that they answer: if a transcript has
them one by one, they are joined. Reasoning without its signature is left out, because the provider
refuses it, and so are blocks that are not Anthropic's.

Source: docs.anthropic.com/en/api/messages.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from contextstudio.accounts.domain.errors import Invalid, Place
from threads.domain.formats import blocks, emptiness
from threads.domain.formats.arguments import object_of
from threads.domain.formats.format import Format, Heading, Writer
from threads.domain.formats.io import base64_text, fields, json_text, streams
from threads.domain.formats.kit import spoken
from threads.domain.formats.kit.calls import CallIds
from threads.domain.formats.kit.chats import chat
from threads.domain.formats.kit.chats.chat_items import ChatDialect
from threads.domain.formats.requests import (
    SYSTEM,
    RequestForm,
    RequestPiece,
    read_system,
    split_system,
    system_words,
)
from threads.domain.formats.sample import Sample
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
    signer_of,
)

Block = dict[str, Any]
ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}
SIGNERS = frozenset({"", "anthropic", "bedrock"})
"""The signers whose signatures Anthropic accepts; empty if the signer isn't known."""
OWN_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking"})
WRITTEN_BLOCKS = frozenset(
    {"server_tool_use", "web_search_tool_result", "web_fetch_tool_result"}
    | {"mcp_tool_use", "mcp_tool_result", "search_result", "tool_reference"}
    | {"code_execution_tool_result", "bash_code_execution_tool_result"}
    | {"text_editor_code_execution_tool_result", "container_upload"}
    | {"compaction", "image", "document"}
)
"""Opaque blocks that are Anthropic's own, so they may be written in its form."""
FRAME = "<system_message>\n{}\n</system_message>"
"""Frames a system message as a user's text, where a system message isn't allowed."""


def read_messages(
    messages: JSON, *, system: JSON = None, at: Place = ("messages",)
) -> list[Message]:
    """The messages of a request, its `system` first if it has one.

    Raises Invalid at the place that is malformed.
    """
    found = fields.require(messages, list, "a list of messages", at)
    head = [*read_system(system)]
    return head + [
        read_message(message, at=(*at, i)) for i, message in enumerate(found)
    ]


def read_message(
    message: JSON, *, at: Place = (), records: tuple[str, ...] = ()
) -> Message:
    """One message, of a request or of a response.

    Raises Invalid with the place of a malformed value, or of content that isn't read.
    """
    fields.require(message, dict, "a message", at)
    role = ROLES.get(fields.text(message, "role"))
    if role is None:
        raise Invalid(
            "A message's role is user, assistant or system.", at=(*at, "role")
        )
    emptiness.require_calls_read(message, at)
    parts = blocks.read_content(message.get("content"), (*at, "content"))
    if not parts:
        emptiness.require_content(message, at)
    return Message(
        role=role,
        parts=parts,
        model=fields.word(message, "model") or None,
        source_id=fields.word(message, "id") or None,
        created_at=fields.moment(message.get("timestamp") or message.get("created_at")),
        usage=read_usage(message.get("usage")),
        records=records,
    )


def read_reply(response: JSON) -> Message | None:
    """The message of a response or a stream; None if it has none (an error)."""
    response = streams.assemble_if_streamed("anthropic", response)
    if fields.text(response, "role") != "assistant":
        return None
    return read_message(response, at=("response",))


def read_usage(usage: JSON) -> Usage | None:
    """The `usage` of a response; cached tokens and cache writes count as input too."""
    if not isinstance(usage, dict):
        return None
    get, count = usage.get, fields.as_count
    cached = count(get("cache_read_input_tokens"))
    written = count(get("cache_creation_input_tokens"))
    return Usage(
        input_tokens=count(get("input_tokens")) + cached + written,
        output_tokens=count(get("output_tokens")),
        cached_tokens=cached,
    )


# Written


def write(messages: Iterable[Message], heading: Heading) -> Iterator[bytes]:
    """A request's `{"model", "system", "messages"}`, one message per line, with inline images."""
    system, rest = split_system(messages, heading.system)
    head = {"model": heading.model, "system": system_words(system)}
    said = {name: words for name, words in head.items() if words}
    ids = CallIds()
    pieces = (
        piece for message in rest for piece in write_pieces(ids.given(message), heading)
    )
    yield from json_text.dump_list(said, "messages", join(pieces))


def write_pieces(message: Message, heading: Heading) -> Iterator[RequestPiece]:
    """A message, whose calls have ids, as one piece; nothing if none of it can be sent.

    A system message is framed as a user's text. Results come first.
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
    """The pieces as the messages of a request: results join a user message before them."""
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
    """A message with its results first; content that is only one text becomes a string."""
    ordered: list[Block] | str = sorted(
        content, key=lambda block: not _is_result(block)
    )
    if len(content) == 1 and content[0]["type"] == "text":
        ordered = content[0]["text"]
    return {**form, "content": ordered}


def _blocks(form: Block) -> list[Block]:
    """The blocks of a message, whether written by us or given by a client."""
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
            if signer_of(part, heading.strategy) in SIGNERS:
                yield blocks.write_thinking(part)
        case ToolCall():
            input_ = object_of(part.arguments)
            form = {"type": "tool_use", "id": part.id, "name": part.name}
            yield {**form, "input": input_}
        case ToolResult():
            yield _result(part, heading)
        case Image() | File():
            yield _media(part, heading)
        case Opaque(type_, {"type": said} as data) if said == type_ in WRITTEN_BLOCKS:
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
    title = {"title": part.name} if part.name else {}
    return {"type": "document", "source": source, **title, **(part.members or {})}


# Files


def _score(sample: Sample) -> float:
    """0.8 with Anthropic's own blocks, 0.7 with a top-level `system`, 0 with OpenAI's calls.

    Low for a conversation found among other things.
    """
    if messages := chat.opening_messages(sample, ROLES):
        return _score_of(messages, sample)
    return spoken.UNSURE * _score_of(spoken.scattered(sample), sample)


def _score_of(messages: list[dict[str, Any]], sample: Sample) -> float:
    kinds = {
        fields.text(block, "type")
        for message in messages
        for block in fields.items(message, "content")
    }
    if not messages or any("tool_calls" in message for message in messages):
        return 0
    is_reply = any(fields.text(message, "type") == "message" for message in messages)
    is_batch = any("custom_id" in row and "params" in row for row in sample.rows)
    if kinds & OWN_BLOCKS or is_reply or is_batch or "requests" in sample.object:
        return 0.8
    return (
        0.7 if any("system" in chat.message_holder(row) for row in sample.rows) else 0
    )


DIALECT = ChatDialect("anthropic", read_message, read_reply, strategy="anthropic")
FORMAT = Format(
    name="anthropic",
    label="a list of Anthropic messages",
    score=_score,
    read=lambda file, _name: chat.read(file, DIALECT),
    is_general=True,
)
WRITER = Writer("Anthropic messages", "json", "application/json", write)
REQUEST = RequestForm(
    read=read_message, write=write_pieces, join=join, has_system=True, has_ids=True
)
