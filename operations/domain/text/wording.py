"""Turns a message into one text for a person to edit, and the edited text into parts."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import ceil

from threads.domain.part import Part, Text, ToolCall, ToolResult


def words_of(parts: Sequence[Part]) -> str:
    """The text of a message that a person edits: its own, or else that of its tool results."""
    return "\n\n".join(_texts(parts))


def reworded(parts: Sequence[Part], text: str) -> tuple[Part, ...]:
    """The parts with new text: the first text is replaced, the other texts are removed.

    Calls, images and reasoning stay as they are, and so do the ids of a result, so that a revised
    message still fits its neighbours.
    """
    if any(isinstance(part, Text) for part in parts):
        return _replaced(parts, text)
    found: list[Part] = []
    waiting = True
    for part in parts:
        if isinstance(part, ToolResult):
            content = _replaced(part.content, text) if waiting else ()
            # Only a text is added to what the result held before, so the content stays valid.
            part = replace(part, content=content)  # type: ignore[arg-type]
            waiting = False
        found.append(part)
    if not waiting:
        return tuple(found)
    return (*parts, Text(text)) if text else tuple(parts)


def condensed(parts: Sequence[Part], text: str) -> tuple[Part, ...]:
    """The parts of a message that says only this: nothing but its calls, and ids of results."""
    kept = [
        replace(part, content=()) if isinstance(part, ToolResult) else part
        for part in parts
        if isinstance(part, ToolCall | ToolResult)
    ]
    has_results = any(isinstance(part, ToolResult) for part in kept)
    return reworded(kept if has_results else [Text(""), *kept], text)


LINE = 100
"""Characters per line, about as many as a marker has room for."""
SHOWN, CAPPED = 6, 10
"""How many lines are shown of a text that has more than `CAPPED`."""


def first_lines(texts: Iterable[str]) -> tuple[str, int]:
    """The first lines of consecutive texts, and how many lines they have in all.

    The first is empty if all lines may be shown.
    """
    lines: list[str] = []
    count = 0
    for text in texts:
        for line in filter(str.strip, text.splitlines()):
            rows = ceil(len(line) / LINE)
            if count < SHOWN:
                lines.append(line[: (SHOWN - count) * LINE])
            count += rows
    return ("\n".join(lines) if count > CAPPED else "", count)


def _texts(parts: Sequence[Part]) -> list[str]:
    words = [part.text for part in parts if isinstance(part, Text)]
    if words:
        return words
    results = (part.content for part in parts if isinstance(part, ToolResult))
    return [
        item.text for content in results for item in content if isinstance(item, Text)
    ]


def _replaced(parts: Sequence[Part], text: str) -> tuple[Part, ...]:
    """Put one text in the place of the first, or before all parts if there was none."""
    kept = [part for part in parts if not isinstance(part, Text)]
    first = next(
        (place for place, part in enumerate(parts) if isinstance(part, Text)), 0
    )
    return (*kept[:first], Text(text), *kept[first:])
