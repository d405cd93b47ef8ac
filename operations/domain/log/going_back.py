"""Bringing edits back to where they stood at an earlier head: what restores a snapshot.

The log only grows, so that going back is a few more entries of it, which an undo takes back.
"""

from collections.abc import Callable, Iterable

from operations.domain.tree.key import entry_key

from . import operation as op
from .entry import CLIENT, EditState, Entry, Recorded
from .log import Log

Keep = Callable[[Recorded], bool]
"""Whether an edit is left as it is."""

_NOT_APPLYING = (EditState.PROPOSED, EditState.REJECTED)


def is_redaction(recorded: Recorded) -> bool:
    """What a redaction masks stays masked, whatever point is gone back to."""
    return isinstance(recorded.edit, op.Redact)


def is_redaction_or_clients(recorded: Recorded) -> bool:
    """Redactions, and what a client did to its own messages: it goes on sending them so."""
    return is_redaction(recorded) or recorded.entry.actor == CLIENT


def controls_back(log: Log, then: Log, keep: Keep) -> list[op.Control]:
    """The controls after which the edits of a log apply as those of `then`, its beginning, did.

    What was recorded since is reverted, so that no text of it stands in the way; what waits for
    review goes on waiting. The edits that `keep` names stay as they are. Empty where nothing is
    to be changed.
    """
    wanted = {
        number: (now, then.edits.get(number))
        for number, now in log.edits.items()
        if not keep(now)
    }
    controls: list[op.Control] = []

    def named(chosen: Callable[[Recorded, Recorded | None], bool]) -> tuple[str, ...]:
        return tuple(
            entry_key(number) for number, both in wanted.items() if chosen(*both)
        )

    if keys := named(_is_to_be_reverted):
        controls.append(op.Revert(operations=keys))
    if keys := named(_is_to_be_off):
        controls.append(op.Toggle(operations=keys, active=False))
    if keys := named(_is_to_be_on):
        controls.append(op.Toggle(operations=keys, active=True))
    if keys := named(_applied):
        # An undo may have taken back what accepted them.
        switched = with_controls(log, controls)
        waiting = [
            key
            for key in keys
            if (one := switched.edit(key)) and one.state in _NOT_APPLYING
        ]
        if waiting:
            controls.append(op.Accept(operations=tuple(waiting)))
    controls += (
        op.Amend(operation=entry_key(number), edit=before.edit)
        for number, (now, before) in wanted.items()
        if before and before.state is EditState.ON and before.edit != now.edit
    )
    if then.active_tags != log.active_tags:
        controls.append(op.ActivateTags(tags=tuple(sorted(then.active_tags))))
    return controls


def with_controls(log: Log, controls: Iterable[op.Control]) -> Log:
    """The log that there would be with controls at its end; nobody records them."""
    return log.extended(
        Entry(number, control, actor="")
        for number, control in enumerate(controls, start=log.head + 1)
    )


def _applied(_now: Recorded, before: Recorded | None) -> bool:
    return before is not None and before.state is EditState.ON


def _is_to_be_reverted(now: Recorded, before: Recorded | None) -> bool:
    was_there = before is not None and before.state is not EditState.REVERTED
    return not was_there and now.state in (EditState.ON, EditState.OFF)


def _is_to_be_off(now: Recorded, before: Recorded | None) -> bool:
    did_not_apply = before is not None and before.state in (
        EditState.OFF,
        *_NOT_APPLYING,
    )
    return did_not_apply and now.state is EditState.ON


def _is_to_be_on(now: Recorded, before: Recorded | None) -> bool:
    return _applied(now, before) and now.state in (EditState.OFF, EditState.REVERTED)
