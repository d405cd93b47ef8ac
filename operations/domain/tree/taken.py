"""Which stretches of texts operations have: no two may change the same."""

from bisect import bisect_left

from .kept import Kept
from .key import Key
from .span import Span

Stretches = tuple[tuple[int, int, int], ...]
"""Start, end and operation of what is taken of one text, in order."""


class TakenStretches:
    """What operations have of texts, with what one takes beside them."""

    def __init__(self, known: Kept[tuple[Key, int], Stretches]) -> None:
        """`known` is what operations before it have, by message and part."""
        self._known = known
        self._lists: dict[tuple[Key, int], list[tuple[int, int, int]]] = {}

    def take(self, span: Span, number: int) -> int:
        """Take a stretch of text, or the number of an operation that has some of it."""
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
        """What is taken in the texts that were looked at."""
        return {text: tuple(taken) for text, taken in self._lists.items()}
