"""Rows of several sessions in one list, as a table of messages is exported: taken apart.

A row names its session in a member. Rows are of several where that has several values, and by one
of them at least both sides speak: what has an id of its own in every row is no session's. Rows
whose times fall and never rise are the newest first, and given the oldest first; one that falls may
be an answer that was stamped too early.
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
"""Characters of the shortest name, digits among them, by which a conversation is known again."""


class PlacedRow(NamedTuple):
    """A record of a list, and where it stands: its number among them, begin and end."""

    number: int
    start: int
    end: int
    value: JSON


@dataclass(slots=True)
class SessionRows:
    """The rows that name one session; an empty id is that of those which name none."""

    id: str
    _places: "array[int]" = field(default_factory=lambda: array("Q"))
    sides: set[str] = field(default_factory=set)
    """Who speaks in it."""
    falls: int = 0
    rises: int = 0
    """How many rows have an earlier or a later time than the one with a time before them."""
    is_newest_first: bool = False
    _last: datetime | None = None

    def add(self, row: PlacedRow) -> None:
        """One more row."""
        self._places.extend(row[:3])
        if (moment := _moment(row.value)) is not None:
            before = self._last or moment
            self.falls += moment < before
            self.rises += moment > before
            self._last = moment

    def join(self, other: "SessionRows") -> None:
        """The rows of another, behind its own."""
        self._places.extend(other._places)

    def places(self) -> Iterator[tuple[int, ByteSpan]]:
        """The rows' numbers and places, the oldest first; without times in the file's order."""
        held = self._places
        step = -1 if self.is_newest_first else 1
        for at in range(0, len(held), 3)[::step]:
            yield held[at], ByteSpan(held[at + 1], held[at + 2])


def of_rows(
    rows: Callable[[], Iterable[PlacedRow]], who: Callable[[JSON], set[str]]
) -> list[SessionRows]:
    """The sessions that rows are of, as they come; none where they are one as they stand.

    `who` says who speaks in a row. What says nothing and names no session is of the one
    before it; what stands in a session in which nobody speaks is of the first.
    """
    first = [row.value for row in islice(rows(), RECORDS)]
    for member in speakers.SESSIONS:
        if any(_named(value, member) for value in first):
            found = _by(member, rows(), who)
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
    """Whether the rows of a table are the newest first; its sessions give them in order then."""
    falls = sum(one.falls for one in sessions)
    is_newest_first = falls > 1 and not any(one.rises for one in sessions)
    for one in sessions:
        one.is_newest_first = is_newest_first
    return is_newest_first


def id_of(called: str) -> str | None:
    """What a conversation is called, where that may be no other's too: not `1`, nor `default`."""
    is_own = len(called) >= LONG_ID and any(map(str.isdigit, called))
    return fields.as_word(called, 255) or None if is_own else None


def told(sessions: list[SessionRows]) -> Iterator[Warning]:
    """What is said of a file whose rows are not one session as they stand."""
    unnamed = any(not one.id for one in sessions)
    if len(sessions) > 1:
        words = f"Its rows name {len(sessions) - unnamed:,} sessions: each became one."
        if unnamed:
            words = f"{words[:-1]}, as did the rows that name none."
        yield Warning("several_sessions", words)
    if any(one.is_newest_first for one in sessions):
        words = "By their times, its rows are newest first; they are read oldest first."
        yield Warning("newest_first", words)


def _by(
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
    """What a row calls its session: a text, or a number."""
    said = value.get(member) if isinstance(value, dict) else None
    return str(said) if isinstance(said, str) or type(said) is int else ""
