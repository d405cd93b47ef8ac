"""How much of a text is shown open, how much is folded below it, how much is left out.

Sizes are counted in characters and lines of the text, on the server, so that a fold is never empty
and a page never measures.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .safe import escape, visible

SPARE_LINES = 4
SPARE_SIZE = 400
"""No fold is made that would hide fewer lines than this and no more characters."""

TEXT_LIMIT = 256 * 1024
"""A longer text shows only `HEAD` characters from its start and `TAIL` from its end."""
HEAD = 96 * 1024
TAIL = 32 * 1024
HTML_LIMIT = 1_000_000
"""Characters of HTML after which all pieces of a message but the last are left out."""
LINE = 160
"""The length of the one line of a closed card, in characters."""


@dataclass(frozen=True, slots=True)
class Limit:
    """How much of a text is shown open: whichever limit is reached first."""

    lines: int
    size: int


PROSE = Limit(80, 16 * 1024)
OUTPUT = Limit(40, 8 * 1024)


def cut(text: str, limit: Limit) -> tuple[str, str]:
    """Split a text into the part shown open and the folded part, which may be empty.

    The cut is after a line, or inside the first line if that alone exceeds the limit.
    """
    end = 0
    for _ in range(limit.lines):
        following = text.find("\n", end) + 1
        if following == 0:
            following = len(text)
        if following > limit.size:
            break
        end = following
        if end == len(text):
            return text, ""
    end = end or limit.size
    rest = text[end:]
    if len(rest) <= SPARE_SIZE and count_lines(rest) < SPARE_LINES:
        return text, ""
    return text[:end], rest


def shorten(text: str) -> tuple[str, int, str]:
    """Start, number of characters left out, and end; (`text`, 0, "") up to `TEXT_LIMIT`."""
    if len(text) <= TEXT_LIMIT:
        return text, 0, ""
    return text[:HEAD], len(text) - HEAD - TAIL, text[-TAIL:]


def shortened(text: str, what: str) -> tuple[str, str, str]:
    """Like `shorten`, with a note of how much of `what` is left out instead of the number."""
    start, omitted, end = shorten(text)
    return start, left_out(f"{readable(omitted)} of {what}") if omitted else "", end


def left_out(what: str) -> str:
    """The note shown where something is left out; `what` is plain text."""
    return f'<p class="note">{escape(what)} left out here. Open raw shows all.</p>'


def fold(shown: str, rest: str, *, lines: int, size: int, what: str = "more") -> str:
    """HTML of `shown` with `rest` folded below it. `lines` and `size` are those of `rest`."""
    if not rest:
        return shown
    how_much = f"{lines:,} {what} lines" if lines > 1 else "the rest"
    return (
        f'{shown}<details class="more"><summary><span class="when-closed">Show {how_much}</span>'
        f'<span class="when-open">Show less</span> <span class="size">{readable(size)}</span>'
        f"</summary>{rest}</details>"
    )


def fold_text(shown: str, rest: str, draw: Callable[[str], str]) -> str:
    """The two pieces from `cut`, made into HTML by `draw`, the second one folded."""
    drawn = draw(shown)
    if not rest:
        return drawn
    return fold(drawn, draw(rest), lines=count_lines(rest), size=len(rest))


def readable(size: int) -> str:
    """A number of characters or bytes in readable form: `9.2 KB`."""
    if size < 1000:
        return f"{size} B"
    if size < 1_000_000:
        return f"{size / 1000:,.1f} KB"
    return f"{size / 1_000_000:,.1f} MB"


def count_lines(text: str) -> int:
    """The number of lines; a line feed at the end doesn't begin another."""
    return text.count("\n") + (not text.endswith("\n"))


def one_line(text: str, length: int = LINE) -> str:
    """The first line of a text, hidden characters visible, at most `length` characters long."""
    start = text[: 4 * length].strip()
    first = start.split("\n", 1)[0].rstrip()
    shown = visible(first)
    if first == start and len(shown) <= length and len(text) <= 4 * length:
        return shown
    return shown[: length - 1] + "…"


def bounded(pieces: Sequence[Callable[[], str]]) -> list[str]:
    """The HTML of each piece; once `HTML_LIMIT` is reached, only that of the last.

    A note replaces the first piece that is left out; the others become empty.
    """
    made: list[str] = []
    size = 0
    for place, make in enumerate(pieces):
        if size > HTML_LIMIT and place < len(pieces) - 1:
            count = len(pieces) - 1 - place
            note = left_out(f"{count:,} part{'s' if count != 1 else ''}")
            return [*made, note, *[""] * (count - 1), pieces[-1]()]
        made.append(make())
        size += len(made[-1])
    return made
