"""Fitting a thread to a number of tokens by the least harmful steps of a plan."""

from collections.abc import Mapping
from types import MappingProxyType

from operations.domain.tree.key import Key

from .classes import Rule
from .plan import PrunePlan, PruneStep

NOT_NEEDED = "Not needed to fit"
_HARM = {rule: place for place, rule in enumerate(Rule)}


_PARTS = 10
"""Relevance is told apart in so many parts: within one, the largest go first."""


def fitted(
    plan: PrunePlan, target: int, relevance: Mapping[Key, float] = MappingProxyType({})
) -> PrunePlan:
    """The plan with the steps that bring the thread down to `target` tokens; all, if none do.

    Least harmful first (outdated views, errors, results, words), of one kind the least relevant to
    the objective, where `relevance` says it, of these the largest.
    What proves superfluous goes again, the earliest in the thread first: the later the first
    change, the more of a cached prompt stays valid. No step of what is left could be spared.
    """
    needed = plan.tokens_after + plan.tokens_saved - target
    if needed <= 0:
        return plan.only((), NOT_NEEDED)
    savings = {id(step): plan.saving(step) for step in plan.steps}
    taken: list[PruneStep] = []
    saved = 0
    by_harm = sorted(plan.steps, key=lambda step: -savings[id(step)])
    for step in sorted(by_harm, key=lambda step: _harm(plan, step, relevance)):
        if saved >= needed:
            break
        taken.append(step)
        saved += savings[id(step)]
    spared: set[int] = set()
    for step in sorted(taken, key=lambda step: step.places):
        if saved - savings[id(step)] >= needed:
            spared.add(id(step))
            saved -= savings[id(step)]
    return plan.only((one for one in taken if id(one) not in spared), NOT_NEEDED)


def _harm(
    plan: PrunePlan, step: PruneStep, relevance: Mapping[Key, float]
) -> tuple[int, int]:
    """How much a step harms: by its rules, then by the most relevant of its messages."""
    items = [plan.items[place] for place in step.places]
    kind = max(_HARM[item.rule] for item in items if item.rule is not None)
    near = max(relevance.get(item.key, 0) for item in items)
    return kind, int(near * _PARTS)
