"""STATE: what a model keeps of a conversation at the end of its responses."""

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
    """A block of STATE: its words from the heading on, and its fields, empty where it has none."""

    text: str
    goal: str = ""
    context: str = ""
    resolved: str = ""
    technical_anchors: str = ""


def extract(text: str) -> State | None:
    """The last block of STATE in a response; None where it has none.

    A block reaches from its heading to the next heading of its level or above, or to the end.
    What stands in fenced code is no heading.
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
    """STATE of these words, which may begin with the heading."""
    lines = words.strip().split("\n")
    if _is(lines[0]):
        lines = lines[1:]
    body = "\n".join(lines).strip()
    return State(f"{HEADING}\n{body}" if body else HEADING, *_fields(body))


def _is(line: str) -> bool:
    return _HEADING.fullmatch(line) is not None


def _fields(body: str) -> list[str]:
    """The fields in the order of `FIELDS`; one goes on until the next begins."""
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
    """The lines of a text, each with whether it stands outside of fenced code."""
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
