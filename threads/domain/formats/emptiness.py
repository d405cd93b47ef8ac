"""When a message may be empty: where its source says so, never because it was not understood.

A message without parts is right where its content is null, "" or no blocks. Where it has none, or
what was said stands in a member that is not read, it is refused at that place.
"""

from collections.abc import Collection
from typing import Any

from contextstudio.accounts.domain.errors import Invalid, Place
from threads.domain.message import Message, Role
from threads.domain.part import JSON, Opaque, ToolResult

from .io import fields

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
