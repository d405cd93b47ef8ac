"""Finds, by hindsight, what a plan would leave out although remaining messages refer to it.

A path, number or name that occurs only in what is left out, but is used later, is worth its few
tokens: the line that replaces the text names it. So are names that are likely to be used after the
run.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain

from archive.domain.hindsight.losses import LeftOut, Passage, first_lost
from archive.domain.hindsight.sightings import Sightings
from operations.domain.context.policy import Pruning
from operations.domain.context.step import Count
from operations.domain.tree.key import Key

from .classes import Protected, Prunable
from .likely import LikelyNames
from .plan import PrunePlan
from .planning import Planning
from .reading import PlanReading, ThreadReading


def plan(
    messages: Sequence[Prunable],
    rules: Pruning,
    count: Count,
    protected: Protected | None = None,
    thread: ThreadReading | None = None,
) -> PrunePlan:
    """Plan a run by these rules; its lines name what is used later or likely to be.

    `thread` is a reading of the same messages; pass it to share it with later calls.
    """
    planning = Planning(messages, rules, count, protected or Protected())
    changes = list(planning.changes())
    if not changes:
        return planning.plan()
    read = PlanReading(thread or ThreadReading(messages), changes)
    names, most = LikelyNames(read), rules.likely_names
    wanted = {*chain.from_iterable(read.used.values()), *names.worth}
    sightings = Sightings(wanted, read.references.named)
    used = needed_later(read, sightings) if rules.name_used_later else {}
    likely = names.later(sightings, most) if most else {}
    told = {
        key: _addition(used.get(key, ()), likely.get(key, ()))
        for key in {*used, *likely}
    }
    return planning.plan({key: line for key, line in told.items() if line})


def _addition(used: Sequence[str], likely: Sequence[str]) -> str:
    """The text added to a message's line: names used later, and other likely names."""
    others = [name for name in likely if name not in used]
    lines = (("Used later", used), ("Names", others))
    return "\n".join(f"{said}: {', '.join(names)}" for said, names in lines if names)


def needed_later(read: PlanReading, sightings: Sightings) -> Mapping[Key, list[str]]:
    """Map of each changed message's key to the names that are used later and would be lost."""
    said = [
        Passage(
            key=message.key,
            place=place,
            texts=read.texts[place],
            left_out=[LeftOut((str(read.step[place]),), shows=read.shown[place])]
            if place in read.shown
            else (),
        )
        for place, message in enumerate(read.messages)
    ]
    found: dict[Key, list[str]] = defaultdict(list)
    for words, keys in first_lost(said, read.used, sightings):
        for key in keys:
            if words not in found[key]:
                found[key].append(words)
    return found
