"""Outgoing messages for tests of the steps; one token per character."""

from collections.abc import Sequence
from typing import Any

from operations.domain.providers.request import Outgoing
from threads.domain.message import Role
from threads.domain.part import Part, Text, ToolCall, ToolResult


def count(parts: Sequence[Part]) -> int:
    """One token per character of texts, results, and names of calls."""
    total = 0
    for part in parts:
        match part:
            case ToolResult():
                total += count(part.content)
            case Text(text):
                total += len(text)
            case ToolCall():
                total += len(part.name)
    return total


def out(index: int, group: int, /, *parts: Part | str, **fields: Any) -> Outgoing:
    """An original; a string is a text part."""
    made = tuple(Text(part) if isinstance(part, str) else part for part in parts)
    of_tool = any(isinstance(part, ToolResult) for part in made)
    given = {
        "key": f"m{index}",
        "node": f"m{index}",
        "role": Role.TOOL if of_tool else Role.USER,
        "parts": made,
        "tokens": count(made),
        "group": group,
        "groups": frozenset((group,)),
        "strategy": "openai",
        "index": index,
    }
    return Outgoing(**(given | fields))


def fold(number: int, groups: Sequence[int], text: str = "folded") -> Outgoing:
    """The replacement that a digest shows for messages of these groups."""
    return out(
        0,
        groups[0],
        text,
        key=f"o{number}.0",
        node=f"o{number}",
        index=None,
        kind="digest",
        groups=frozenset(groups),
    )


def inserted(number: int, group: int, text: str = "inserted") -> Outgoing:
    key = f"o{number}.0"
    return out(0, group, text, key=key, node=key, index=None, kind="insert")


def result(length: int, *, letter: str = "x") -> ToolResult:
    """A result of this many characters."""
    return ToolResult("call", (Text(letter * length),))


def keys_of(messages: Sequence[Outgoing]) -> list[str]:
    return [message.key for message in messages]
