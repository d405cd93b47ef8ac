"""Methods implemented here: ContextStudio's own, and reimplementations of remote ones."""

from collections.abc import Sequence
from dataclasses import replace

from archive.domain.pruning.classes import Prunable
from archive.domain.pruning.fitting import fit_plan
from archive.domain.pruning.harm import NamesLeft
from archive.domain.pruning.needs import plan
from archive.domain.pruning.plan import PrunePlan
from archive.domain.pruning.reading import ThreadReading
from operations.domain.context.policy import SLOP, Pruning
from operations.domain.context.truncation import Tiers, truncate
from operations.domain.log.operation import messages_of
from operations.domain.providers.request import Outgoing
from threads.domain.message import Message
from threads.domain.part import Part, Text, ToolResult

from .scoring import Method, Shown, count
from .sessions import ClientCompaction, groups_of

KEPT_TOOL_USES = 3
CLEARED = (Text("[cleared]"),)
"""Anthropic does not document the placeholder."""


def tiers(messages: Sequence[Message]) -> Shown:
    """The policy `slop`: results are cut to lengths, older ones shorter."""
    groups = groups_of(messages)
    outgoing = [
        Outgoing(
            key=f"m{place}",
            node=f"m{place}",
            role=message.role,
            parts=message.parts,
            tokens=0,
            group=group,
            groups=frozenset((group,)),
            strategy="",
        )
        for place, (message, group) in enumerate(zip(messages, groups, strict=True))
    ]
    limits = SLOP.truncation or Tiers()
    active = groups[-1] if groups else None
    cut = truncate(outgoing, limits, active, lambda _: 0)
    return [one.parts for one in cut.kept]


def clear_tool_uses(messages: Sequence[Message]) -> Shown:
    """Anthropic's `clear_tool_uses_20250919` with its defaults, as documented.

    platform.claude.com/docs/en/build-with-claude/context-editing: the results of all tool uses but
    the last three are replaced by a placeholder; calls stay, no tool is excluded, no minimum
    amount.
    """
    places = [
        (place, number)
        for place, message in enumerate(messages)
        for number, part in enumerate(message.parts)
        if isinstance(part, ToolResult)
    ]
    cleared = set(places[:-KEPT_TOOL_USES])
    return [
        tuple(
            replace(part, content=CLEARED)
            if (place, number) in cleared and isinstance(part, ToolResult)
            else part
            for number, part in enumerate(message.parts)
        )
        for place, message in enumerate(messages)
    ]


def compacted(messages: Sequence[Message], by: ClientCompaction) -> Shown:
    """What a client's own compaction left, with its summary at the first hidden message."""
    first = min(by.hidden)
    instead = tuple(part for parts in by.instead for part in parts)
    return [
        (instead if place == first else ()) if place in by.hidden else message.parts
        for place, message in enumerate(messages[: by.place])
    ]


def ours(rules: Pruning, target: float | None = None) -> Method:
    """The pruner with these rules; with `target`, limited to that share of the tokens."""

    def run(messages: Sequence[Message]) -> Shown:
        found = planned(messages, rules)
        if target is not None:
            before = found.tokens_after + found.tokens_saved
            names = NamesLeft(ThreadReading(prunable(messages)), found)
            found = fit_plan(found, int(before * target), names)
        return shown_by(messages, found)

    return run


def planned(messages: Sequence[Message], rules: Pruning) -> PrunePlan:
    """The plan of a prune run."""
    return plan(prunable(messages), rules, count)


def prunable(messages: Sequence[Message]) -> list[Prunable]:
    """Messages in the form that the pruner takes."""
    return [
        Prunable(f"m{place}", f"msg-{place:08x}", one.role, one.parts, count(one.parts))
        for place, one in enumerate(messages)
    ]


def shown_by(messages: Sequence[Message], found: PrunePlan) -> Shown:
    """What a plan leaves of each message."""
    shown: list[tuple[Part, ...]] = [message.parts for message in messages]
    for step in found.steps:
        instead = messages_of(step.edit)
        for place in step.places:
            shown[place] = instead[0].parts if instead else ()
    return shown
