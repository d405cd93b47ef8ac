"""A thread as it would have gone under a policy: what the window, the truncation tiers and
isolation leave out, and when.

A message falls out of the window at the first message of the group that pushes it out. A result is
cut at once, and cut shorter as more results follow it and when its group ends. So what was said
before that counts as said while the message was in sight.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

from operations.domain.context.policy import Policy
from operations.domain.context.selection import ISOLATION, isolate
from operations.domain.context.truncation import NAME as TRUNCATION
from operations.domain.context.truncation import Tiers, cut
from operations.domain.context.window import WINDOW
from operations.domain.providers.request import Outgoing
from operations.domain.tree.key import Key
from threads.domain.message import Role
from threads.domain.part import Part, Text, ToolResult

from .losses import LeftOut, Passage
from .texts import texts_of, uses_of

STEPS = (ISOLATION, TRUNCATION, WINDOW)
"""The steps to which what a policy leaves out is attributed."""
_RULES = (Role.SYSTEM, Role.DEVELOPER)


def passages_under_policy(
    messages: Sequence[Outgoing], policy: Policy, strategy: str
) -> list[Passage]:
    """The parts of a thread's messages, each with when and by which step the policy leaves it out.

    `strategy` is the provider's parsing strategy, which isolation needs.
    """
    rules = sum(1 for _ in takewhile(lambda one: one.role in _RULES, messages))
    isolated = _isolated(messages[rules:], policy, strategy)
    fallen = _fallen(messages, rules, policy.window)
    cuts = _cuts(messages, policy.truncation)
    return [
        Passage(
            key=message.key,
            place=place,
            texts=texts_of([part]),
            uses=uses_of(message.role, [part]),
            left_out=[
                *([LeftOut((ISOLATION,))] if part in isolated[message.key] else ()),
                *cuts.get((place, number), ()),
                *([LeftOut((WINDOW,), fallen[place])] if place in fallen else ()),
            ],
        )
        for place, message in enumerate(messages)
        for number, part in enumerate(message.parts)
    ]


def _isolated(
    messages: Sequence[Outgoing], policy: Policy, strategy: str
) -> Mapping[Key, Sequence[Part]]:
    """Map of message key to the parts that isolation leaves out."""
    left_out: dict[Key, Sequence[Part]] = defaultdict(tuple)
    if policy.isolation:
        kept, _ = isolate(messages, strategy, lambda _: 0)
        parts = {message.key: message.parts for message in kept}
        for message in messages:
            rest = parts.get(message.key, ())
            left_out[message.key] = [part for part in message.parts if part not in rest]
    return left_out


def _fallen(messages: Sequence[Outgoing], rules: int, window: int) -> dict[int, int]:
    """Map of position to the position from which that message is out of the window.

    Messages that stay are not in it. `window` is a number of groups.
    """
    starts: dict[int, int] = {}
    for place, message in enumerate(messages[rules:], start=rules):
        starts.setdefault(message.group, place)
    following = dict(zip(starts, list(starts.values())[window:], strict=False))
    return {
        place: following[message.group] + 1
        for place, message in enumerate(messages[rules:], start=rules)
        if window and message.group in following
    }


def _cuts(
    messages: Sequence[Outgoing], tiers: Tiers | None
) -> dict[tuple[int, int], list[LeftOut]]:
    """Map of (message position, part number) to the cuts of that result, which get ever shorter."""
    if tiers is None:
        return {}
    ends = _ends_of_groups(messages)
    found: dict[tuple[int, int], list[LeftOut]] = {}
    for results in _results(messages):
        places = [place for place, _, _ in results]
        for nth, (place, number, result) in enumerate(results):
            limits = {place: tiers.recent}
            if nth + tiers.recent_results < len(results):
                pushed = places[nth + tiers.recent_results]
                limits[pushed + 1 if pushed > place else place] = tiers.older
            if place in ends:
                limits[ends[place] + 1] = tiers.inactive
            found[place, number] = list(_cut(result, limits, tiers))
    return found


def _cut(
    result: ToolResult, limits: Mapping[int, int], tiers: Tiers
) -> Iterator[LeftOut]:
    """What is shown of a result, given the limit in force from each position on."""
    text = "\n".join(item.text for item in result.content if isinstance(item, Text))
    before = len(text)
    for since, limit in sorted(limits.items()):
        if limit < before:
            before = limit
            yield LeftOut((TRUNCATION,), since, (cut(text, limit, tiers.keep),))


def _results(
    messages: Sequence[Outgoing],
) -> Iterable[list[tuple[int, int, ToolResult]]]:
    """The results of each group in order, each with its message position and part number."""
    found: dict[int, list[tuple[int, int, ToolResult]]] = defaultdict(list)
    for place, message in enumerate(messages):
        for number, part in enumerate(message.parts):
            if isinstance(part, ToolResult):
                found[message.group].append((place, number, part))
    return found.values()


def _ends_of_groups(messages: Sequence[Outgoing]) -> dict[int, int]:
    """Map of each position to the next one where another group starts, if there is one."""
    ends: dict[int, int] = {}
    for place in range(len(messages) - 2, -1, -1):
        if messages[place].group != messages[place + 1].group:
            ends[place] = place + 1
        elif place + 1 in ends:
            ends[place] = ends[place + 1]
    return ends
