"""From the originals and the log to the thread: the only way in which one is made."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from operations.domain.log.log import EditState, Log, Recorded
from operations.domain.log.operation import objective_tag
from operations.domain.tree.draft import ThreadDraft
from operations.domain.tree.key import original_index
from operations.domain.tree.leaf import Leaf
from operations.domain.tree.status import EditOutcome, Status

from .thread import Thread

_REASONS = {
    EditState.PROPOSED: "It is waiting for review.",
    EditState.REJECTED: "It was rejected in review.",
    EditState.REVERTED: "It was reverted.",
    EditState.OFF: "It is switched off.",
}


def replay(
    leaves: Sequence[Leaf],
    log: Log,
    active_tags: AbstractSet[str] | None = None,
    *,
    objective: str = "",
    assume: AbstractSet[int] = frozenset(),
) -> Thread:
    """The thread that a log makes of the originals `leaves`. Never raises.

    `active_tags` None means the session's own, and its objective; a set is taken as it is.
    The edits in `assume`, by number, act as if they were on and their condition held: what
    would come of recording or accepting them. Only their conflicts tell what would do instead.
    """
    if active_tags is None:
        tags = log.active_tags | ({objective_tag(objective)} if objective else set())
    else:
        tags = frozenset(active_tags)
    leaves = _without_purged(leaves, log.purged)
    draft = ThreadDraft(len(leaves), purged=log.purged, explained=assume)
    outcomes = {
        number: recorded.edit.apply(draft, number)
        if number in assume
        else _play(draft, recorded, tags)
        for number, recorded in log.edits.items()
    }
    return Thread(leaves, log, draft, outcomes, active_tags=tags)


def _without_purged(leaves: Sequence[Leaf], purged: AbstractSet[str]) -> Sequence[Leaf]:
    """The originals, where those without words count nothing, whenever they were read."""
    if not purged:
        return leaves
    left = list(leaves)
    for index in map(original_index, purged):
        if index is not None and index < len(left):
            left[index] = left[index]._replace(tokens=0)
    return left


def _play(
    draft: ThreadDraft, recorded: Recorded, active_tags: AbstractSet[str]
) -> EditOutcome:
    if recorded.state is not EditState.ON:
        return EditOutcome(Status(recorded.state), _REASONS[recorded.state])
    condition = recorded.edit.condition
    if not condition.holds(active_tags):
        return EditOutcome(Status.UNMET, condition.unmet(active_tags))
    return recorded.edit.apply(draft, recorded.entry.number)
