"""Fits a thread to a number of tokens with the least harmful steps of a plan."""

from collections.abc import Iterator, Mapping
from heapq import heapify, heappop, heapreplace
from types import MappingProxyType

from operations.domain.tree.key import Key

from .classes import Rule
from .harm import NamesLeft
from .plan import PrunePlan

NOT_NEEDED = "Not needed to fit"
_KINDS = {rule: place for place, rule in enumerate(Rule)}
_PARTS = 10
"""Number of buckets for relevance; within a bucket, the number of names lost decides."""


def fit_plan(
    plan: PrunePlan,
    target: int,
    names: NamesLeft,
    relevance: Mapping[Key, float] = MappingProxyType({}),
) -> PrunePlan:
    """The plan with the steps that bring the thread down to `target` tokens, or all if none do.

    Steps are taken least harmful first: the least relevant to the objective, if `relevance` is
    given, then those that lose the fewest names per token saved. Among equals, outdated views go
    first, then errors, results and words; among these, the largest.
    Steps that turn out superfluous are dropped again, earliest in the thread first: the later the
    first change, the more of a cached prompt stays valid. Each remaining step is needed.
    """
    needed = plan.tokens_after + plan.tokens_saved - target
    if needed <= 0:
        return plan.only((), NOT_NEEDED)
    taken: dict[int, int] = {}
    over = -needed
    for number in _by_harm(plan, names.copy(), relevance):
        if over >= 0:
            break
        taken[number] = plan.saving(plan.steps[number])
        over += taken[number]
    for number in sorted(taken):
        if taken[number] <= over:
            over -= taken.pop(number)
    return plan.only((plan.steps[number] for number in taken), NOT_NEEDED)


def _by_harm(
    plan: PrunePlan, left: NamesLeft, relevance: Mapping[Key, float]
) -> Iterator[int]:
    """Yield step numbers, each the least harmful once the steps before it are taken.

    A step's harm only grows as others are taken. So the step with the least known harm is measured
    again, and taken if it hasn't grown.
    """

    def harm(number: int) -> tuple[int, float, int, int, int]:
        step = plan.steps[number]
        items, saving = [plan.items[place] for place in step.places], plan.saving(step)
        near = max(relevance.get(item.key, 0) for item in items)
        kind = max(_KINDS[item.rule] for item in items if item.rule is not None)
        share = left.lost_by(step) / max(1, saving)
        return int(near * _PARTS), share, kind, -saving, number

    waiting = list(map(harm, range(len(plan.steps))))
    heapify(waiting)
    while waiting:
        known = waiting[0]
        now = harm(known[-1])
        if now > known:
            heapreplace(waiting, now)
            continue
        heappop(waiting)
        left.take(plan.steps[known[-1]])
        yield known[-1]
