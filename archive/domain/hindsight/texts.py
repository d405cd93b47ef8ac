"""What of a message's parts is read as its texts, and what of them relies on others."""

from collections.abc import Iterable, Sequence

from threads.domain.message import Role
from threads.domain.part import JSON, Part, Text, ToolCall
from threads.domain.text import pieces_of

_RELIES = (Text, ToolCall)
"""What of an assistant's message is no reasoning and no result."""


def texts_of(parts: Iterable[Part]) -> list[str]:
    """All that is said: words, reasoning, arguments of calls, results."""
    found: list[str] = []
    for part in parts:
        found += pieces_of(part)
        if isinstance(part, ToolCall):
            _add_numbers(part.arguments, found)
    return found


def uses_of(role: str, parts: Sequence[Part]) -> list[str]:
    """What an assistant's message relies on: its words, and the arguments of its calls."""
    if role != Role.ASSISTANT:
        return []
    return texts_of(part for part in parts if isinstance(part, _RELIES))


def read_of(role: str, parts: Sequence[Part]) -> tuple[list[str], list[str]]:
    """Both, read once where an assistant's message relies on all that it says."""
    texts = texts_of(parts)
    if role != Role.ASSISTANT:
        return texts, []
    if all(isinstance(part, _RELIES) for part in parts):
        return texts, texts
    return texts, uses_of(role, parts)


def _add_numbers(value: JSON, found: list[str]) -> None:
    """Add the numbers among arguments, which are no text there."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            if not isinstance(item, str):
                _add_numbers(item, found)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        found.append(str(value))
