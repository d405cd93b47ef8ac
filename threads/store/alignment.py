"""Compares a transcript that was read again with the session it was first read into."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from threads.domain.body import digest
from threads.domain.message import Message as GivenMessage
from threads.domain.part import Part
from threads.models import Session

from .originals import Original, load_recorded_at
from .recording import named_by_hash

_MAX_PIECES = 100
"""How many originals one message of a transcript may have been recorded as."""


class Diverged(Exception):
    """At `index` the transcript differs from the session."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index


@dataclass(slots=True)
class Alignment:
    """Determines, message by message, what a transcript adds to the session it continues.

    A transcript may have been read while a message was still being written: then the session holds
    it in several consecutive pieces, and what is new of it follows as one more.
    """

    session: Session
    known: Sequence[bytes]
    """The digests of the originals that it is compared with, in order."""
    held: int
    """How many originals the session has."""
    course: Sequence[int] | None = None
    """The indexes of these originals, if the file tells them by the locations of its records."""
    passed: int = 0
    """How many originals were recognised or are new."""
    _given: int = 0
    _extra: list[tuple[int, int]] = field(default_factory=list)
    """Which messages of the transcript are more than one original, and how many more."""

    @classmethod
    def along(
        cls, session: Session, digests: Sequence[bytes], course: Sequence[int]
    ) -> "Alignment":
        """Compare with some of a session's originals; `digests` are those of all."""
        known = [digests[index] for index in course]
        return cls(session, known, len(digests), course)

    @property
    def is_beyond(self) -> bool:
        """Whether all of the session was recognised: whatever follows is new."""
        return self.passed >= len(self.known)

    def place(self, given: GivenMessage) -> GivenMessage | None:
        """The new part of the transcript's next message; None if the session has all of it.

        Raises Diverged.
        """
        index = self.passed
        if self.is_beyond:
            self._pass(1)
            return given
        if digest(given.role, named_by_hash(given.parts)) == self.known[index]:
            self._pass(1)
            return None
        return self._rest(given, index)

    def first_index(self, ordinal: int) -> int:
        """The index of the first original of the transcript's message `ordinal`."""
        return self._index(self._first_place(ordinal))

    def indexes(self, ordinal: int) -> list[int]:
        """The indexes of all originals of the transcript's message `ordinal`."""
        first = self._first_place(ordinal)
        more = dict(self._extra).get(ordinal, 0)
        return [*map(self._index, range(first, first + 1 + more))]

    def _first_place(self, ordinal: int) -> int:
        return ordinal + sum(more for place, more in self._extra if place < ordinal)

    def _index(self, place: int) -> int:
        """The index of the original at a place of the course; new ones follow its end."""
        if place >= len(self.known):
            return self.held + place - len(self.known)
        return place if self.course is None else self.course[place]

    def _pass(self, originals: int) -> None:
        if originals > 1:
            self._extra.append((self._given, originals - 1))
        self._given += 1
        self.passed += originals

    def _rest(self, given: GivenMessage, index: int) -> GivenMessage | None:
        """The new part of a message that the session holds in pieces. Raises Diverged."""
        pieces = self._pieces(given, index)
        if not pieces:
            raise Diverged(index)
        end = index + len(pieces)
        parts = given.parts[sum(len(piece.parts) for piece in pieces) :]
        if not parts:
            self._pass(len(pieces))
            return None
        # The message continues, but the session already goes on with something else.
        if end < len(self.known):
            raise Diverged(end)
        self._pass(len(pieces) + 1)
        held = {record for piece in pieces for record in json.loads(piece.row.records)}
        counted = any(piece.row.weight is not None for piece in pieces)
        return replace(
            given,
            parts=parts,
            # The provider's count is for the whole message: it is kept once.
            usage=None if counted else given.usage,
            records=tuple(record for record in given.records if record not in held),
        )

    def _is_of(self, given: GivenMessage, original: Original) -> bool:
        """Whether an original was read from a message, as far as it was written by then."""
        # Only the id that all pieces carry distinguishes one message in pieces from two that begin
        # alike; or, along a course, the locations in the file that both were read from.
        if given.source_id and original.row.external_id == given.source_id[:128]:
            return True
        held = set(json.loads(original.row.records))
        return self.course is not None and bool(held) and held <= set(given.records)

    def _pieces(self, given: GivenMessage, index: int) -> list[Original]:
        """The consecutive originals from `index` on that are parts of a message."""
        if not given.source_id and self.course is None:
            return []
        rest: tuple[Part, ...] = named_by_hash(given.parts)
        last = min(index + _MAX_PIECES, len(self.known))
        places = [*map(self._index, range(index, last))]
        held = load_recorded_at(self.session, places)
        found: list[Original] = []
        for original in (held[place] for place in places):
            parts = original.parts
            same = original.role == given.role and self._is_of(given, original)
            if not same or not parts or rest[: len(parts)] != parts:
                break
            found.append(original)
            rest = rest[len(parts) :]
        return found
