"""Texts in passages: one vector says what a short text is about, not what a long one is."""

LENGTH = 500
"""Characters of a passage."""
MOST = 12
"""Passages of a text. Of a longer one these are its beginning and, last, its end."""
_AT_THE_END = 3
_LOOKED_BACK = 2
"""In what part of a passage, counted from its end, a place is looked for where a line ends."""

Stretch = tuple[int, int]
"""Where a passage stands in its text: its start and its end."""


def passages(text: str, length: int = LENGTH, most: int = MOST) -> list[Stretch]:
    """The passages of a text, in order: those that say something, `most` at most."""
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
    """Where the passage ends that begins there: between lines or words, if there are any."""
    end = start + length
    if end >= len(text):
        return len(text)
    first = end - length // _LOOKED_BACK
    for between in ("\n", " "):
        at = text.rfind(between, max(first, start), end)
        if at >= 0:
            return at + 1
    return end
