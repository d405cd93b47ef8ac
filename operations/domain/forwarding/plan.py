"""Plans how to record what a client did to its messages, as operations.

A request is aligned with the originals. Between the matches there are runs of originals that the
client no longer sends, and runs of unknown messages. Originals no longer sent are folded: by a
snip or, if something stands in their place, by a revise that shows it. Unknown messages between
originals that are all present become an insert. At the end, where nothing known follows, the old
tail is folded and the new messages become originals, so that they can be worked on one by one.
The system prompt always has one version: a new one replaces the old one.

`client_entries` works out how to make the log say exactly this.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from operations.domain.log.log import Log
from operations.domain.log.operation import Insert, Operation, Revise, Snip
from operations.domain.tree.key import Key, original_key
from operations.domain.tree.leaf import MadeMessage

from .alignment import GivenMessages, Unit, UnitCounts
from .client_entries import (
    ClientChange,
    ClientEdit,
    ClientEntries,
    RequestDecision,
    WantedEdit,
)
from .gaps import RequestGap, RequestGaps

_GRAVEST = [
    RequestDecision.COMPACTED,
    RequestDecision.REGENERATED,
    RequestDecision.TRIMMED,
    RequestDecision.EDITED,
    RequestDecision.PROMPT,
    RequestDecision.RESUMED,
]


@dataclass(frozen=True, slots=True)
class RequestPlan:
    """How a request is recorded."""

    units: list[Unit]
    """The units of all its messages in order, including those that become originals or edits."""
    counts: UnitCounts
    """The totals over the units."""
    appended: range
    """Its messages that become originals."""
    known: int
    """How many of its messages are originals already."""
    absent: int
    """How many originals it doesn't contain."""
    decision: RequestDecision
    operations: list[Operation] = field(default_factory=list)
    """The entries to record, in order; the first gets the number after the log's head."""
    titles: list[str] = field(default_factory=list)
    changes: list[ClientChange] = field(default_factory=list)
    made: dict[Key, int] = field(default_factory=dict)
    """Maps each message that these entries make or amend to its place among the client's."""

    @property
    def records(self) -> bool:
        """Whether there is anything to record."""
        return bool(self.operations or self.appended)

    @property
    def unknown(self) -> int:
        """How many of its messages replace originals or stand between them."""
        return self.counts.edited


def plan(
    given: GivenMessages,
    roles: Sequence[str],
    log: Log,
    units: Sequence[Unit],
    *,
    quotes: bool = False,
    goes_back: bool = False,
) -> RequestPlan:
    """Plan what to record of a request that `units` align with the originals.

    `roles` are the roles of the originals. `quotes`: the request quotes a reply of the session,
    as a client does that summed it up. `goes_back`: it asks anew what was asked before.
    """
    held, count = len(roles), len(given.messages)
    gaps = (
        [*RequestGaps(given, roles, log).of(units)]
        if held
        else [RequestGap(range(0), range(count), is_tail=True)]
    )
    tail = gaps[-1]
    is_known = bool(units) or goes_back
    wanted = [
        one
        for gap in gaps
        if (one := _wanted(given, gap, quotes, is_known)) is not None
    ]
    entries = ClientEntries(given, log, log.client_edits)
    for one in wanted:
        entries.want(one)
    entries.finish()
    new = (
        Unit(held + k, held + k + 1, place, place + 1)
        for k, place in enumerate(tail.places)
    )
    decision = RequestDecision.EXTENDED if tail.places else RequestDecision.REPEATED
    if not held:
        decision = RequestDecision.FIRST
    elif entries.changes:
        causes = {one.cause for one in entries.changes}
        decision = next(one for one in _GRAVEST if one in causes)
    ordered = sorted(
        [*units, *entries.units, *new], key=lambda unit: (unit.start, unit.end)
    )
    return RequestPlan(
        units=ordered,
        counts=UnitCounts().extended(ordered),
        appended=tail.places,
        known=sum(unit.end - unit.start for unit in units),
        absent=sum(len(gap.indexes) for gap in gaps),
        decision=decision,
        operations=entries.operations,
        titles=entries.titles,
        changes=entries.changes,
        made=entries.made,
    )


def extension(
    units: Sequence[Unit],
    *,
    held: int,
    known: int,
    count: int,
    counts: UnitCounts | None = None,
) -> RequestPlan:
    """The plan of a request that continues what the client sent last.

    `units` align the first `known` of its `count` messages; the rest become originals after the
    `held` ones. `counts` are the totals over the units, if known.
    """
    counts = UnitCounts().extended(units) if counts is None else counts
    new = [
        Unit(held + k, held + k + 1, place, place + 1)
        for k, place in enumerate(range(known, count))
    ]
    decision = RequestDecision.EXTENDED if new else RequestDecision.REPEATED
    return RequestPlan(
        units=[*units, *new],
        counts=counts.extended(new),
        appended=range(known, count),
        known=known - counts.edited,
        absent=held - counts.originals,
        decision=decision if held else RequestDecision.FIRST,
    )


def _wanted(
    given: GivenMessages, gap: RequestGap, quotes: bool, is_known: bool
) -> WantedEdit | None:
    """The edit that describes a gap; None if none is needed."""
    places = range(0) if gap.is_tail else gap.places
    targets = tuple(map(original_key, gap.indexes))
    messages = tuple(
        MadeMessage(given.messages[place].role, given.messages[place].parts)
        for place in places
    )
    edit: ClientEdit
    if not targets and not messages:
        return None
    if not targets:
        start = gap.indexes.start
        after = original_key(start - 1) if start else None
        edit, cause = Insert(after=after, messages=messages), RequestDecision.EDITED
    elif messages:
        edit = Revise(targets=targets, messages=messages)
        is_shorter = len(messages) < len(targets)
        cause = RequestDecision.COMPACTED if is_shorter else RequestDecision.EDITED
    else:
        edit, cause = Snip(targets=targets), RequestDecision.TRIMMED
        if gap.is_tail:
            is_compacted = bool(gap.places) and (quotes or not is_known)
            cause = (
                RequestDecision.COMPACTED
                if is_compacted
                else RequestDecision.REGENERATED
            )
    return WantedEdit(edit, places, RequestDecision.PROMPT if gap.is_prompt else cause)
