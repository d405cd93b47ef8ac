"""When a message may be empty: if its source says so, never because it was not understood.

A message without parts is right if its content is null, "" or an empty list of blocks. If it has
no content, or what was said is in a member that is not read, it is refused at that place.
`ContentCheckedItems` checks the messages of every format for this: where a parser finds nothing
although the record says something, the record is kept whole with a warning. So a tool that renames
a member loses nothing.
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
"""The code of the refusal, and of the warning if a file's message is kept whole instead."""
CALLS = "toolInvocations"
"""The member with the calls in the AI SDK's older messages, beside their text."""
SPEECH_MEMBERS = (
    *("parts", "tool_calls", CALLS, "function_call", "text", "message", "value"),
    *("blocks", "thinking", "reasoning", "reasoning_content", "thinking_blocks"),
    *("refusal", "audio", "body", "input", "output", "result", "tool_results"),
)
"""Members in which programs put what was said, in some form."""


def require_calls_read(message: dict[str, Any], at: Place) -> None:
    """Raise Invalid if a message whose text is read has calls that would be lost."""
    if message.get(CALLS):
        raise _unread(CALLS, at)


def require_content(
    message: dict[str, Any], at: Place, read: Collection[str] = ()
) -> None:
    """Raise Invalid unless a message from which nothing was read says itself that it is empty.

    `read` names the members, besides `content`, that were read.
    """
    for name in SPEECH_MEMBERS:
        if message.get(name) and (name not in read):
            raise _unread(name, at)
    if "content" not in message and not any(name in message for name in read):
        words = "A message has `content`, a text or a list of blocks."
        raise Invalid(words, at=(*at, "content"), code=NOT_UNDERSTOOD)


def kept_whole(given: JSON, error: Invalid, record: str) -> Message | None:
    """A file's message that was refused because it was not understood, as one opaque part.

    Returns None if it was refused for another reason.
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


CONTENT_MEMBERS = frozenset(
    {"content", "parts", "text", "value", "message", "blocks", "body", "thinking"}
)
"""Members that hold what is said: if all are empty, the message itself says it is empty."""
LABEL_MEMBERS = frozenset(
    {"type", "kind", "id", "role", "name", "state", "status", "signature"}
)
"""Members whose strings are not text that somebody wrote."""
MAX_EXAMINED_BYTES = 1 << 20
"""The size in bytes of the longest record that is examined."""
_PLACE = re.compile(r"bytes:(\d+)-(\d+)")


@dataclass(frozen=True, slots=True)
class ContentCheckedItems:
    """The items of a transcript, in which a message is empty only if it is empty in its file."""

    items: Iterable[Message | Event | Compaction]
    warnings: list[Warning]
    file: BinaryIO

    def __iter__(self) -> Iterator[Message | Event | Compaction]:
        for item in self.items:
            if type(item) is Message and not item.parts:
                yield self._checked(item)
            else:
                yield item

    def _checked(self, message: Message) -> Message:
        for record in message.records:
            place = _PLACE.fullmatch(record)
            if place is None or int(place[2]) - int(place[1]) > MAX_EXAMINED_BYTES:
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


def with_content_checked(transcript: Transcript, file: BinaryIO) -> Transcript:
    """The transcript with its items wrapped in `ContentCheckedItems`; the file must stay open."""
    items = ContentCheckedItems(transcript.items, transcript.warnings, file)
    return replace(transcript, items=items)


def says_something(record: JSON) -> bool:
    """Whether a record says something.

    That is a text in one of the `CONTENT_MEMBERS` or, if it has none of these, a string of two
    words or more anywhere.
    """
    contents = list(_contents(record))
    if contents:
        return any(text.strip() for held in contents for text in _texts(held))
    return any(len(text.split(None, 1)) > 1 for text in _texts(record))


def _contents(value: JSON) -> Iterator[JSON]:
    """The values of the `CONTENT_MEMBERS` members; of nested ones, only the innermost."""
    if isinstance(value, list):
        for held in value:
            yield from _contents(held)
    elif isinstance(value, dict):
        for name, held in value.items():
            inner = list(_contents(held))
            yield from inner
            if name in CONTENT_MEMBERS and not inner:
                yield held


def _texts(value: JSON) -> Iterator[str]:
    """The strings in a value, except those in `LABEL_MEMBERS` members."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, held in value.items():
            if name not in LABEL_MEMBERS:
                yield from _texts(held)
    elif isinstance(value, list):
        for held in value:
            yield from _texts(held)
