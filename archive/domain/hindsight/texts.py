"""What of a message's parts is read as its texts, and what of them relies on others."""

from collections.abc import Iterable, Iterator, Sequence

from threads.domain.message import Role
from threads.domain.part import JSON, Part, Text, ToolCall
from threads.domain.text import pieces_of


def texts_of(parts: Iterable[Part]) -> list[str]:
    """All that is said: words, reasoning, arguments of calls, results."""
    found: list[str] = []
    for part in parts:
        found += pieces_of(part)
        if isinstance(part, ToolCall):
            found += _numbers(part.arguments)
    return found


def uses_of(role: str, parts: Sequence[Part]) -> list[str]:
    """What an assistant's message relies on: its words, and the arguments of its calls."""
    if role != Role.ASSISTANT:
        return []
    return texts_of(part for part in parts if isinstance(part, Text | ToolCall))


def read_of(role: str, parts: Sequence[Part]) -> tuple[list[str], list[str]]:
    """Both, read once where an assistant's message relies on all that it says."""
    texts = texts_of(parts)
    if role == Role.ASSISTANT and all(
        isinstance(part, Text | ToolCall) for part in parts
    ):
        return texts, texts
    return texts, uses_of(role, parts)


def _numbers(value: JSON) -> Iterator[str]:
    """The numbers among arguments, which are no text there."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _numbers(item)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
