"""Splits texts into passages: one vector can represent a short text, but not a long one."""

LENGTH = 500
"""The length of a passage in characters."""
MAX_PASSAGES = 12
"""The most passages of a text. Of a longer text, its beginning and its end are taken."""
_AT_THE_END = 3
_LOOKED_BACK = 2
"""A line end is looked for in the last 1/`_LOOKED_BACK` of a passage."""

Stretch = tuple[int, int]
"""The position of a passage in its text: start and end."""


def passages(
    text: str, length: int = LENGTH, most: int = MAX_PASSAGES
) -> list[Stretch]:
    """The passages of a text that are not blank, in order, at most `most`."""
    start, found = 0, list[Stretch]()
    while start < len(text):
        end = _end(text, start, length)
        if text[start:end].strip():
            found.append((start, end))
        start = end
    if len(found) > most:
        at_the_end = min(_AT_THE_END, most - 1)
        found[most - at_the_end : len(found) - at_the_end] = []
    return found


def _end(text: str, start: int, length: int) -> int:
    """Where the passage that begins at `start` ends: between lines or words, if possible."""
    end = start + length
    if end >= len(text):
        return len(text)
    first = end - length // _LOOKED_BACK
    for between in ("\n", " "):
        at = text.rfind(between, max(first, start), end)
        if at >= 0:
            return at + 1
    return end
