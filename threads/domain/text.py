"""The text of parts, as a person or a model wrote or read it, and search in it.

The text of a part is the words of text and thinking, the strings in the arguments of a call (in
the order of canonical JSON), or the texts of a result. If a part has several such pieces, they are
joined by line breaks, and so are the texts of parts.

Search ignores case, by Unicode's full case folding. A text is folded character by character, so
the fold of a piece is a piece of the fold. Some characters fold to several (`ß` is found by `SS`).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from .part import JSON, Opaque, Part, Text, Thinking, ToolCall, ToolResult

PIECE_SEPARATOR = "\n"
EXCERPT_MARGIN = 80
"""Characters of context on each side of a match in an excerpt."""


def text_of(part: Part) -> str:
    """The text of a part."""
    return PIECE_SEPARATOR.join(pieces_of(part))


def pieces_of(part: Part) -> list[str]:
    """The pieces that make up the text of a part."""
    pieces = _PIECES.get(type(part))
    return pieces(part) if pieces else []


def whole_text(parts: Iterable[Part]) -> str:
    """The searchable text of a message: the texts of its parts, and the names of called tools."""
    return PIECE_SEPARATOR.join(
        piece
        for part in parts
        for piece in ([part.name] if isinstance(part, ToolCall) else [])
        + pieces_of(part)
    )


def _strings(value: JSON) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = [value[name] for name in sorted(value)]
    elif not isinstance(value, list):
        return []
    return [text for item in value for text in _strings(item)]


_PIECES: dict[type, Callable[[Any], list[str]]] = {
    Text: lambda part: [part.text],
    Thinking: lambda part: [part.text],
    ToolCall: lambda part: _strings(part.arguments),
    ToolResult: lambda part: [
        piece for item in part.content for piece in pieces_of(item)
    ],
    Opaque: lambda part: _strings(part.data),
}
"""Map of part type to the pieces of its text; a lookup, because a `match` would take longer."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """An excerpt of a text; `text[start:end]` is the match, in code points."""

    text: str
    start: int
    end: int
    cut_before: bool
    cut_after: bool


def fold(text: str) -> str:
    """The text case-folded, so that upper and lower case are the same."""
    return text.casefold()


def contains(folded_query: str, text: str) -> bool:
    """Whether a text contains a query that is already folded."""
    return folded_query in fold(text)


def places(folded_query: str, text: str) -> list[tuple[int, int]]:
    """Non-overlapping matches of a query, as (start, end) in the unfolded text.

    A character of which only part of the fold matches is included whole.
    """
    folded = fold(text)
    starts: list[int] = []
    at = folded.find(folded_query) if folded_query else -1
    while at >= 0:
        starts.append(at)
        at = folded.find(folded_query, at + len(folded_query))
    if len(folded) == len(text):
        return [(start, start + len(folded_query)) for start in starts]
    return _unfolded(text, [(start, start + len(folded_query)) for start in starts])


def excerpt(folded_query: str, text: str) -> Excerpt:
    """The text around the first match of a query; the beginning of the text if there is none."""
    found = places(folded_query, text)
    start, end = found[0] if found else (0, 0)
    end = min(end, start + 4 * EXCERPT_MARGIN)
    first, last = max(0, start - EXCERPT_MARGIN), min(len(text), end + EXCERPT_MARGIN)
    return Excerpt(
        text[first:last], start - first, end - first, first > 0, last < len(text)
    )


def _unfolded(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans of the folded text as spans of the text itself; both lists ascend."""
    starts, at = [], 0
    for character in text:
        starts.append(at)
        at += len(fold(character))
    starts.append(at)
    found: list[tuple[int, int]] = []
    place = 0
    for start, end in spans:
        while starts[place + 1] <= start:
            place += 1
        last = place
        while starts[last] < end:
            last += 1
        if not found or place >= found[-1][1]:
            found.append((place, last))
    return found
