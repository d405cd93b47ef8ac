"""What a client did to its messages, as the operations that say so.

A request is aligned with the originals. Between what was found there are runs of originals that
the client no longer sends, and runs of messages that nobody knows. The first are folded: by a
snip, or, where something stands in their place, by a revise that shows it; what stands between
originals that are all there is an insert. At the end, where nothing known follows, the old tail is
folded and what is new becomes originals, so that it can be worked on message by message. Of the
system prompt there is always a version: a new one stands in place of the old one.

How the log comes to say just this and no more, `client_entries` tells.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from operations.domain.log.log import Log
from operations.domain.log.operation import Insert, Operation, Revise, Snip
from operations.domain.tree.key import Key, original_key
from operations.domain.tree.leaf import New

from .alignment import Given, Unit, UnitCounts
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
    """All of its messages in order, including those that become originals or belong to edits."""
    counts: UnitCounts
    """What these come to."""
    appended: range
    """Its messages that become originals."""
    known: int
    """How many of its messages are originals already."""
    absent: int
    """How many originals it doesn't hold."""
    decision: RequestDecision
    operations: list[Operation] = field(default_factory=list)
    """The entries to record, in order; the first has the number behind the log's head."""
    titles: list[str] = field(default_factory=list)
    changes: list[ClientChange] = field(default_factory=list)
    made: dict[Key, int] = field(default_factory=dict)
    """For each message that these entries make or amend, its place among the client's."""

    @property
    def records(self) -> bool:
        """Whether anything of it is to be recorded."""
        return bool(self.operations or self.appended)

    @property
    def unknown(self) -> int:
        """How many of its messages stand in place of originals, or between them."""
        return self.counts.edited


def plan(
    given: Given,
    roles: Sequence[str],
    log: Log,
    units: Sequence[Unit],
    *,
    quotes: bool = False,
) -> RequestPlan:
    """What to record of a request that `units` align with the originals of these roles.

    `quotes`: it tells what a reply of the session said, as a client does that summed it up.
    """
    held, count = len(roles), len(given.messages)
    gaps = (
        [*RequestGaps(given, roles, log).of(units)]
        if held
        else [RequestGap(range(0), range(count), is_tail=True)]
    )
    tail = gaps[-1]
    wanted = [
        one
        for gap in gaps
        if (one := _wanted(given, gap, quotes, bool(units))) is not None
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
        counts=UnitCounts().and_(ordered),
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
    """The plan of a request that goes on from what the client sent last.

    Of its `count` messages `units` align the first `known`, and the others become originals
    behind the `held` ones. `counts` is what the units come to, where it is known.
    """
    counts = UnitCounts().and_(units) if counts is None else counts
    new = [
        Unit(held + k, held + k + 1, place, place + 1)
        for k, place in enumerate(range(known, count))
    ]
    decision = RequestDecision.EXTENDED if new else RequestDecision.REPEATED
    return RequestPlan(
        units=[*units, *new],
        counts=counts.and_(new),
        appended=range(known, count),
        known=known - counts.edited,
        absent=held - counts.originals,
        decision=decision if held else RequestDecision.FIRST,
    )


def _wanted(
    given: Given, gap: RequestGap, quotes: bool, is_known: bool
) -> WantedEdit | None:
    """The edit that says what a gap is; None where there is nothing to be said."""
    places = range(0) if gap.is_tail else gap.places
    targets = tuple(map(original_key, gap.indexes))
    messages = tuple(
        New(given.messages[place].role, given.messages[place].parts) for place in places
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
