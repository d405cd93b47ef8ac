"""The messages of a request whose signed reasoning is still valid (R7)."""

from collections.abc import Iterable
from typing import NamedTuple, Self


class Break(NamedTuple):
    """A change that a provider's rules make to what signatures cover."""

    place: int
    """The place of the message that is sent differently, or after which something is added."""
    first: int
    """The first place whose signatures it breaks: this one or the next."""

    def moved(self, count: int) -> "Break":
        """The same in a request in which so many messages come before."""
        return Break(self.place + count, self.first + count)


class SignedPlaces(NamedTuple):
    """The places at which signatures hold, as ascending half-open ranges.

    The signatures of a range depend on each other: from a change inside of it on, the rest of the
    range no longer holds. Changes before the range don't matter; its responses were made with them.
    """

    ranges: tuple[tuple[int, int], ...] = ()

    @classmethod
    def first(cls, count: int) -> Self:
        """The places of the first messages."""
        return cls(((0, count),) if count else ())

    def hold(self, place: int) -> bool:
        """Whether the signatures of the message at a place hold."""
        return any(start <= place < end for start, end in self.ranges)

    def broken_by(self, breaks: Iterable[Break]) -> Self:
        """What still holds after these changes."""
        ranges = self.ranges
        for place, first in breaks:
            ends = [
                (start, min(end, first) if start <= place < end else end)
                for start, end in ranges
            ]
            ranges = tuple([one for one in ends if one[0] < one[1]])
        return type(self)(ranges)

    def within(self, start: int, end: int) -> Self:
        """The part between two places, counted from the first of them."""
        clipped = ((max(one, start), min(other, end)) for one, other in self.ranges)
        return type(self)(
            tuple(
                [(one - start, other - start) for one, other in clipped if one < other]
            )
        )


NONE_SIGNED = SignedPlaces()
"""No place: for requests without valid signatures."""
