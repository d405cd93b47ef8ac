"""Recording, switching and taking back operations: every door ends here.

Each function owns its transaction, checks its caller's right, and answers what was recorded
with the thread before and after. What needs no entry (switching to the state that is) adds
none and succeeds.
"""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.db.transaction import atomic

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import DomainError, Invalid
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.selectors import require
from operations.domain.log import history
from operations.domain.log.control import (
    Accept,
    ActivateTags,
    Amend,
    Redo,
    Reject,
    Revert,
    Switch,
    Toggle,
    Undo,
)
from operations.domain.log.history import effective_control
from operations.domain.log.log import EditState, Log, controlled
from operations.domain.log.operation import Edit, Insert, Resequence
from operations.domain.text.text_edit import TextEditRequest
from operations.domain.thread.check import check, check_accept, check_amend
from operations.domain.thread.thread import Thread
from operations.log.selectors import get_bundle, get_operation, list_lenses
from operations.log.transaction import LogTransaction, counted, open_log
from operations.messages.matching import edit_of
from operations.models import Lens

from .arguments import EditArguments

LONGEST_NAME = 100
"""Characters in the name of a lens."""
MakeSwitch = Callable[[tuple[str, ...]], Switch]
"""Makes the control that acts on the operations with these keys."""
Build = Callable[[Thread], Edit | TextEditRequest]
"""Makes an edit of what a caller said, resolved in the thread at hand but for its text."""


@dataclass(frozen=True, slots=True)
class Request:
    """An edit to record; `propose` lets it wait for review, `title` says what it is for.

    `stage` lets it wait until its author commits all that they staged (`operations.edits.staging`).
    """

    build: Build
    propose: bool = False
    title: str = ""
    stage: bool = False


def request_of(said: EditArguments) -> Request:
    """The edit that a caller asks for."""
    return Request(said.edit, propose=said.propose, title=said.title)


def given(edit: Edit) -> Build:
    """What makes an edit that is there already."""
    return lambda thread: edit


def switch_to(active: bool) -> MakeSwitch:
    """Switching on or off."""
    return lambda keys: Toggle(operations=keys, active=active)


def take_back(keys: tuple[str, ...]) -> Switch:
    """Reverting."""
    return Revert(operations=keys)


def let_apply(keys: tuple[str, ...]) -> Switch:
    """Accepting."""
    return Accept(operations=keys)


def decline(keys: tuple[str, ...]) -> Switch:
    """Rejecting."""
    return Reject(operations=keys)


@atomic
def record_edit(
    caller: Caller,
    session_id: uuid.UUID,
    request: Request,
    *,
    expected_head: int | None = None,
) -> LogTransaction:
    """Record one edit. Raises Invalid with the place, or Conflict with what is in the way."""
    transaction = open_log(
        caller, session_id, Right.PROPOSE, expected_head=expected_head
    )
    edit = _built(transaction, request, transaction.thread)
    proposed = _is_proposal(transaction, request)
    checked = check(transaction.thread, [edit], proposed=proposed)
    transaction.warnings.extend(checked.warnings)
    transaction.add(
        *checked.edits,
        proposed=proposed,
        staged=request.stage,
        bundle=_open_bundle(transaction) if request.stage else None,
        title=request.title,
    )
    return transaction.commit()


@atomic
def record_bundle(
    caller: Caller,
    session_id: uuid.UUID,
    requests: Sequence[Request],
    *,
    title: str = "",
    expected_head: int | None = None,
) -> LogTransaction:
    """Record edits as one bundle: all or none, numbered in a row, all proposed if one is.

    Where one is to be staged they all are, in the bundle that the caller is collecting.
    """
    transaction = open_log(
        caller, session_id, Right.PROPOSE, expected_head=expected_head
    )
    proposed = any(_is_proposal(transaction, request) for request in requests)
    edits = _build_all(transaction, requests)
    checked = check(transaction.thread, edits, proposed=proposed, bundle=True)
    transaction.warnings.extend(checked.warnings)
    stage = any(request.stage for request in requests)
    transaction.add(
        *checked.edits,
        proposed=proposed,
        staged=stage,
        bundle=_open_bundle(transaction) if stage else uuid.uuid4(),
        title=title,
    )
    return transaction.commit()


@atomic
def toggle(
    caller: Caller,
    operation_id: uuid.UUID,
    active: bool,
    *,
    expected_head: int | None = None,
) -> LogTransaction:
    """Switch an operation on or off; switching a reverted one on restores it."""
    return _switch_one(
        caller, operation_id, switch_to(active), Right.EDIT, expected_head=expected_head
    )


@atomic
def revert(
    caller: Caller,
    operation_id: uuid.UUID,
    *,
    expected_head: int | None = None,
) -> LogTransaction:
    """Take an operation back; its maker may, without the right to edit, while it waits."""
    return _switch_one(
        caller, operation_id, take_back, Right.EDIT, expected_head=expected_head
    )


@atomic
def accept(
    caller: Caller,
    operation_id: uuid.UUID,
    *,
    expected_head: int | None = None,
) -> LogTransaction:
    """Let a proposed operation apply. Raises Conflict where it would cut through a fold."""
    return _switch_one(
        caller, operation_id, let_apply, Right.REVIEW, expected_head=expected_head
    )


@atomic
def reject(
    caller: Caller,
    operation_id: uuid.UUID,
    *,
    expected_head: int | None = None,
) -> LogTransaction:
    """Decline a proposed operation."""
    return _switch_one(
        caller, operation_id, decline, Right.REVIEW, expected_head=expected_head
    )


@atomic
def switch_bundle(
    caller: Caller,
    bundle_id: uuid.UUID,
    control: MakeSwitch,
    right: Right = Right.EDIT,
    *,
    expected_head: int | None = None,
) -> LogTransaction:
    """Switch, take back or review the operations of a bundle with one entry."""
    session, keys = get_bundle(caller, bundle_id, right, lock=True)
    transaction = open_log(caller, session.pk, right, expected_head=expected_head)
    return record_switch(transaction, control(keys))


@atomic
def amend(
    caller: Caller,
    operation_id: uuid.UUID,
    build: Callable[[Edit], Edit],
    *,
    expected_head: int | None = None,
) -> LogTransaction:
    """Give an operation new words or a new condition; its targets stay what they are.

    `build` makes the amended edit of the words now in force.
    """
    session, key = get_operation(caller, operation_id, Right.EDIT, lock=True)
    transaction = open_log(caller, session.pk, Right.EDIT, expected_head=expected_head)
    recorded = transaction.history.log.edit(key)
    if recorded is None:
        raise Invalid("Only an edit can be amended.", at=["operation_id"])
    edit = counted(transaction.session, build(recorded.edit))
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


@atomic
def save_lens(
    caller: Caller, session_id: uuid.UUID, name: str, tags: Sequence[str]
) -> Lens:
    """Name a set of active tags, or change what a name stands for."""
    transaction = open_log(caller, session_id, Right.EDIT)
    if not (0 < len(name) <= LONGEST_NAME and name.isprintable()):
        raise Invalid(
            f"The name of a lens has 1 to {LONGEST_NAME} characters.", at=["name"]
        )
    lens, _ = Lens.objects.update_or_create(
        session=transaction.session,
        name=name,
        defaults={"tags": list(dict.fromkeys(tags))},
    )
    return lens


@atomic
def delete_lens(caller: Caller, session_id: uuid.UUID, name: str) -> None:
    """Forget a named set of active tags; one that is not there is forgotten already."""
    transaction = open_log(caller, session_id, Right.EDIT)
    for lens in list_lenses(transaction.session):
        if lens.name == name:
            lens.delete()


def _is_proposal(transaction: LogTransaction, request: Request) -> bool:
    """Asked for as one, staged, or made by one who may not edit."""
    return (
        request.propose
        or request.stage
        or not transaction.caller.may(Right.EDIT, transaction.session.project_id)
    )


def _open_bundle(transaction: LogTransaction) -> uuid.UUID:
    """The bundle of what the caller has staged already, or a new one."""
    numbers = history.staged(transaction.history.log, transaction.caller.actor)
    known = transaction.history.rows[numbers[-1]].bundle if numbers else None
    return known or uuid.uuid4()


def _built(transaction: LogTransaction, request: Request, thread: Thread) -> Edit:
    """The edit of a request, with its text found and its tokens counted."""
    made = request.build(thread)
    if isinstance(made, TextEditRequest):
        return edit_of(transaction.session, thread, made)
    return counted(transaction.session, made)


def _build_all(transaction: LogTransaction, requests: Sequence[Request]) -> list[Edit]:
    """The edits of a bundle; each is resolved at the head that those before it make.

    Only inserts and resequences change what an index range means, so only they are replayed.
    """
    edits: list[Edit] = []
    thread = transaction.thread
    for place, request in enumerate(requests):
        try:
            edits.append(_built(transaction, request, thread))
        except DomainError as error:
            for fault in (error, *error.errors):
                fault.at = ("operations", place, *fault.at)
            raise
        if isinstance(edits[-1], Insert | Resequence):
            thread = check(transaction.thread, edits, bundle=True, proposed=True).thread
    return edits


def _switch_one(
    caller: Caller,
    operation_id: uuid.UUID,
    control: MakeSwitch,
    right: Right,
    *,
    expected_head: int | None,
) -> LogTransaction:
    session, key = get_operation(caller, operation_id, Right.PROPOSE, lock=True)
    transaction = open_log(
        caller, session.pk, Right.PROPOSE, expected_head=expected_head
    )
    if right is not Right.EDIT or not _may_take_back(transaction, key):
        require(caller, right, session.project_id)
    return record_switch(transaction, control((key,)))


def _may_take_back(transaction: LogTransaction, key: str) -> bool:
    """Whether it is the caller's own proposal, still waiting."""
    recorded = transaction.history.log.edit(key)
    return (
        recorded is not None
        and recorded.state is EditState.PROPOSED
        and recorded.entry.actor == transaction.caller.actor
    )


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


def record_switch(transaction: LogTransaction, control: Switch) -> LogTransaction:
    """Record a control as far as it changes anything. Raises Conflict for what can't apply."""
    effective = effective_control(transaction.history.log, control)
    if isinstance(effective, Accept):
        check_accept(transaction.thread, effective.operations)
    if effective is not None:
        transaction.add(effective)
    return transaction.commit()
