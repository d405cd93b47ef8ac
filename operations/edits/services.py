"""Recording, switching and taking back operations: every door ends here.

Each function owns its transaction, checks its caller's right, and answers what was recorded
with the thread before and after. What needs no entry (switching to the state that is) adds
none and succeeds.
"""

import uuid
from collections.abc import Callable, Sequence
from enum import StrEnum

from django.db.transaction import atomic

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import DomainError, Invalid
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.selectors import require
from operations.domain.log import history
from operations.domain.log.history import effective_control
from operations.domain.log.log import EditState, Log, controlled
from operations.domain.log.operation import (
    Accept,
    ActivateTags,
    Amend,
    Edit,
    Insert,
    Redo,
    Reject,
    Resequence,
    Revert,
    Switch,
    Toggle,
    Undo,
)
from operations.domain.thread.check import check, check_accept, check_amend
from operations.domain.thread.thread import Thread
from operations.log.selectors import get_bundle, get_operation
from operations.log.transaction import LogTransaction, counted, open_log

from .arguments import EditArguments


class Act(StrEnum):
    """What can be done to operations that are recorded."""

    ON = "on"
    OFF = "off"
    REVERT = "revert"
    ACCEPT = "accept"
    REJECT = "reject"

    @property
    def right(self) -> Right:
        """What a caller needs for it."""
        return Right.REVIEW if self in (Act.ACCEPT, Act.REJECT) else Right.EDIT

    def control(self, keys: tuple[str, ...]) -> Switch:
        """The entry that does it."""
        match self:
            case Act.ON | Act.OFF:
                return Toggle(operations=keys, active=self is Act.ON)
            case Act.REVERT:
                return Revert(operations=keys)
            case Act.ACCEPT:
                return Accept(operations=keys)
            case Act.REJECT:
                return Reject(operations=keys)


@atomic
def record_edit(
    caller: Caller,
    session_id: uuid.UUID,
    edit: EditArguments | Edit,
    *,
    propose: bool = False,
    stage: bool = False,
    title: str = "",
    expected_head: int | None = None,
) -> LogTransaction:
    """Record one edit, given as a caller says it or made already.

    With `propose` it waits for review, with `stage` until its author commits all that they
    staged (`operations.edits.staging`). Raises Invalid with the place, or Conflict with what is
    in the way.
    """
    transaction = open_log(
        caller, session_id, Right.PROPOSE, expected_head=expected_head
    )
    proposed = stage or propose or _is_proposal(transaction, edit)
    made = _resolved(transaction, edit, transaction.thread)
    checked = check(transaction.thread, [made], proposed=proposed)
    transaction.warnings.extend(checked.warnings)
    transaction.add(
        *checked.edits,
        proposed=proposed,
        staged=stage,
        bundle=_open_bundle(transaction) if stage else None,
        title=edit.title if isinstance(edit, EditArguments) else title,
    )
    return transaction.commit()


@atomic
def record_bundle(
    caller: Caller,
    session_id: uuid.UUID,
    edits: Sequence[EditArguments | Edit],
    *,
    propose: bool = False,
    stage: bool = False,
    title: str = "",
    expected_head: int | None = None,
) -> LogTransaction:
    """Record edits as one bundle: all or none, numbered in a row, all proposed if one is.

    What is staged goes to the bundle that the caller is collecting.
    """
    transaction = open_log(
        caller, session_id, Right.PROPOSE, expected_head=expected_head
    )
    proposed = (
        stage or propose or any(_is_proposal(transaction, edit) for edit in edits)
    )
    made = _resolved_in_turn(transaction, edits)
    checked = check(transaction.thread, made, proposed=proposed, bundle=True)
    transaction.warnings.extend(checked.warnings)
    transaction.add(
        *checked.edits,
        proposed=proposed,
        staged=stage,
        bundle=_open_bundle(transaction) if stage else uuid.uuid4(),
        title=title,
    )
    return transaction.commit()


@atomic
def switch(
    caller: Caller,
    operation_id: uuid.UUID,
    act: Act,
    *,
    expected_head: int | None = None,
) -> LogTransaction:
    """Switch, take back or review an operation; switching a reverted one on restores it.

    Who made a proposal may take it back, without the right to edit, while it waits. Raises
    Conflict where accepting it would cut through a fold.
    """
    session, key = get_operation(caller, operation_id, Right.PROPOSE, lock=True)
    transaction = open_log(
        caller, session.pk, Right.PROPOSE, expected_head=expected_head
    )
    recorded = transaction.history.log.edit(key)
    waits_for_others = (
        recorded is not None
        and recorded.state is EditState.PROPOSED
        and recorded.entry.actor == caller.actor
    )
    if act.right is not Right.EDIT or not waits_for_others:
        require(caller, act.right, session.project_id)
    return record_switch(transaction, act.control((key,)))


@atomic
def switch_bundle(
    caller: Caller,
    bundle_id: uuid.UUID,
    act: Act,
    *,
    expected_head: int | None = None,
) -> LogTransaction:
    """Switch, take back or review the operations of a bundle with one entry."""
    session, keys = get_bundle(caller, bundle_id, act.right, lock=True)
    transaction = open_log(caller, session.pk, act.right, expected_head=expected_head)
    return record_switch(transaction, act.control(keys))


def record_switch(transaction: LogTransaction, control: Switch) -> LogTransaction:
    """Record a control as far as it changes anything. Raises Conflict for what can't apply."""
    effective = effective_control(transaction.history.log, control)
    if isinstance(effective, Accept):
        check_accept(transaction.thread, effective.operations)
    if effective is not None:
        transaction.add(effective)
    return transaction.commit()


@atomic
def amend(
    caller: Caller,
    operation_id: uuid.UUID,
    amended: Callable[[Edit], Edit],
    *,
    expected_head: int | None = None,
) -> LogTransaction:
    """Give an operation new words or a new condition; its targets stay what they are.

    `amended` makes the edit of the one with the words now in force.
    """
    session, key = get_operation(caller, operation_id, Right.EDIT, lock=True)
    transaction = open_log(caller, session.pk, Right.EDIT, expected_head=expected_head)
    recorded = transaction.history.log.edit(key)
    if recorded is None:
        raise Invalid("Only an edit can be amended.", at=["operation_id"])
    edit = counted(transaction.session, amended(recorded.edit))
    control = effective_control(
        transaction.history.log, Amend(operation=key, edit=edit)
    )
    if isinstance(control, Amend):
        checked = check_amend(transaction.thread, control)
        transaction.warnings.extend(checked.warnings)
        transaction.add(Amend(operation=key, edit=checked.edits[0]))
    return transaction.commit()


@atomic
def undo(
    caller: Caller, session_id: uuid.UUID, *, expected_head: int | None = None
) -> LogTransaction:
    """Take back the caller's newest entry, a bundle whole.

    Raises Conflict where there is none, or where somebody else's operation needs it;
    Forbidden where it has come to apply and the caller may propose only.
    """
    transaction = open_log(
        caller, session_id, Right.PROPOSE, expected_head=expected_head
    )
    return _turn_back(transaction, history.undo(transaction.history.log, caller.actor))


@atomic
def redo(
    caller: Caller, session_id: uuid.UUID, *, expected_head: int | None = None
) -> LogTransaction:
    """Bring back what the caller undid last. Raises Conflict where there is nothing."""
    transaction = open_log(
        caller, session_id, Right.PROPOSE, expected_head=expected_head
    )
    return _turn_back(transaction, history.redo(transaction.history.log, caller.actor))


@atomic
def activate_tags(
    caller: Caller,
    session_id: uuid.UUID,
    tags: Sequence[str],
    *,
    expected_head: int | None = None,
) -> LogTransaction:
    """Set the session's active tags."""
    transaction = open_log(caller, session_id, Right.EDIT, expected_head=expected_head)
    control = ActivateTags(tags=tuple(dict.fromkeys(tags)))
    if effective_control(transaction.history.log, control) is not None:
        transaction.add(control)
    return transaction.commit()


def _is_proposal(transaction: LogTransaction, edit: EditArguments | Edit) -> bool:
    """Asked for as one, or made by one who may not edit."""
    asked = isinstance(edit, EditArguments) and edit.propose
    project_id = transaction.session.project_id
    return asked or not transaction.caller.may(Right.EDIT, project_id)


def _open_bundle(transaction: LogTransaction) -> uuid.UUID:
    """The bundle of what the caller has staged already, or a new one."""
    numbers = history.staged(transaction.history.log, transaction.caller.actor)
    known = transaction.history.rows[numbers[-1]].bundle if numbers else None
    return known or uuid.uuid4()


def _resolved(
    transaction: LogTransaction, edit: EditArguments | Edit, thread: Thread
) -> Edit:
    """An edit with its targets and text found in a thread, and its tokens counted."""
    if isinstance(edit, EditArguments):
        edit = edit.edit(transaction.session, thread)
    return counted(transaction.session, edit)


def _resolved_in_turn(
    transaction: LogTransaction, edits: Sequence[EditArguments | Edit]
) -> list[Edit]:
    """The edits of a bundle; each is resolved at the head that those before it make.

    Only inserts and resequences change what an index range means, so only they are replayed.
    """
    resolved: list[Edit] = []
    thread = transaction.thread
    for place, edit in enumerate(edits):
        try:
            resolved.append(_resolved(transaction, edit, thread))
        except DomainError as error:
            for fault in (error, *error.errors):
                fault.at = ("operations", place, *fault.at)
            raise
        if isinstance(resolved[-1], Insert | Resequence):
            tried = check(transaction.thread, resolved, bundle=True, proposed=True)
            thread = tried.thread
    return resolved


def _turn_back(transaction: LogTransaction, control: Undo | Redo) -> LogTransaction:
    """Record an undo or a redo by one who has the rights that its entries need by now."""
    before = transaction.history.log
    transaction.add(control)
    for number in control.entries:
        right = _right_over(number, before, transaction.history.log)
        require(transaction.caller, right, transaction.session.project_id)
    return transaction.commit()


def _right_over(number: int, before: Log, after: Log) -> Right:
    """What it takes to turn an entry back: its own right, and to edit where the thread changes."""
    operation = before.at(number).operation
    if isinstance(operation, Accept | Reject):
        return Right.REVIEW
    if isinstance(operation, ActivateTags):
        return Right.EDIT
    states = {
        log.edits[edit].state
        for edit in controlled(operation) or (number,)
        for log in (before, after)
    }
    return Right.EDIT if states & {EditState.ON, EditState.OFF} else Right.PROPOSE
