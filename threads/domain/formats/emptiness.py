"""When a message may be empty: where its source says so, never because it was not understood.

A message without parts is right where its content is null, "" or no blocks. Where it has none, or
what was said stands in a member that is not read, it is refused at that place. `Understood` holds
every format's messages against that: what a parser finds nothing in, though its record says
something, is kept whole with a warning, so that a tool that renames a member loses nothing.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from contextstudio.accounts.domain.errors import Invalid, Place
from threads.domain.message import Message, Role
from threads.domain.part import JSON, Opaque, ToolResult
from threads.domain.transcript import Compaction, Event, Transcript, Warning

from .io import fields, source
from .io.source import ByteSpan

NOT_UNDERSTOOD = "message_not_understood"
"""The code of the refusal; of a file's message that is kept whole instead, of its warning."""
CALLS = "toolInvocations"
"""The calls of the AI SDK's older messages, which stand beside a text."""
SPEAKING = (
    *("parts", "tool_calls", CALLS, "function_call", "text", "message", "value"),
    *("blocks", "thinking", "reasoning", "reasoning_content", "thinking_blocks"),
    *("refusal", "audio", "body", "input", "output", "result", "tool_results"),
)
"""Members in which programs put what was said, in one form or another."""


def require_calls_read(message: dict[str, Any], at: Place) -> None:
    """Raise Invalid at calls that would be lost beside a text that is read."""
    if message.get(CALLS):
        raise _unread(CALLS, at)


def require_content(
    message: dict[str, Any], at: Place, read: Collection[str] = ()
) -> None:
    """Raise Invalid unless a message of which nothing was read is empty by its own account.

    `read` are the members, beside `content`, in which it might have said something.
    """
    for name in SPEAKING:
        if message.get(name) and (name not in read):
            raise _unread(name, at)
    if "content" not in message and not any(name in message for name in read):
        words = "A message has `content`, a text or a list of blocks."
        raise Invalid(words, at=(*at, "content"), code=NOT_UNDERSTOOD)


def kept_whole(given: JSON, error: Invalid, record: str) -> Message | None:
    """The message of a file that was refused for want of understanding, as one opaque part.

    None where it was refused for another reason.
    """
    if error.code != NOT_UNDERSTOOD:
        return None
    said = fields.text(given, "role")
    role = Role.TOOL if said == "function" else Role(said)
    whole = Opaque("message", given)
    if role is Role.TOOL:
        result = ToolResult(fields.text(given, "tool_call_id"), (whole,))
        return Message(role=role, parts=(result,), records=(record,))
    return Message(role=role, parts=(whole,), records=(record,))


def _unread(name: str, at: Place) -> Invalid:
    words = f"What is said in `{name}` is not read. Give it as `content`"
    words += " or `tool_calls`." if name == CALLS else "."
    return Invalid(words, at=(*at, name), code=NOT_UNDERSTOOD)


# Messages of any format


CONTENTS = frozenset(
    {"content", "parts", "text", "value", "message", "blocks", "body", "thinking"}
)
"""Members that hold what is said: where all are empty, the message is so by its own account."""
NAMING = frozenset(
    {"type", "kind", "id", "role", "name", "state", "status", "signature"}
)
"""Members whose strings are no text."""
MOST = 1 << 20
"""Bytes of the longest record that is looked into."""
_PLACE = re.compile(r"bytes:(\d+)-(\d+)")


@dataclass(frozen=True, slots=True)
class Understood:
    """The items of a transcript, in which no message is empty that isn't so in its file."""

    items: Iterable[Message | Event | Compaction]
    warnings: list[Warning]
    file: BinaryIO

    def __iter__(self) -> Iterator[Message | Event | Compaction]:
        for item in self.items:
            if type(item) is Message and not item.parts:
                yield self._judged(item)
            else:
                yield item

    def _judged(self, message: Message) -> Message:
        for record in message.records:
            place = _PLACE.fullmatch(record)
            if place is None or int(place[2]) - int(place[1]) > MOST:
                continue
            try:
                span = ByteSpan(int(place[1]), int(place[2]))
                value = source.read_span(self.file, span)
            except Invalid:
                continue
            if says_something(value):
                words = f"At {record}: Nothing of this message was understood."
                self.warnings.append(Warning(NOT_UNDERSTOOD, words))
                return replace(message, parts=(Opaque("message", value),))
        return message


def understood(transcript: Transcript, file: BinaryIO) -> Transcript:
    """The transcript with such items; the file must stay open."""
    items = Understood(transcript.items, transcript.warnings, file)
    return replace(transcript, items=items)


def says_something(record: JSON) -> bool:
    """Whether a record holds a text in a member for what is said, or has none but holds words."""
    contents = list(_contents(record))
    if contents:
        return any(text.strip() for held in contents for text in _texts(held))
    return any(len(text.split(None, 1)) > 1 for text in _texts(record))


def _contents(value: JSON) -> Iterator[JSON]:
    """What the members for what is said hold; of one in another the inner."""
    if isinstance(value, list):
        for held in value:
            yield from _contents(held)
    elif isinstance(value, dict):
        for name, held in value.items():
            inner = list(_contents(held))
            yield from inner
            if name in CONTENTS and not inner:
                yield held


def _texts(value: JSON) -> Iterator[str]:
    """The strings in a value, but for what only names or signs something."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, held in value.items():
            if name not in NAMING:
                yield from _texts(held)
    elif isinstance(value, list):
        for held in value:
            yield from _texts(held)
