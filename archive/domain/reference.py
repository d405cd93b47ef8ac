"""References: `nexora://<project>/<session>/<message>[:<location>]` and its short forms.

`_` is the current project and `current` the current session. A bare `msg-…` or a key (`m12`,
`o7.0`) means a message of the current session. A reference may be wrapped in `[recall:…]`.
"""

import re
from dataclasses import dataclass

SCHEME = "nexora://"
_WRAPPED = re.compile(r"\[recall:(.*)\]", re.DOTALL)
_SHORT = re.compile(
    r"(?P<message>msg-[0-9a-f]{4,8}|m\d{1,9}|o\d{1,9}\.\d{1,9})(?::(?P<location>\S+))?"
)
_SESSION = re.compile(r"[0-9a-f]{8}(-?[0-9a-f]{1,4}){0,6}")
_LINES = re.compile(r"L?(\d{1,9})(?:-L?(\d{1,9}))?")
_PLACE = re.compile(r"(match|tool)-(\d{1,9})")


@dataclass(frozen=True, slots=True)
class Location:
    """A part of a message's text: lines `first` to `last`, or the nth match or call; from 1."""

    kind: str
    first: int
    last: int

    def __str__(self) -> str:
        if self.kind != "lines":
            return f"{self.kind}-{self.first}"
        return f"L{self.first}-{self.last}"


@dataclass(frozen=True, slots=True)
class RecallReference:
    """What a reference names; None means the current project or session.

    `session` is a prefix of a session's id in hex digits; `message` is a short id, a prefix of
    one, or a key.
    """

    message: str
    session: str | None = None
    project: str | None = None
    location: Location | None = None


def read_reference(text: str) -> RecallReference | None:
    """Parse a reference; None if the text isn't one."""
    text = text.strip()
    if wrapped := _WRAPPED.fullmatch(text):
        text = wrapped[1].strip()
    project, session, rest = None, None, text
    if text.startswith(SCHEME):
        pieces = text.removeprefix(SCHEME).split("/")
        if len(pieces) != 3 or not pieces[0]:
            return None
        project = None if pieces[0] == "_" else pieces[0]
        session, rest = pieces[1], pieces[2]
        if session == "current":
            session = None
        elif not _SESSION.fullmatch(session):
            return None
        else:
            session = session.replace("-", "")
    named = _SHORT.fullmatch(rest)
    if named is None:
        return None
    location = read_location(named["location"]) if named["location"] else None
    if named["location"] and location is None:
        return None
    return RecallReference(named["message"], session, project, location)


def read_location(text: str) -> Location | None:
    """Parse `L10-50`, `match-3` or `tool-2`; None for anything else."""
    if place := _PLACE.fullmatch(text):
        number = int(place[2])
        return Location(place[1], number, number) if number else None
    return read_lines(text) if text.startswith("L") else None


def read_lines(text: str) -> Location | None:
    """Parse `10-50` or `10`, counted from 1, both ends included; None for anything else."""
    lines = _LINES.fullmatch(text.strip())
    if lines is None:
        return None
    first, last = int(lines[1]), int(lines[2] or lines[1])
    return Location("lines", first, last) if 0 < first <= last else None


def write_reference(
    project: str, session_id: str, message: str, location: Location | None = None
) -> str:
    """The full form, with the first 8 digits of the session's id."""
    place = f":{location}" if location else ""
    return f"{SCHEME}{project}/{session_id[:8]}/{message}{place}"
