"""Matches the equal elements of two sequences in order: an anchored (patience) diff.

Elements that occur once on both sides are anchors. The longest ascending run of anchors cuts both
sides into stretches, each of which is matched in the same way. Elements that occur more than once
("continue") are matched exactly while that is cheap, else each with its next occurrence. So the
cost grows with the lengths, not with their product.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from operations.domain.tree.tree import longest_increasing_subsequence

_PAIRS = 16
"""The most pairs per element on average; beyond that, not all pairs are tried."""


class Pair(NamedTuple):
    """A place in the given sequence and its index in the held one."""

    place: int
    index: int  # type: ignore[assignment]  # nobody looks for a value in it


class _Stretch(NamedTuple):
    """A stretch of each sequence, half-open."""

    place: int
    end: int
    index: int  # type: ignore[assignment]  # as above
    last: int


def match(given: Sequence[bytes], held: Sequence[bytes]) -> list[Pair]:
    """The pairs of equal elements, ascending on both sides."""
    found: list[Pair] = []
    waiting = [_Stretch(0, len(given), 0, len(held))]
    while waiting:
        inner, same = _trimmed(waiting.pop(), given, held)
        found += same
        if inner.place == inner.end or inner.index == inner.last:
            continue
        places = _places(inner, held)
        anchors = _ascent(_unique(inner, given, places))
        if anchors:
            waiting += _between(inner, anchors)
            continue
        pairs = _pairs(inner, given, places)
        found += _next_places(inner, given, places) if pairs is None else _ascent(pairs)
    return sorted(found)


def _trimmed(
    stretch: _Stretch, given: Sequence[bytes], held: Sequence[bytes]
) -> tuple[_Stretch, list[Pair]]:
    """A stretch without its common prefix and suffix, and the pairs in these."""
    place, end, index, last = stretch
    same: list[Pair] = []
    while place < end and index < last and given[place] == held[index]:
        same.append(Pair(place, index))
        place, index = place + 1, index + 1
    while place < end and index < last and given[end - 1] == held[last - 1]:
        end, last = end - 1, last - 1
        same.append(Pair(end, last))
    return _Stretch(place, end, index, last), same


def _places(stretch: _Stretch, held: Sequence[bytes]) -> dict[bytes, list[int]]:
    places: dict[bytes, list[int]] = defaultdict(list)
    for index in range(stretch.index, stretch.last):
        places[held[index]].append(index)
    return places


def _unique(
    stretch: _Stretch, given: Sequence[bytes], places: Mapping[bytes, list[int]]
) -> list[Pair]:
    """The pairs of elements that occur once on both sides."""
    counts = Counter(given[stretch.place : stretch.end])
    return [
        Pair(place, places[one][0])
        for place in range(stretch.place, stretch.end)
        if counts[one := given[place]] == len(places.get(one, ())) == 1
    ]


def _pairs(
    stretch: _Stretch, given: Sequence[bytes], places: Mapping[bytes, list[int]]
) -> list[Pair] | None:
    """All pairs, the last index of each place first; None if there are too many."""
    counts = Counter(given[stretch.place : stretch.end])
    total = sum(count * len(places.get(one, ())) for one, count in counts.items())
    length = stretch.end - stretch.place + stretch.last - stretch.index
    if total > _PAIRS * length:
        return None
    return [
        Pair(place, index)
        for place in range(stretch.place, stretch.end)
        for index in reversed(places.get(given[place], ()))
    ]


def _ascent(pairs: Sequence[Pair]) -> list[Pair]:
    """The longest selection of pairs that ascends on both sides."""
    return [
        pairs[at]
        for at in longest_increasing_subsequence([pair.index for pair in pairs])
    ]


def _between(stretch: _Stretch, anchors: Sequence[Pair]) -> Iterator[_Stretch]:
    """The stretches between anchors; each begins with its anchor."""
    places = [stretch.place, *(anchor.place for anchor in anchors), stretch.end]
    indexes = [stretch.index, *(anchor.index for anchor in anchors), stretch.last]
    for at in range(len(places) - 1):
        yield _Stretch(places[at], places[at + 1], indexes[at], indexes[at + 1])


def _next_places(
    stretch: _Stretch, given: Sequence[bytes], places: Mapping[bytes, list[int]]
) -> Iterator[Pair]:
    """Pair each element with its next occurrence in the held sequence."""
    index = stretch.index
    for place in range(stretch.place, stretch.end):
        known = places.get(given[place], ())
        at = bisect_left(known, index)
        if at < len(known):
            yield Pair(place, known[at])
            index = known[at] + 1
