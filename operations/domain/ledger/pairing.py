"""Pairs the messages of two requests that come from the same leaves, for a comparison.

A digest is paired with all the messages that it folds, and a message with what a replace made of
it.
"""

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from typing import NamedTuple

from operations.domain.tree.key import Key
from operations.domain.tree.tree import longest_increasing_subsequence

from .ledger import DiffSide, diff_runs

Leaves = Callable[[DiffSide, int], Collection[Key]]
"""Returns the leaves that a message of one of the requests comes from."""


class PairedRuns(NamedTuple):
    """Messages of both requests that are shown side by side, by their places in each."""

    before: range
    after: range
    is_identical: bool = False
    """Whether they are the same messages."""


def pair_up(
    before: Sequence[Hashable], after: Sequence[Hashable], leaves: Leaves
) -> Iterator[PairedRuns]:
    """Pairs that cover both requests in order; runs of identical messages become one pair."""
    alike: PairedRuns | None = None
    for pair in _pairs(before, after, leaves):
        is_single = len(pair.before) == len(pair.after) == 1
        same = is_single and before[pair.before.start] == after[pair.after.start]
        if pair.is_identical or same:
            start = alike or pair
            old = range(start.before.start, pair.before.stop)
            alike = PairedRuns(old, range(start.after.start, pair.after.stop), True)
            continue
        if alike:
            yield alike
        alike = None
        yield pair
    if alike:
        yield alike


def _pairs(
    before: Sequence[Hashable], after: Sequence[Hashable], leaves: Leaves
) -> Iterator[PairedRuns]:
    """Pairs for the stretches that are the same in both requests, and those that differ."""
    old = new = range(0)
    for run in diff_runs(before, after):
        if run.side is DiffSide.BEFORE:
            old = range(run.start, run.end)
        elif run.side is DiffSide.AFTER:
            new = range(run.start, run.end)
        else:
            yield from _changed(old, new, leaves)
            end = old.stop + run.end - run.start
            yield PairedRuns(range(old.stop, end), range(run.start, run.end), True)
            old, new = range(end, end), range(run.end, run.end)
    yield from _changed(old, new, leaves)


def _changed(before: range, after: range, leaves: Leaves) -> Iterator[PairedRuns]:
    """Pairs of a stretch in which no message is the same.

    A message whose leaves the other side doesn't have is paired with nothing.
    """
    old, new = before.start, after.start
    ends = range(before.stop, before.stop), range(after.stop, after.stop)
    related = _related(before, after, leaves) if before else ()
    for places, partners in (*related, ends):
        if old < places.start:
            yield PairedRuns(range(old, places.start), range(new, new))
        if new < partners.start:
            yield PairedRuns(
                range(places.start, places.start), range(new, partners.start)
            )
        if places:
            yield PairedRuns(places, partners)
        old, new = places.stop, partners.stop


def _related(
    before: range, after: range, leaves: Leaves
) -> Iterator[tuple[range, range]]:
    """Runs that come from the same leaves: the most that ascend on both sides."""
    place_of: dict[Key, int] = {}
    heads: dict[int, int] = {}  # the first message shown by the same fold
    for place in after:
        known = [
            place_of.setdefault(key, place) for key in leaves(DiffSide.AFTER, place)
        ]
        heads[place] = min((heads.get(one, one) for one in known), default=place)
    groups: list[tuple[range, int]] = []
    for place in before:
        known = [
            place_of[key] for key in leaves(DiffSide.BEFORE, place) if key in place_of
        ]
        head = min((heads[one] for one in known), default=None)
        if head is None:
            continue
        if groups and groups[-1][1] == head:  # unrelated messages in between join
            groups[-1] = (range(groups[-1][0].start, place + 1), head)
        else:
            groups.append((range(place, place + 1), head))
    for kept in longest_increasing_subsequence([head for _, head in groups]):
        places, head = groups[kept]
        end = head + 1
        while end < after.stop and heads[end] == head:
            end += 1
        yield places, range(head, end)
