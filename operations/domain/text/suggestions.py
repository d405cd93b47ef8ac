"""Suggests patterns worth replacing: stack traces, and the output of package managers.

Lines are recognised by how they begin; lines of one family that are close together form a block.
A block is suggested by its first and last lines, if these match only blocks. The cost is one pass
over the text, plus a plain search for each of the few patterns that are offered.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from operations.domain.tree.key import Key

from .pattern import Pattern, find_matches
from .reading import PartReading
from .resolution import Readings

SMALLEST = 200
"""The minimum length of a block, in characters."""
MAX_SUGGESTIONS = 20
"""The most suggestions for one thread; the largest are kept."""
MAX_MARKER_LENGTH = 200
"""The maximum length of a start or an end, in characters."""
MAX_QUOTED_LENGTH = 80
"""How many characters of a block a replacement quotes."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A pattern to offer: its family, the key of its first match, and the least it removes."""

    kind: str
    title: str
    pattern: Pattern
    key: Key
    length: int
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Family:
    """A family of lines that belong together: how they begin, how many are needed, how close.

    Up to `gap` other lines may stand between two of them. `head` includes the line before them,
    `tail` everything up to the next line that is not indented.
    """

    title: str
    begins: str
    least: int = 4
    gap: int = 1
    head: bool = False
    tail: bool = False


class _Block(NamedTuple):
    reading: PartReading
    start: int
    end: int
    family: str


_FAMILIES = {
    "python": _Family(
        title="Python stack trace",
        begins=r"[ \t|]{0,12}(?:Traceback \(most recent call last\):|"
        r"File \"[^\"\n]{1,400}\", line \d)",
        least=2,
        gap=3,
        tail=True,
    ),
    "frames": _Family(
        title="Stack trace",
        begins=r"[ \t]{1,12}at [\w.$<(/]|[ \t]{1,12}\.\.\. \d{1,5} more|Caused by: ",
        least=3,
        head=True,
    ),
    "go": _Family(
        title="Go stack trace",
        begins=r"goroutine \d{1,9} \[|panic: |created by |\t/[^\n]{1,400}\.go:\d",
        least=3,
        gap=2,
    ),
    "pip": _Family(
        title="pip output",
        begins=r"[ \t]{0,4}(?:Collecting |Downloading |Using cached |Requirement already "
        r"satisfied|Installing (?:build|collected|backend)|Building wheels? |Created wheel|"
        r"Preparing (?:metadata|wheel)|Getting requirements|Attempting uninstall|"
        r"Found existing installation|Uninstalling |Successfully (?:un)?(?:installed|built) |"
        r"Stored in directory|Obtaining dependency|(?:Resolved|Prepared|Installed|Audited) \d|"
        r"[+-] [\w.-]{1,100}==|━)",
    ),
    "npm": _Family(
        title="npm output",
        begins=r"npm (?:warn|WARN|notice|http|info|verb|timing|error|ERR!)|(?:added|removed|"
        r"changed|audited) \d|up to date|found \d{1,9} vulnerab|\d{1,9} packages are looking|"
        r"  run `npm |\[\d/\d\] |Progress: resolved|Packages: [+-]|yarn (?:install|add|run) v|"
        r"warning [\w@\"]|[├└]─",
    ),
    "apt": _Family(
        title="apt output",
        begins=r"(?:Get|Hit|Ign|Err):\d|Fetched |Reading (?:package|state)|\(Reading database|"
        r"Building dependency|Preparing to unpack|Unpacking |Setting up |Selecting prev|"
        r"Processing triggers|Need to get|After this operation|The following |"
        r"\d{1,9} (?:upgraded|newly installed)|debconf: |update-alternatives: |Created symlink",
    ),
    "cargo": _Family(
        title="cargo output",
        begins=r"[ \t]{0,12}(?:Compiling|Downloading|Downloaded|Updating|Checking|Locking|Adding|"
        r"Fresh|Finished|Building|Installed|Installing|Blocking) [\w`\[]",
    ),
    "go modules": _Family(
        title="go output",
        begins=r"go: (?:downloading|finding|extracting|added|upgraded) ",
    ),
}
_LINE = re.compile(
    r"^(?!\n)(?:"  # empty lines start nothing, and there may be millions
    + "|".join(
        f"(?P<f{place}>{family.begins})"
        for place, family in enumerate(_FAMILIES.values())
    )
    + ")",
    re.MULTILINE,
)
_NAMES = tuple(_FAMILIES)


def suggest(readings: Readings) -> list[Suggestion]:
    """Patterns for long output that nobody reads, the largest first."""
    found: dict[tuple[str, str], list[_Block]] = {}
    blocks = set()
    for reading in readings():
        for block in _blocks(reading):
            blocks.add((reading.key, reading.part, block.start, block.end))
            markers = _markers(block)
            if markers is not None and not reading.holders(block.start, block.end):
                found.setdefault(markers, []).append(block)
    largest = sorted(found.items(), key=lambda item: -_total(item[1]))[
        : 2 * MAX_SUGGESTIONS
    ]
    patterns = [Pattern(start=start, end=end) for (start, end), _ in largest]
    suggestions = []
    for (_, alike), hits in zip(
        largest, find_matches(readings(), patterns), strict=True
    ):
        places = [(*match.place, match.start, match.end) for match in hits.matches]
        if blocks.issuperset(places):
            suggestions.append(_suggestion(alike, len(places)))
    return suggestions[:MAX_SUGGESTIONS]


def _blocks(reading: PartReading) -> Iterator[_Block]:
    """The blocks of a text: runs of lines of one family."""
    text = reading.text
    lines: list[tuple[int, int, str]] = []
    for line in _LINE.finditer(text):
        name = _NAMES[int((line.lastgroup or "f0")[1:])]
        if lines and not _is_next(text, lines[-1], line.start(), name):
            yield from _block(reading, lines)
            lines = []
        lines.append((line.start(), _line_end(text, line.end()), name))
    yield from _block(reading, lines)


def _is_next(text: str, last: tuple[int, int, str], start: int, name: str) -> bool:
    """Whether a line continues the block that `last` belongs to."""
    if last[2] != name:
        return False
    at = last[1]
    for _ in range(_FAMILIES[name].gap + 1):
        if at + 1 >= start:
            return True
        at = _line_end(text, at + 1)
    return False


def _block(reading: PartReading, lines: list[tuple[int, int, str]]) -> Iterator[_Block]:
    if not lines or len(lines) < _FAMILIES[lines[0][2]].least:
        return
    family, text = _FAMILIES[lines[0][2]], reading.text
    start, end = lines[0][0], lines[-1][1]
    if family.head and start:
        start = text.rfind("\n", 0, start - 1) + 1
    while family.tail and end < len(text):
        indented = text[end + 1 : end + 2].isspace()
        end = _line_end(text, end + 1)
        if not indented:
            break
    if end - start >= SMALLEST:
        yield _Block(reading, start, end, lines[0][2])


def _markers(block: _Block) -> tuple[str, str] | None:
    """A start and an end that match exactly the block; None if there are none."""
    lines = block.reading.text[block.start : block.end].split("\n")
    text = "\n".join(lines)
    start = "\n".join(lines[:2])[:MAX_MARKER_LENGTH]
    for count in (1, 2, 3):
        end = "\n".join(lines[-count:])[-MAX_MARKER_LENGTH:]
        if end and text.find(end, len(start)) == len(text) - len(end):
            return start, end
    return None


def _suggestion(blocks: list[_Block], count: int) -> Suggestion:
    first = blocks[0]
    family = _FAMILIES[first.family]
    text = first.reading.text[first.start : first.end]
    start, end = _markers(first) or ("", "")
    pattern = Pattern(
        start=start, end=end, replacement=_replacement(family, text), every=count > 1
    )
    return Suggestion(
        first.family, family.title, pattern, first.reading.key, _total(blocks), count
    )


def _replacement(family: _Family, text: str) -> str:
    """Name the family, the number of lines and the most telling line: an error, or the last."""
    lines = text.strip("\n").split("\n")
    words = lines[0 if family.head else -1].strip()
    if len(words) > MAX_QUOTED_LENGTH:
        words = f"{words[: MAX_QUOTED_LENGTH - 1]}…"
    return f"[{family.title}, {len(lines):,} lines: {words}]"


def _total(blocks: list[_Block]) -> int:
    return sum(block.end - block.start for block in blocks)


def _line_end(text: str, place: int) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end
