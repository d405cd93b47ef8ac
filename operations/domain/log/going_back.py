"""Returns edits to their state at an earlier head, to restore a snapshot.

The log only grows, so going back means recording a few more entries, which an undo can take back.
"""

from collections.abc import Callable, Iterable

from operations.domain.tree.key import entry_key

from . import operation as op
from .entry import CLIENT, EditState, Entry, RecordedEdit
from .log import Log

Keep = Callable[[RecordedEdit], bool]
"""Whether an edit is left as it is."""

_NOT_APPLYING = (EditState.PROPOSED, EditState.REJECTED)


def is_redaction(recorded: RecordedEdit) -> bool:
    """Whether it is a redaction: what it masks stays masked, whichever point is restored."""
    return isinstance(recorded.edit, op.Redact)


def is_redaction_or_clients(recorded: RecordedEdit) -> bool:
    """Whether it is a redaction or a client's edit, which the client goes on sending."""
    return is_redaction(recorded) or recorded.entry.actor == CLIENT


def controls_back(log: Log, then: Log, keep: Keep) -> list[op.Control]:
    """The controls after which the edits of a log apply as they did in `then`, its beginning.

    What was recorded since is reverted, so that none of its text is in the way; proposals keep
    waiting for review. Edits for which `keep` returns True stay as they are. Empty if nothing
    needs to change.
    """
    wanted = {
        number: (now, then.edits.get(number))
        for number, now in log.edits.items()
        if not keep(now)
    }
    controls: list[op.Control] = []

    def named(
        chosen: Callable[[RecordedEdit, RecordedEdit | None], bool],
    ) -> tuple[str, ...]:
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
        # An undo may have taken back the entry that accepted them.
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
    """The log as it would be with these controls at its end; nothing is recorded."""
    return log.extended(
        Entry(number, control, actor="")
        for number, control in enumerate(controls, start=log.head + 1)
    )


def _applied(_now: RecordedEdit, before: RecordedEdit | None) -> bool:
    return before is not None and before.state is EditState.ON


def _is_to_be_reverted(now: RecordedEdit, before: RecordedEdit | None) -> bool:
    was_there = before is not None and before.state is not EditState.REVERTED
    return not was_there and now.state in (EditState.ON, EditState.OFF)


def _is_to_be_off(now: RecordedEdit, before: RecordedEdit | None) -> bool:
    did_not_apply = before is not None and before.state in (
        EditState.OFF,
        *_NOT_APPLYING,
    )
    return did_not_apply and now.state is EditState.ON


def _is_to_be_on(now: RecordedEdit, before: RecordedEdit | None) -> bool:
    return _applied(now, before) and now.state in (EditState.OFF, EditState.REVERTED)
