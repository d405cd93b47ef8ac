"""Anthropic Messages: reading what clients and files hold.

Source: docs.anthropic.com/en/api/messages.
"""

from collections.abc import Iterator

from contextstudio.accounts.domain.errors import Invalid, Place
from threads.domain.formats import blocks
from threads.domain.formats.format import Format, Writer
from threads.domain.formats.io import fields
from threads.domain.formats.kit import chat
from threads.domain.formats.kit.chat_items import ChatDialect
from threads.domain.formats.requests import RequestForm
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role, Usage
from threads.domain.part import JSON

from .writing import join, write, write_pieces

ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}
OWN_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking"})


def read_messages(
    messages: JSON, *, system: JSON = None, at: Place = ("messages",)
) -> list[Message]:
    """The messages of a request, its `system` first where there is one.

    Raises Invalid at the place that is malformed.
    """
    found = fields.require(messages, list, "a list of messages", at)
    head = [*read_system(system)]
    return head + [
        read_message(message, at=(*at, i)) for i, message in enumerate(found)
    ]


def read_system(system: JSON) -> Iterator[Message]:
    """The message of a request's `system`, text or blocks; none where it is empty."""
    if parts := blocks.read_content(system, ("system",)):
        yield Message(role=Role.SYSTEM, parts=parts)


def read_message(
    message: JSON, *, at: Place = (), records: tuple[str, ...] = ()
) -> Message:
    """One message, of a request or of a response. Raises Invalid with the place."""
    fields.require(message, dict, "a message", at)
    role = ROLES.get(fields.text(message, "role"))
    if role is None:
        raise Invalid(
            "A message's role is user, assistant or system.", at=(*at, "role")
        )
    return Message(
        role=role,
        parts=blocks.read_content(message.get("content"), (*at, "content")),
        model=fields.word(message, "model") or None,
        source_id=fields.word(message, "id") or None,
        created_at=fields.moment(message.get("timestamp") or message.get("created_at")),
        usage=read_usage(message.get("usage")),
        records=records,
    )


def read_reply(response: JSON) -> Message | None:
    """The message that a response is; None where it is none (an error)."""
    if fields.text(response, "role") != "assistant":
        return None
    return read_message(response, at=("response",))


def read_usage(usage: JSON) -> Usage | None:
    """The `usage` of a response; what was cached or written to the cache is input too."""
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


# Files


def _score(sample: Sample) -> float:
    """0.8 where its own blocks are, 0.7 for a top-level `system`; nothing of OpenAI's."""
    messages = chat.opening(sample, ROLES)
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
    return 0.7 if any("system" in chat.opened(row) for row in sample.rows) else 0


DIALECT = ChatDialect("anthropic", read_message, read_reply, strategy="anthropic")
FORMAT = Format(
    name="anthropic",
    label="a list of Anthropic messages",
    score=_score,
    read=lambda file, _name: chat.read(file, DIALECT),
    is_general=True,
)
WRITER = Writer("Anthropic (messages)", "json", "application/json", write)
REQUEST = RequestForm(
    read=read_message, write=write_pieces, join=join, has_system=True, has_ids=True
)
