"""Rows of several sessions in one list, as a table of messages is exported: taken apart.

A row names its session in a member. Rows are of several where that has several values, and by one
of them at least both sides speak: what has an id of its own in every row is no session's.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from threads.domain.formats.io import fields
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.io.speakers import SESSIONS
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

    def add(self, row: PlacedRow) -> None:
        """One more row."""
        self._places.extend(row[:3])

    def join(self, other: "SessionRows") -> None:
        """The rows of another, behind its own."""
        self._places.extend(other._places)

    def places(self) -> Iterator[tuple[int, ByteSpan]]:
        """The rows' numbers and places, in the order of the file."""
        flat = iter(self._places)
        for number, start, end in zip(flat, flat, flat, strict=True):
            yield number, ByteSpan(start, end)


def of_rows(
    rows: Callable[[], Iterable[PlacedRow]], speakers: Callable[[JSON], set[str]]
) -> list[SessionRows]:
    """The sessions that rows are of, as they come; none where all are of one, or name none.

    `speakers` says who speaks in a row. What says nothing and names no session is of the one
    before it; what stands in a session in which nobody speaks is of the first.
    """
    first = [row.value for row in islice(rows(), RECORDS)]
    for member in SESSIONS:
        if any(_named(value, member) for value in first):
            found = _by(member, rows(), speakers)
            if len(found) > 1 and any(one.sides >= spoken.SIDES for one in found):
                return found
    return []


def id_of(called: str) -> str | None:
    """What a conversation is called, where that may be no other's too: not `1`, nor `default`."""
    is_own = len(called) >= LONG_ID and any(map(str.isdigit, called))
    return fields.as_word(called, 255) or None if is_own else None


def told(sessions: list[SessionRows]) -> Warning:
    """What is said of a file that was taken apart."""
    words = f"Its rows name {len(sessions):,} sessions: each became one."
    if any(not one.id for one in sessions):
        words = (
            f"Its rows name {len(sessions) - 1:,} sessions: each became one, as did the"
            " rows that name none."
        )
    return Warning("several_sessions", words)


def _by(
    member: str, rows: Iterable[PlacedRow], speakers: Callable[[JSON], set[str]]
) -> list[SessionRows]:
    found: dict[str, SessionRows] = {}
    before: SessionRows | None = None
    for row in rows:
        id_, sides = _named(row.value, member), speakers(row.value)
        if id_ or sides or before is None:
            before = found.setdefault(id_, SessionRows(id_))
        before.sides |= sides
        before.add(row)
    heard = [one for one in found.values() if one.sides]
    for one in found.values():
        if heard and not one.sides:
            heard[0].join(one)
    return heard


def _named(value: JSON, member: str) -> str:
    """What a row calls its session: a text, or a number."""
    said = value.get(member) if isinstance(value, dict) else None
    return str(said) if isinstance(said, str) or type(said) is int else ""
