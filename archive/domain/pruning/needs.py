"""What a plan would leave out though messages that stay refer to it: found by hindsight.

A path, a number or a name that stands only in what goes, and that is used later, is worth its few
tokens: the line that stands in the place of the text says it. So are names that are likely to be
used after the run.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from archive.domain.hindsight.losses import LeftOut, Passage, hindsight
from archive.domain.hindsight.texts import texts_of, uses_of
from operations.domain.context.policy import Pruning
from operations.domain.log.operation import messages_of
from operations.domain.tree.key import Key

from .classes import Protected, Prunable
from .condensing import Count
from .likely import likely_later
from .plan import PrunePlan
from .planning import Planning


def plan(
    messages: Sequence[Prunable],
    rules: Pruning,
    count: Count,
    protected: Protected | None = None,
) -> PrunePlan:
    """The plan of a run by rules, whose lines say what of a text is used later, or may be."""
    planning = Planning(messages, rules, count, protected or Protected())
    first = planning.plan()
    if not first.steps:
        return first
    used = needed_later(messages, first) if rules.name_used_later else {}
    most = rules.likely_names
    likely = likely_later(messages, first, most) if most else {}
    told = {
        key: _told(used.get(key, ()), likely.get(key, ())) for key in {*used, *likely}
    }
    return planning.plan({key: line for key, line in told.items() if line})


def _told(used: Sequence[str], likely: Sequence[str]) -> str:
    """What the line of a message says besides."""
    others = [name for name in likely if name not in used]
    lines = (("Used later", used), ("Names", others))
    return "\n".join(f"{said}: {', '.join(names)}" for said, names in lines if names)


def needed_later(
    messages: Sequence[Prunable], plan: PrunePlan
) -> Mapping[Key, list[str]]:
    """By message that a plan leaves out, what of it is used later and would stand nowhere else."""
    left_out: dict[int, LeftOut] = {}
    for number, step in enumerate(plan.steps):
        shows = [text for new in messages_of(step.edit) for text in texts_of(new.parts)]
        for place in step.places:
            left_out[place] = LeftOut((str(number),), shows=shows)
    said = [
        Passage(
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
