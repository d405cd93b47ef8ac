"""The longest ascending subsequence: what stands still when things are moved."""

from bisect import bisect_left
from collections.abc import Sequence


def longest_ascent(values: Sequence[int]) -> list[int]:
    """Places of a longest strictly ascending subsequence of distinct values, in order.

    Patience sorting: O(n log n).
    """
    tails: list[int] = []
    tail_places: list[int] = []
    before: list[int] = []
    for place, value in enumerate(values):
        pile = bisect_left(tails, value)
        before.append(tail_places[pile - 1] if pile else -1)
        if pile == len(tails):
            tails.append(value)
            tail_places.append(place)
        else:
            tails[pile] = value
            tail_places[pile] = place
    ascent: list[int] = []
    place = tail_places[-1] if tail_places else -1
    while place >= 0:
        ascent.append(place)
        place = before[place]
    return ascent[::-1]
