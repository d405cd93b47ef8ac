"""Terminal output: colours become classes, all other control sequences are removed.

A small terminal of one line: SGR sets the style (ECMA-48 8.3.117), carriage return, backspace,
"cursor forward", "cursor column" and "erase in line" move in the line; OSC, DCS, and every other
sequence are dropped. What a person at the terminal would not have seen, because it was overwritten
or was in a dropped sequence, is counted and reported: a model has read it.

Colours are the 16 and the 256 of xterm; 24-bit colours are mapped to the nearest of these. If a
background is set the foreground is not, so that no pair of colours can hide text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Any

from threads.rendering.cut import OUTPUT, Limit, cut, fold_text, shortened
from threads.rendering.safe import escape

_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)(?P<parameters>[0-?]{0,64})[ -/]*(?P<final>[@-~])"
    r"|(?:\x1b\]|\x9d)(?P<command>[^\x07\x1b\n\x90\x98\x9b-\x9f]*(?:\x07|\x1b\\|\x9c))"
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])(?P<string>[^\x1b\n\x90\x98\x9b-\x9f]*(?:\x1b\\|\x9c))"
    r"|\x1b[ -/]*[0-OQ-WYZ`-~]"
    r"|(?P<motion>[\r\b])"
)
_TERMINAL = re.compile(r"[\x1b\x08\x90\x98\x9b\x9d-\x9f]|\r(?!\n)")
_MOTION = re.compile(r"[\r\b]|(?:\x1b\[|\x9b)[0-9;]*[CGK]")
_SETTINGS: dict[int, dict[str, Any]] = {
    1: {"bold": True},
    2: {"dim": True},
    3: {"italic": True},
    4: {"underline": True},
    7: {"inverse": True},
    9: {"strike": True},
    21: {"underline": True},
    22: {"bold": False, "dim": False},
    23: {"italic": False},
    24: {"underline": False},
    27: {"inverse": False},
    29: {"strike": False},
    39: {"foreground": None},
    49: {"background": None},
    **{30 + colour: {"foreground": colour} for colour in range(8)},
    **{40 + colour: {"background": colour} for colour in range(8)},
    **{90 + colour: {"foreground": colour + 8} for colour in range(8)},
    **{100 + colour: {"background": colour + 8} for colour in range(8)},
}
"""How each number of an SGR sequence changes a style; 0, 38 and 48 are handled separately."""
WIDEST = 256
"""The farthest column a cursor can move to, and the most blanks it can leave."""


@dataclass(frozen=True, slots=True)
class Style:
    """The style of the following characters; colours are indexes into xterm's palette."""

    foreground: int | None = None
    background: int | None = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    inverse: bool = False
    strike: bool = False

    @property
    def classes(self) -> str:
        """The classes of `static/css/base/body.css`; empty for the plain style."""
        front, back = self.foreground, self.background
        if self.inverse:
            front, back = back, front if front is not None else 7
        names = [
            f"a-{name}"
            for name in ("bold", "dim", "italic", "underline", "strike")
            if getattr(self, name)
        ]
        if back is not None:
            names.append(f"a-g{back}")
        elif front is not None:
            names.append(f"a-f{front}")
        return " ".join(names)


PLAIN = Style()


def is_terminal(text: str) -> bool:
    """Whether `text` has terminal control characters: escapes, backspaces, overwritten lines."""
    return _TERMINAL.search(text) is not None


def strip(text: str) -> str:
    """`text` without terminal sequences; overwritten text stays."""
    return _SEQUENCE.sub(lambda match: " " if match["motion"] == "\r" else "", text)


def render(text: str, *, limit: Limit = OUTPUT) -> str:
    """Terminal output as HTML, folded after `limit`, with a note of how much it would hide."""
    text = text.replace("\r\n", "\n").rstrip("\n")
    start, note, end = shortened(text, "output")
    terminal = Terminal()

    def draw(piece: str) -> str:
        written = terminal.write(piece)
        return f'<pre class="output ansi" dir="ltr"><code>{written}</code></pre>'

    html = fold_text(*cut(start, limit), draw)
    if note:
        html += note + draw(end)
    if count := terminal.concealed:
        what = "1 character doesn't" if count == 1 else f"{count:,} characters don't"
        html += (
            f'<p class="note">{what} show on a terminal: overwritten, or part of a control'
            " sequence.</p>"
        )
    return html


class Terminal:
    """The current style, and how many written characters would never be seen."""

    def __init__(self) -> None:
        self.style = PLAIN
        self.concealed = 0

    def write(self, text: str) -> str:
        """The HTML of `text`; the style carries over to the next call."""
        html = []
        for line in text.removesuffix("\n").split("\n"):
            if _MOTION.search(line):
                runs = groupby(self._cells(line), key=itemgetter(1))
                drawn = [_run("".join(c for c, _ in run), style) for style, run in runs]
            else:
                pieces = (one for one in self._pieces(line) if isinstance(one, str))
                drawn = [_run(piece, self.style) for piece in pieces]
            html.append("".join(drawn))
        return "\n".join(html)

    def _pieces(self, line: str) -> Iterator[str | re.Match[str]]:
        """Text and cursor movements; applies SGR sequences and drops all others."""
        position = 0
        for match in _SEQUENCE.finditer(line):
            if match.start() > position:
                yield line[position : match.start()]
            position = match.end()
            if match["final"] == "m":
                self.style = _styled(self.style, match["parameters"])
            elif match["motion"] or match["final"] in ("C", "G", "K"):
                yield match
            else:
                self.concealed += len(match["command"] or match["string"] or "")
        if position < len(line):
            yield line[position:]

    def _cells(self, line: str) -> list[tuple[str, Style]]:
        cells: list[tuple[str, Style]] = []
        column = 0
        for piece in self._pieces(line):
            if isinstance(piece, str):
                column = min(column, len(cells) + WIDEST)
                cells += [(" ", PLAIN)] * (column - len(cells))
                end = column + len(piece)
                self._conceal(cells[column:end], piece)
                cells[column:end] = [(character, self.style) for character in piece]
                column = end
            elif piece["final"] == "K":
                erased = 0 if piece["parameters"] == "2" else column
                if piece["parameters"] != "1":
                    self._conceal(cells[erased:], "")
                    del cells[erased:]
            else:
                column = _column(piece, column)
        return cells

    def _conceal(self, cells: list[tuple[str, Style]], piece: str) -> None:
        self.concealed += sum(
            1
            for place, (character, _) in enumerate(cells)
            if not character.isspace() and character != piece[place : place + 1]
        )


def _column(match: re.Match[str], column: int) -> int:
    if match["motion"]:
        return 0 if match["motion"] == "\r" else max(column - 1, 0)
    count = int(match["parameters"]) if match["parameters"].isdecimal() else 1
    moved = column + count if match["final"] == "C" else count - 1
    return max(moved, 0) if moved <= max(WIDEST, column) else column


def _styled(style: Style, parameters: str) -> Style:
    numbers = [
        int(word) if word.isdecimal() and len(word) < 4 else 0
        for word in re.split("[;:]", parameters.replace("::", ":"))
    ]
    while numbers:
        number = numbers.pop(0)
        if number == 0:
            style = PLAIN
        elif number == 38:
            style = replace(style, foreground=_extended(numbers))
        elif number == 48:
            style = replace(style, background=_extended(numbers))
        elif number in _SETTINGS:
            style = replace(style, **_SETTINGS[number])
    return style


def _extended(numbers: list[int]) -> int | None:
    """The colour after 38 or 48; takes its numbers from the list."""
    kind = numbers.pop(0) if numbers else None
    if kind == 5 and numbers:
        return min(numbers.pop(0), 255)
    if kind == 2 and len(numbers) >= 3:
        red, green, blue = numbers[:3]
        del numbers[:3]
        return nearest(red, green, blue)
    numbers.clear()  # the rest belongs to an incomplete colour
    return None


def nearest(red: int, green: int, blue: int) -> int:
    """The index in xterm's palette (16 … 255) that is nearest to a colour given as three bytes."""
    if max(red, green, blue) - min(red, green, blue) < 10:
        level = (red + green + blue) // 3
        if level < 4:
            return 16
        return 231 if level > 246 else 232 + min((level - 3) // 10, 23)
    steps = [
        0 if value < 48 else 1 if value < 115 else min((value - 35) // 40, 5)
        for value in (red, green, blue)
    ]
    return 16 + 36 * steps[0] + 6 * steps[1] + steps[2]


def _run(text: str, style: Style) -> str:
    shown = escape(text)
    classes = style.classes
    return f'<span class="{classes}">{shown}</span>' if classes and text else shown
