"""Which parts of a message count as its texts, and which as uses of earlier messages."""

from collections.abc import Iterable, Sequence

from threads.domain.message import Role
from threads.domain.part import JSON, Part, Text, ToolCall
from threads.domain.text import pieces_of

_RELIES = (Text, ToolCall)
"""The parts that count as uses; reasoning and results do not."""


def texts_of(parts: Iterable[Part]) -> list[str]:
    """All texts of the parts: words, reasoning, arguments of calls, results."""
    found: list[str] = []
    for part in parts:
        found += pieces_of(part)
        if isinstance(part, ToolCall):
            _add_numbers(part.arguments, found)
    return found


def uses_of(role: str, parts: Sequence[Part]) -> list[str]:
    """The uses of an assistant's message: its words and the arguments of its calls.

    Empty for other roles.
    """
    if role != Role.ASSISTANT:
        return []
    return texts_of(part for part in parts if isinstance(part, _RELIES))


def read_of(role: str, parts: Sequence[Part]) -> tuple[list[str], list[str]]:
    """`texts_of` and `uses_of`, as one shared list if all of an assistant's message is uses."""
    texts = texts_of(parts)
    if role != Role.ASSISTANT:
        return texts, []
    if all(isinstance(part, _RELIES) for part in parts):
        return texts, texts
    return texts, uses_of(role, parts)


def _add_numbers(value: JSON, found: list[str]) -> None:
    """Append the numbers in a call's arguments, which are JSON numbers and not text."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            if not isinstance(item, str):
                _add_numbers(item, found)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        found.append(str(value))
