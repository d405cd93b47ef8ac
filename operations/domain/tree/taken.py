"""Tracks which stretches of text operations change: no two may change the same."""

from bisect import bisect_left

from .key import Key
from .persistent_map import PersistentMap
from .span import Span

Stretches = tuple[tuple[int, int, int], ...]
"""Start, end and operation of the stretches taken in one text, in order."""


class TakenStretches:
    """The stretches taken by earlier operations, plus those that one operation takes."""

    def __init__(self, known: PersistentMap[tuple[Key, int], Stretches]) -> None:
        """`known` are the stretches of earlier operations, by message and part."""
        self._known = known
        self._lists: dict[tuple[Key, int], list[tuple[int, int, int]]] = {}

    def take(self, span: Span, number: int) -> int:
        """Take a stretch and return 0, or return the number of an operation that has part of it."""
        text = (span.key, span.part)
        taken = self._lists.get(text)
        if taken is None:
            taken = self._lists[text] = list(self._known.get(text, ()))
        place = bisect_left(taken, (span.start, span.end, 0))
        for _, end, other in taken[max(0, place - 1) : place]:
            if end > span.start:
                return other
        for start, _, other in taken[place : place + 1]:
            if start < span.end:
                return other
        taken.insert(place, (span.start, span.end, number))
        return 0

    def all(self) -> dict[tuple[Key, int], Stretches]:
        """The stretches taken in all texts that were looked at."""
        return {text: tuple(taken) for text, taken in self._lists.items()}
