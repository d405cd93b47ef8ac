"""Places of a view and positions in the thread.

In the effective view a fold takes as many places as it shows messages (one where it shows
none: the hairline), so that a place is always one row of the page.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable


class Places:
    """Maps positions of top-level nodes to places, both from 0.

    `wide` names the nodes that take more than one place: (position, number of places).
    """

    def __init__(self, wide: Iterable[tuple[int, int]] = ()) -> None:
        self._positions: list[int] = []
        self._starts: list[int] = []
        self._widths: list[int] = []
        self.added = 0
        for position, width in sorted(wide):
            self._positions.append(position)
            self._starts.append(position + self.added)
            self._widths.append(width)
            self.added += width - 1

    def place(self, position: int) -> int:
        """The first place of the node at a position."""
        before = bisect_left(self._positions, position)
        if not before:
            return position
        last = before - 1
        start, width = self._starts[last], self._widths[last]
        return start + width + (position - self._positions[last] - 1)

    def position(self, place: int) -> tuple[int, int]:
        """The position of the node at a place, and which of its places it is, from 0."""
        last = bisect_right(self._starts, place) - 1
        if last < 0:
            return place, 0
        offset = place - self._starts[last]
        if offset < self._widths[last]:
            return self._positions[last], offset
        return self._positions[last] + 1 + offset - self._widths[last], 0
