"""A digest made without a model: what was asked, done and answered last, by rule.

It quotes and counts and never infers. A model or a person writes a better one; this one is
there at once and can't be wrong about what was said.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from threads.domain.message import Role, starts_group
from threads.domain.part import Part, Text, ToolCall, ToolResult

from .left_out import left_out

LONGEST_LINE = 160
"""Characters that are quoted of one message."""
MOST_REQUESTS = 12
MOST_NAMES = 12
"""How many requests, and how many of each kind of name, are listed."""


@dataclass(frozen=True, slots=True)
class OutlinedMessage:
    """A message by its index: who speaks, and what."""

    index: int
    role: Role
    parts: tuple[Part, ...]


def outline(messages: Sequence[OutlinedMessage]) -> str:
    """The outline of at least one message, a few lines of Markdown."""
    first, last = messages[0].index, messages[-1].index
    lines = [f"Messages {first} to {last}, outlined by rule, without a model."]
    lines += _requests(messages)
    lines += _calls(messages)
    named = left_out([message.parts for message in messages], "")
    for title, names in (("Files", named.paths), ("Commands", named.commands)):
        if names:
            lines.append(f"{title}: {_some(names)}")
    lines += _last_words(messages)
    return "\n".join(lines)


def _requests(messages: Sequence[OutlinedMessage]) -> list[str]:
    """What was asked, a line each: the first ones and the last."""
    asked = [
        f"- {_quoted(message)} (message {message.index})"
        for message in messages
        if starts_group(message.role, message.parts) and _words(message)
    ]
    if not asked:
        return []
    if len(asked) > MOST_REQUESTS:
        left = len(asked) - MOST_REQUESTS
        asked = [*asked[: MOST_REQUESTS - 1], f"- … {left} more …", asked[-1]]
    return ["Asked:", *asked]


def _calls(messages: Sequence[OutlinedMessage]) -> list[str]:
    parts = [part for message in messages for part in message.parts]
    calls = Counter(part.name for part in parts if isinstance(part, ToolCall))
    if not calls:
        return []
    failed = sum(isinstance(part, ToolResult) and part.is_error for part in parts)
    words = _some([f"{name} ×{count}" for name, count in calls.most_common()])
    return [f"Tools: {words}" + (f"; {failed} failed" if failed else "")]


def _last_words(messages: Sequence[OutlinedMessage]) -> list[str]:
    for message in reversed(messages):
        if message.role is Role.ASSISTANT and _words(message):
            return [f"Last answer (message {message.index}): {_quoted(message)}"]
    return []


def _some(names: Sequence[str]) -> str:
    left = len(names) - MOST_NAMES
    more = f", … {left} more" if left > 0 else ""
    return ", ".join(names[:MOST_NAMES]) + more


def _quoted(message: OutlinedMessage) -> str:
    words = _words(message)
    return words if len(words) <= LONGEST_LINE else f"{words[: LONGEST_LINE - 1]}…"


def _words(message: OutlinedMessage) -> str:
    """The text of a message on one line."""
    texts = (part.text for part in message.parts if isinstance(part, Text))
    return " ".join(" ".join(texts).split())
