"""Replays the log over the originals: the only way in which a thread is made.

A thread may be made from a `known` one: edits are played from the first whose outcome differs,
over the known draft as it was before that edit. So a new entry at the end costs in proportion to
what it names.
"""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from operations.domain.log.entry import CLIENT, EditState
from operations.domain.log.log import Log
from operations.domain.log.operation import Edit, Insert, named_keys, objective_tag
from operations.domain.tree.draft import ThreadDraft
from operations.domain.tree.key import Key, made_key, original_index
from operations.domain.tree.leaf import Leaf
from operations.domain.tree.status import EditOutcome, Status
from operations.domain.tree.tree import THREAD

from .playback import Originals, Playback, Stage, ThreadVersion, thinned
from .thread import Thread

_OUTCOMES = {
    EditState.PROPOSED: EditOutcome(Status.PROPOSED, "It is waiting for review."),
    EditState.REJECTED: EditOutcome(Status.REJECTED, "It was rejected in review."),
    EditState.REVERTED: EditOutcome(Status.REVERTED, "It was reverted."),
    EditState.OFF: EditOutcome(Status.OFF, "It is switched off."),
}
_STAGED = EditOutcome(Status.PROPOSED, "Its author has not committed it yet.")
_PLAIN = 4_000
"""Up to this many edits are played from scratch without intermediate stages, which takes half the
time."""


def replay(
    leaves: Sequence[Leaf],
    log: Log,
    active_tags: AbstractSet[str] | None = None,
    *,
    objective: str = "",
    assume: AbstractSet[int] = frozenset(),
    known: Thread | None = None,
) -> Thread:
    """The thread that a log makes of the originals `leaves`. Never raises.

    If `active_tags` is None, the session's own are used, with its objective; a given set is used
    as it is. The edits in `assume`, by number, act as if they were on and their condition held,
    to see the effect of recording or accepting them; only their conflicts say what would work
    instead. `known` is a thread of the same session, with the same originals as far as both have
    them. It saves work but never changes the result.
    """
    if active_tags is None:
        tags = log.active_tags | ({objective_tag(objective)} if objective else set())
    else:
        tags = frozenset(active_tags)
    if known is not None and known.log.purged != log.purged:
        known = None
    leaves = _without_purged(leaves, log.purged, known)
    script = _Script(log, tags, frozenset(assume))
    if known is None or len(known.leaves) > len(leaves):
        stages, _ = _played([_first_stage(leaves, script)], leaves, script)
        playback = Playback(stages, Originals(leaves), script.assumed, ThreadVersion())
        return Thread(leaves, log, active_tags=tags, playback=playback)
    kept, restated = _reusable_stages(known, leaves, script)
    stages, played = _played(kept, leaves, script)
    before = known.playback
    playback = Playback(
        stages,
        before.originals.extended(leaves),
        script.assumed,
        ThreadVersion(),
        before.since(played | restated),
    )
    is_same_log = log.head == known.log.head and tags == known.active_tags
    is_grown = is_same_log and kept[-1] is before.stages[-1] and not played | restated
    return Thread(
        leaves,
        log,
        active_tags=tags,
        playback=playback,
        grown=known if is_grown else None,
    )


class _Script(NamedTuple):
    """The inputs that decide which edits act."""

    log: Log
    tags: frozenset[str]
    assumed: frozenset[int]

    def find(self, number: int) -> Edit | EditOutcome | None:
        """As `part`; None if there is no such edit."""
        return self.part(number) if number in self.log.edits else None

    def part(self, number: int) -> Edit | EditOutcome:
        """The edit if it acts, else its outcome."""
        entry, state, edit = self.log.edits[number]
        if number in self.assumed:
            return edit
        if state is EditState.PROPOSED and entry.staged:
            return _STAGED
        if state is not EditState.ON:
            return _OUTCOMES[state]
        tags = frozenset() if entry.actor == CLIENT else self.tags
        if not edit.condition.holds(tags):
            return EditOutcome(Status.UNMET, edit.condition.unmet(tags))
        return edit


def _reusable_stages(
    known: Thread, leaves: Sequence[Leaf], script: _Script
) -> tuple[list[Stage], frozenset[int]]:
    """The reusable stages of a known thread, and the edits whose outcome changes.

    Stages are reused up to the first edit that acts differently. An edit that acts in neither
    thread changes no draft, so only its outcome is corrected in the stages.
    """
    before = _Script(known.log, known.active_tags, known.playback.assumed)
    stages = known.playback.stages
    last = stages[-1]
    end = min(last.number, script.log.head)
    if len(leaves) > last.draft.tree.count and last.waits_from is not None:
        end = last.waits_from - 1
    client = _by_client(known.log) | _by_client(script.log)
    stated: dict[int, EditOutcome] = {}
    for number in _edits_in_question(before, script):
        then, now = before.find(number), script.find(number)
        if number in client and (then != now or _is_conflict(last.draft, number)):
            return [_first_stage(leaves, script)], frozenset(script.log.edits)
        if number > end:
            continue
        if isinstance(then, EditOutcome) and isinstance(now, EditOutcome):
            if then != now:
                stated[number] = now
        elif then != now or _is_conflict(last.draft, number):
            end = number - 1
    kept = [stage for stage in stages if stage.number <= end]
    if not kept:
        return [_first_stage(leaves, script)], frozenset(stated)
    if stated:
        kept = [
            stage._replace(draft=stage.draft.with_outcomes(stated, stage.number))
            for stage in kept
        ]
    return kept, frozenset(stated)


def _first_stage(leaves: Sequence[Leaf], script: _Script) -> Stage:
    """The stage before all other operations: the originals as the client sends them.

    The client's own edits are played first, and what they fold is withheld. Other operations then
    don't find it, and are suspended instead of being in conflict with what the client did.
    """
    draft = ThreadDraft(leaves, purged=script.log.purged)
    numbers = sorted(_by_client(script.log))
    if not numbers:
        return Stage(0, draft, None)
    draft = draft.opened(explained=script.assumed)
    for number in numbers:
        _play(draft, number, script)
    draft.withhold(numbers)
    return Stage(0, draft.closed(), 0 if draft.passed_over else None)


def _by_client(log: Log) -> set[int]:
    return {recorded.entry.number for recorded in log.client_edits}


def _play(draft: ThreadDraft, number: int, script: _Script) -> None:
    """Apply an edit; it is suspended if the client doesn't send what it acts on."""
    part = script.part(number)
    if isinstance(part, EditOutcome):
        draft.outcomes.set(number, part)
        return
    outcome = part.apply(draft, number)
    if outcome.status is Status.VOID:
        is_anchor = isinstance(part, Insert)
        if why := draft.suspension_reason(named_keys(part), is_anchor=is_anchor):
            draft.suspended[number] = None
            outcome = EditOutcome(Status.SUSPENDED, why)
    draft.outcomes.set(number, outcome)


def sent_keys(count: int, log: Log) -> list[Key]:
    """The keys of what the client sent last: originals, and what it put in their place."""
    script = _Script(log, frozenset(), frozenset())
    draft = _first_stage([Leaf("", 0, 0)] * count, script).draft
    found: list[Key] = []
    for node in draft.tree.nodes(THREAD):
        if node in draft.tree.size:
            number, _ = draft.made_by[node]
            found += (made_key(number, k) for k in range(len(draft.messages[number])))
        else:
            found.append(draft.key(node))
    return found


def _is_conflict(draft: ThreadDraft, number: int) -> bool:
    """Whether an edit is in conflict. It is then played again: only assumed edits get `needs`."""
    outcome = draft.outcomes.get(number)
    return outcome is not None and outcome.status is Status.CONFLICT


def _edits_in_question(before: _Script, script: _Script) -> Iterable[int]:
    """The edits, in order, that may act in only one of the scripts, or differently in both."""
    one, other = before.log, script.log
    common = min(one.head, other.head)
    while common and one.at(common) is not other.at(common):
        common -= 1
    numbers = {
        *(one.edits_changed_since(common) | other.edits_changed_since(common)),
        *one.edits.after(common),
        *other.edits.after(common),
        *before.assumed,
        *script.assumed,
    }
    if before.tags != script.tags:
        numbers.update(one.conditional_edits, other.conditional_edits)
    return sorted(numbers)


def _played(
    kept: Sequence[Stage], leaves: Sequence[Leaf], script: _Script
) -> tuple[tuple[Stage, ...], frozenset[int]]:
    """The stages of a thread, played from the last one on, and the edits that were played."""
    stages, head = list(kept), script.log.head
    start = stages[-1]
    client = _by_client(script.log)
    numbers = [n for n in script.log.edits.after(start.number) if n not in client]
    if not numbers:
        draft = start.draft
        if len(leaves) > draft.tree.count:
            draft = draft.extended(leaves)
        # This replaces the last stage, because no replay would start from that any more. In a
        # loop every turn adds originals, and each draft has a list of all of them.
        stages[-1] = Stage(head, draft, start.waits_from)
        return tuple(stages), frozenset()
    plain = not start.number and len(numbers) <= _PLAIN
    draft = start.draft.opened(leaves, explained=script.assumed, plain=plain)
    waits_from, left = start.waits_from, (head - start.number).bit_length()
    for number in numbers:
        _play(draft, number, script)
        if draft.passed_over and waits_from is None:
            waits_from = number
        if not plain and number < head and (head - number).bit_length() < left:
            left = (head - number).bit_length()
            draft = draft.closed()
            stages.append(Stage(number, draft, waits_from))
            draft = draft.opened(explained=script.assumed)
    stages.append(Stage(head, draft.closed(), waits_from))
    return thinned(stages), frozenset(numbers)


def _without_purged(
    leaves: Sequence[Leaf], purged: AbstractSet[str], known: Thread | None
) -> Sequence[Leaf]:
    """The originals, with 0 tokens for purged ones, whenever they were read."""
    if not purged:
        return leaves
    if known is not None and len(known.leaves) == len(leaves):
        return known.leaves
    left = list(leaves)
    for index in map(original_index, purged):
        if index is not None and index < len(left):
            left[index] = left[index]._replace(tokens=0)
    return left
