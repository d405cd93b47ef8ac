"""Reads the OpenAI Chat Completions messages of clients and files.

Besides the published form, it understands `reasoning_content` and `reasoning` (DeepSeek, vLLM),
`thinking_blocks` (litellm), tool arguments as an object (data sets), Anthropic blocks in `content`,
the older `function_call` with the role `function`, whose calls have no id, and the messages of the
public API.

Source: platform.openai.com/docs/api-reference/chat/create.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from contextstudio.accounts.domain.errors import Invalid, Place
from threads.domain.formats import blocks, emptiness
from threads.domain.formats.arguments import read_call
from threads.domain.formats.format import Format, Writer
from threads.domain.formats.io import fields, streams
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.kit import spoken
from threads.domain.formats.kit.chats import chat
from threads.domain.formats.kit.chats.chat_items import ChatDialect
from threads.domain.formats.requests import RequestForm, RequestPiece
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role, Usage
from threads.domain.part import JSON, Opaque, Part, Text, Thinking, ToolCall

from . import forms
from .forms import write, write_request_messages

SAID_BY_ASSISTANTS = frozenset(
    {"tool_calls", "function_call", "refusal", "audio"}
    | {"reasoning", "reasoning_content", "thinking_blocks"}
)
"""Members besides `content` in which an assistant's message may say something."""


def read_messages(messages: JSON, *, at: Place = ("messages",)) -> list[Message]:
    """The messages of a request's list. Raises Invalid at the place that is malformed."""
    found = fields.require(messages, list, "a list of messages", at)
    return [read_message(message, at=(*at, i)) for i, message in enumerate(found)]


def read_given_messages(messages: JSON) -> list[Message]:
    """Messages that a client gives for storing. Raises Invalid at the place that is malformed.

    In a file or a provider's request, members such as the time may have any form; here they are
    part of the API, so they are checked.
    """
    found = read_messages(messages)
    for index, given in enumerate(messages):
        at = ("messages", index)
        moment = given.get("created_at")
        if moment is not None and fields.moment(moment) is None:
            raise Invalid(
                "Expected a time here, such as 2026-02-03T04:05:06Z.",
                at=(*at, "created_at"),
            )
        if (usage := given.get("usage")) is not None:
            fields.require(usage, dict, "an object", (*at, "usage"))
    return found


def read_message(
    message: JSON, *, at: Place = (), records: tuple[str, ...] = ()
) -> Message:
    """One message; `content` may be null, text or blocks.

    Raises Invalid with the place of a malformed value, or of content that isn't read.
    """
    return _read(message, at, records, strictly=True)


def read_written(message: JSON) -> Message:
    """A message of a request that we wrote, which may leave out content that has no place in it."""
    return _read(message, (), (), strictly=False)


def _read(
    message: JSON, at: Place, records: tuple[str, ...], *, strictly: bool
) -> Message:
    fields.require(message, dict, "a message", at)
    said = fields.require(message.get("role"), str, "a word", (*at, "role"))
    role = spoken.ROLES.get(said)
    if role is None:
        known = ", ".join(spoken.ROLES)
        raise Invalid(f"A message's role must be one of {known}.", at=(*at, "role"))
    parts = forms.read_public_parts(message, role, at)
    if parts is None:
        parts = _parts(message, role, at)
        if strictly:
            _require_understood(message, role, parts, at)
    return Message(
        role=role,
        parts=parts,
        name=None if role is Role.TOOL else fields.text(message, "name") or None,
        source_id=fields.word(message, "id") or None,
        created_at=fields.moment(message.get("timestamp") or message.get("created_at")),
        usage=read_usage(message.get("usage")),
        records=records,
    )


def _require_understood(
    message: dict[str, Any], role: Role, parts: tuple[Part, ...], at: Place
) -> None:
    """Raise Invalid at content of a message that would be lost."""
    emptiness.require_calls_read(message, at)
    if parts and (role is not Role.TOOL or message.get("content")):
        return
    said = SAID_BY_ASSISTANTS if role is Role.ASSISTANT else frozenset()
    if isinstance(message.get("tool_results"), list):  # the public form
        said |= {"parts"}  # somebody changed the members beside its parts
    emptiness.require_content(message, at, said)


def _parts(message: dict[str, Any], role: Role, at: Place) -> tuple[Part, ...]:
    """The parts of a message, read from OpenAI's own members."""
    if role is Role.TOOL:
        call_id = fields.text(message, "tool_call_id")
        name = fields.text(message, "name") or None
        return (blocks.read_result(message, call_id, at, name=name),)
    parts = blocks.read_content(message.get("content"), (*at, "content"))
    if role is not Role.ASSISTANT:
        return parts
    thinking, words = _thinking(message, at), fields.text(message, "refusal")
    refusal = (
        [Opaque("refusal", {"type": "refusal", "refusal": words})] if words else []
    )
    return (*thinking, *parts, *refusal, *_audio(message), *_calls(message, at))


def _audio(message: dict[str, Any]) -> Iterator[Part]:
    """Audio: its transcript, and the recording, which is kept whole."""
    if audio := fields.mapping(message, "audio"):
        if words := fields.text(audio, "transcript"):
            yield Text(words)
        yield Opaque("audio", {"type": "audio", "audio": audio})


def read_reply(response: JSON) -> Message | None:
    """The message of a response or a stream, with its usage; None without a choice."""
    response = streams.assemble_if_streamed("openai", response)
    choice = next(iter(fields.items(response, "choices")), None)
    if not isinstance(reply := fields.mapping(choice).get("message"), dict):
        return None
    return replace(
        read_message(reply, at=("choices", 0, "message")),
        model=fields.word(response, "model") or None,
        source_id=fields.word(response, "id") or None,
        created_at=fields.moment(response.get("created")),
        usage=read_usage(response.get("usage")),
    )


def read_usage(usage: JSON) -> Usage | None:
    """The `usage` of a response or of a public message; cached tokens are part of the input."""
    if not isinstance(usage, dict):
        return None
    details = fields.mapping(usage, "prompt_tokens_details")
    cached = fields.count(details, "cached_tokens")
    return Usage(
        input_tokens=fields.count(usage, "prompt_tokens", "input_tokens"),
        output_tokens=fields.count(usage, "completion_tokens", "output_tokens"),
        cached_tokens=cached or fields.count(usage, "cached_tokens"),
    )


def _thinking(message: dict[str, Any], at: Place) -> Iterator[Part]:
    signed = fields.items(message, "thinking_blocks")
    for index, block in enumerate(signed):
        yield from blocks.read_block(block, (*at, "thinking_blocks", index))
    words = fields.text(message, "reasoning_content", "reasoning")
    if words and not signed:
        yield Thinking(words)


def _calls(message: dict[str, Any], at: Place) -> Iterator[ToolCall]:
    calls = message.get("tool_calls")
    if calls is not None:
        fields.require(calls, list, "a list of tool calls", (*at, "tool_calls"))
        for index, call in enumerate(calls):
            yield read_tool_call(call, (*at, "tool_calls", index))
    if isinstance(legacy := message.get("function_call"), dict):
        yield _function("", legacy, "arguments", (*at, "function_call"))


def read_tool_call(call: JSON, at: Place) -> ToolCall:
    """A call of `tool_calls`. Raises Invalid at the place that is malformed."""
    fields.require(call, dict, "a tool call", at)
    id_ = fields.text(call, "id")
    if call.get("type") == "custom":
        return _function(id_, call.get("custom"), "input", (*at, "custom"))
    return _function(id_, call.get("function"), "arguments", (*at, "function"))


def _function(id_: str, function: JSON, member: str, at: Place) -> ToolCall:
    fields.require(function, dict, "a function", at)
    name = fields.require(function.get("name"), str, "a word", (*at, "name"))
    given = function.get(member, "")
    call = read_call(id_, name, given)
    # A custom tool's input need not be JSON; it is wrapped where a form demands JSON.
    is_free = member == "input" and isinstance(call.arguments, str)
    return ToolCall(id_, name, given) if is_free else call


# Files


def read_element(row: Element) -> Iterator[Message]:
    """The message of an element of a list. Raises Invalid if it isn't one."""
    yield read_message(row.value, records=(row.record,))


def _score(sample: Sample) -> float:
    """0.5 for a list of roles and contents, more with OpenAI's calls or response.

    Low for a conversation found among other things.
    """
    messages = chat.opening_messages(sample, spoken.ROLES)
    has_choices = any("choices" in chat.message_holder(row) for row in sample.rows)
    if messages or has_choices:
        return _score_of(messages, has_choices)
    scattered = spoken.scattered(sample)
    return spoken.UNSURE * _score_of(scattered) if scattered else 0


def _score_of(messages: list[dict[str, Any]], has_choices: bool = False) -> float:
    marks = ("tool_calls", "tool_call_id", "function_call", "reasoning_content")
    is_native = any(mark in message for message in messages for mark in marks)
    return 0.8 if is_native or has_choices else 0.5


DIALECT = ChatDialect("openai", read_message, read_reply, strategy="openai")
FORMAT = Format(
    name="openai",
    label="a list of chat messages (OpenAI)",
    score=_score,
    read=lambda source, _name: chat.read(source, DIALECT),
    is_general=True,
)
WRITER = Writer("OpenAI messages", "json", "application/json", write)
REQUEST = RequestForm(
    read=read_written,
    write=lambda message, heading: map(
        RequestPiece, write_request_messages(message, address=heading.address)
    ),
    join=lambda pieces: (piece.form for piece in pieces),
    has_system=False,
    has_ids=False,
)
