"""STATE: the block in which a model keeps track of a conversation at the end of its responses."""

import re
from collections.abc import Iterator
from typing import NamedTuple

HEADING = "### STATE"
FIELDS = ("Goal", "Context", "Resolved", "Technical Anchors")
_HEADING = re.compile(r"#{3}[ \t]+STATE[ \t]*#*[ \t]*:?[ \t]*")
_OTHER_HEADING = re.compile(r"#{1,3}[ \t]+\S")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_FIELD = re.compile(
    rf"[ \t]*(?:[-*][ \t]+)?(?:\*\*)?({'|'.join(FIELDS)})(?:\*\*)?[ \t]*:(?:\*\*)?[ \t]*(.*)",
    re.IGNORECASE,
)


class State(NamedTuple):
    """A block of STATE: its text from the heading on, and its fields, empty if missing."""

    text: str
    goal: str = ""
    context: str = ""
    resolved: str = ""
    technical_anchors: str = ""


def extract(text: str) -> State | None:
    """The last block of STATE in a response; None if there is none.

    A block extends from its heading to the next heading of its level or above, or to the end.
    Headings inside fenced code don't count.
    """
    if HEADING[4:] not in text:
        return None
    lines = list(_outside(text))
    starts = [place for place, (line, plain) in enumerate(lines) if plain and _is(line)]
    if not starts:
        return None
    start = starts[-1]
    end = next(
        (
            place
            for place in range(start + 1, len(lines))
            if lines[place][1] and _OTHER_HEADING.match(lines[place][0])
        ),
        len(lines),
    )
    return read_state("\n".join(line for line, _ in lines[start + 1 : end]))


def read_state(words: str) -> State:
    """Parse the text of a STATE block, which may begin with the heading."""
    lines = words.strip().split("\n")
    if _is(lines[0]):
        lines = lines[1:]
    body = "\n".join(lines).strip()
    return State(f"{HEADING}\n{body}" if body else HEADING, *_fields(body))


def _is(line: str) -> bool:
    return _HEADING.fullmatch(line) is not None


def _fields(body: str) -> list[str]:
    """The fields in the order of `FIELDS`; each continues until the next begins."""
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line, plain in _outside(body):
        match = _FIELD.fullmatch(line) if plain else None
        if match:
            current = found.setdefault(match[1].lower(), [])
            current.append(match[2])
        else:
            current.append(line)
    return ["\n".join(found.get(name.lower(), ())).strip() for name in FIELDS]


def _outside(text: str) -> Iterator[tuple[str, bool]]:
    """The lines of a text, each with whether it is outside fenced code."""
    fence = ""
    for line in text.replace("\r\n", "\n").split("\n"):
        match = _FENCE.fullmatch(line)
        if fence:
            yield line, False
            closes = match and match[1].startswith(fence) and not match[2].strip()
            fence = "" if closes else fence
        elif match and not ("`" in match[1] and "`" in match[2]):
            fence = match[1]
            yield line, False
        else:
            yield line, True
