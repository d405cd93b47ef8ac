"""Separates the rows of several sessions in one list, such as an exported table of messages.

A member of each row names its session. The rows belong to several sessions if this member has
several values and both sides speak under at least one of them: a value that is unique in every row
is not a session's id. Rows whose times only fall, and more than once, are newest first, and are
given oldest first; a single fall may be an answer that was stamped too early.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from threads.domain.formats.io import fields, speakers
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.kit import spoken
from threads.domain.formats.sample import RECORDS
from threads.domain.part import JSON
from threads.domain.transcript import Warning

LONG_ID = 8
"""The least length of a name, which must contain digits, that can serve as a conversation's id."""


class PlacedRow(NamedTuple):
    """A record of a list with its number, and its begin and end in the file."""

    number: int
    start: int
    end: int
    value: JSON


@dataclass(slots=True)
class SessionRows:
    """The rows of one session; the id is empty for rows that name no session."""

    id: str
    _places: "array[int]" = field(default_factory=lambda: array("Q"))
    sides: set[str] = field(default_factory=set)
    """The roles that speak in it."""
    falls: int = 0
    rises: int = 0
    """How many rows have an earlier (`falls`) or later (`rises`) time than the last timed row."""
    is_newest_first: bool = False
    _last: datetime | None = None

    def add(self, row: PlacedRow) -> None:
        """Add a row."""
        self._places.extend(row[:3])
        if (moment := _moment(row.value)) is not None:
            before = self._last or moment
            self.falls += moment < before
            self.rises += moment > before
            self._last = moment

    def join(self, other: "SessionRows") -> None:
        """Append the rows of another session."""
        self._places.extend(other._places)

    def places(self) -> Iterator[tuple[int, ByteSpan]]:
        """The rows' numbers and places, oldest first; without times, in the file's order."""
        held = self._places
        step = -1 if self.is_newest_first else 1
        for at in range(0, len(held), 3)[::step]:
            yield held[at], ByteSpan(held[at + 1], held[at + 2])


def split_rows(
    rows: Callable[[], Iterable[PlacedRow]], who: Callable[[JSON], set[str]]
) -> list[SessionRows]:
    """The sessions in the rows, in order of appearance; empty if the rows are one session as is.

    `who` returns the roles that speak in a row. A row that says nothing and names no session
    belongs to the session of the row before it; sessions in which nobody speaks are merged into
    the first one.
    """
    first = [row.value for row in islice(rows(), RECORDS)]
    for member in speakers.SESSIONS:
        if any(_named(value, member) for value in first):
            found = _group_by(member, rows(), who)
            if len(found) > 1 and any(one.sides >= spoken.SIDES for one in found):
                _put_in_order(found)
                return found
    beginning = SessionRows("")
    for number, value in enumerate(first):
        beginning.add(PlacedRow(number, 0, 0, value))
    if not _put_in_order([beginning]):
        return []
    whole = SessionRows("")
    for row in rows():
        whole.add(row)
    return [whole] if _put_in_order([whole]) else []


def _put_in_order(sessions: list[SessionRows]) -> bool:
    """Whether the rows of a table are newest first; if so, its sessions give them reversed."""
    falls = sum(one.falls for one in sessions)
    is_newest_first = falls > 1 and not any(one.rises for one in sessions)
    for one in sessions:
        one.is_newest_first = is_newest_first
    return is_newest_first


def id_of(called: str) -> str | None:
    """A conversation's name as an id; None if it may not be unique, like `1` or `default`."""
    is_own = len(called) >= LONG_ID and any(map(str.isdigit, called))
    return fields.as_word(called, 255) or None if is_own else None


def separation_warnings(sessions: list[SessionRows]) -> Iterator[Warning]:
    """The warnings for a file whose rows were separated or reversed."""
    unnamed = any(not one.id for one in sessions)
    if len(sessions) > 1:
        words = f"Its rows name {len(sessions) - unnamed:,} sessions, each of which became one."
        if unnamed:
            words = f"{words[:-1]}, as did the rows that name none."
        yield Warning("several_sessions", words)
    if any(one.is_newest_first for one in sessions):
        words = "By their times, its rows are newest first; they are read oldest first."
        yield Warning("newest_first", words)


def _group_by(
    member: str, rows: Iterable[PlacedRow], who: Callable[[JSON], set[str]]
) -> list[SessionRows]:
    found: dict[str, SessionRows] = {}
    before: SessionRows | None = None
    for row in rows:
        id_, sides = _named(row.value, member), who(row.value)
        if id_ or sides or before is None:
            before = found.setdefault(id_, SessionRows(id_))
        before.sides |= sides
        before.add(row)
    heard = [one for one in found.values() if one.sides]
    for one in found.values():
        if heard and not one.sides:
            heard[0].join(one)
    return heard


def _moment(value: JSON) -> datetime | None:
    said = speakers.moment_in(value) if isinstance(value, dict) else {}
    return fields.moment(said.get("timestamp"))


def _named(value: JSON, member: str) -> str:
    """The session that a row names, as a text or a number; empty if it names none."""
    said = value.get(member) if isinstance(value, dict) else None
    return str(said) if isinstance(said, str) or type(said) is int else ""
