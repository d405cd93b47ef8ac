"""What a plan would leave out though messages that stay refer to it: found by hindsight.

A path, a number or a name that stands only in what goes, and that is used later, is worth its few
tokens: the line that stands in the place of the text says it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from archive.domain.hindsight.losses import LeftOut, Said, hindsight
from archive.domain.hindsight.texts import texts_of, uses_of
from operations.domain.context.policy import Pruning
from operations.domain.log.operation import messages_of
from operations.domain.tree.key import Key

from .classes import Protected, Prunable
from .condensing import Count
from .plan import Plan
from .planning import plan_by_rules


def plan(
    messages: Sequence[Prunable],
    rules: Pruning,
    count: Count,
    protected: Protected | None = None,
) -> Plan:
    """The plan of a run by rules, whose lines say what of the rest is used later."""
    first = plan_by_rules(messages, rules, count, protected)
    if not rules.name_used_later:
        return first
    needed = needed_later(messages, first)
    return plan_by_rules(messages, rules, count, protected, needed) if needed else first


def needed_later(messages: Sequence[Prunable], plan: Plan) -> Mapping[Key, list[str]]:
    """By message that a plan leaves out, what of it is used later and would stand nowhere else."""
    left_out: dict[int, LeftOut] = {}
    for number, step in enumerate(plan.steps):
        shows = [text for new in messages_of(step.edit) for text in texts_of(new.parts)]
        for place in step.places:
            left_out[place] = LeftOut((str(number),), shows=shows)
    said = [
        Said(
            key=message.key,
            place=place,
            texts=texts_of(message.parts),
            uses=uses_of(message.role, message.parts),
            left_out=[left_out[place]] if place in left_out else (),
        )
        for place, message in enumerate(messages)
    ]
    found: dict[Key, list[str]] = defaultdict(list)
    for losses in hindsight(said).losses.values():
        for loss in losses:
            key = loss.left_out_in[0]
            if loss.text not in found[key]:
                found[key].append(loss.text)
    return found
