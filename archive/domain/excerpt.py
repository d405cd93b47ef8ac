"""What a recall returns of a message: a one-line summary, or the part that a location names."""

import json
from collections.abc import Callable, Iterator, Sequence

from threads.domain.part import File, Image, Part, Text, ToolCall, ToolResult
from threads.domain.text import text_of, whole_text

from .reference import Location

Count = Callable[[str], int]
_MAX_TOKEN_LENGTH = 24
"""Most characters per token in nearly every text; longer text is cut before it is counted."""
_MAX_LENGTH = 80


def summary_of(parts: Sequence[Part]) -> str:
    """The first words of a message, on one line."""
    texts = " ".join(part.text for part in parts if isinstance(part, Text))
    words = " ".join((texts or whole_text(parts)).split())
    return words if len(words) <= _MAX_LENGTH else f"{words[: _MAX_LENGTH - 1]}…"


def at_location(parts: Sequence[Part], location: Location | None) -> str | None:
    """The text of a message, or of the part a location names; None if there is no such part.

    `tool-n` is the nth call or, in a message without calls, the nth result. `match-n` is the nth
    line that is not blank, because search results have one match per line. Images and files are
    listed below the text; a message that holds nothing else would seem empty otherwise.
    """
    text = whole_text(parts)
    if location is None:
        return "\n".join(filter(None, (text, *_not_text(parts))))
    if location.kind == "tool":
        return _tool(parts, location.first)
    if location.kind == "match":
        found = [line for line in text.splitlines() if line.strip()]
        return found[location.first - 1] if location.first <= len(found) else None
    return lines_of(text, location)


def lines_of(text: str, location: Location) -> str | None:
    """The lines of a text that a location names, counted from 1, both ends included.

    None if the text has none of them.
    """
    found = text.splitlines()[location.first - 1 : location.last]
    return "\n".join(found) if found else None


def matching(text: str, search: str) -> list[str]:
    """The lines that contain the search string, ignoring case."""
    wanted = search.casefold()
    return [line for line in text.splitlines() if wanted in line.casefold()]


def within(text: str, most: int, count: Count) -> str:
    """The longest prefix of a text with at most `most` tokens."""
    text = text[: most * _MAX_TOKEN_LENGTH]
    low, high = 0, len(text)
    if count(text) <= most:
        return text
    while low < high:
        middle = (low + high + 1) // 2
        fits = count(text[:middle]) <= most
        low, high = (middle, high) if fits else (low, middle - 1)
    return text[:low]


def _tool(parts: Sequence[Part], number: int) -> str | None:
    calls = [part for part in parts if isinstance(part, ToolCall)]
    results = [part for part in parts if isinstance(part, ToolResult)]
    found: Sequence[Part] = calls or results
    if number > len(found):
        return None
    part = found[number - 1]
    if isinstance(part, ToolCall):
        arguments = json.dumps(part.arguments, ensure_ascii=False, indent=1)
        return f"{part.name} {arguments}"
    return "\n".join(filter(None, (text_of(part), *_not_text((part,)))))


def _not_text(parts: Sequence[Part]) -> Iterator[str]:
    """One line for each image or file in a message, including those in its tool results."""
    for part in parts:
        if isinstance(part, ToolResult):
            yield from _not_text(part.content)
        elif isinstance(part, Image):
            yield f"[An image ({part.media_type}) stands here; only text is recalled.]"
        elif isinstance(part, File):
            named = f'The file "{part.name or "file"}" ({part.media_type})'
            yield f"[{named} stands here; only text is recalled.]"
