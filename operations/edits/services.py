"""Recording, switching and taking back operations: every door ends here.

Each function owns its transaction, checks its caller's right, and answers what was recorded
with the thread before and after. What needs no entry (switching to the state that is) adds
none and succeeds.
"""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.db import transaction

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
from operations.domain.log.history import settle
from operations.domain.log.log import Log, State, controlled
from operations.domain.log.operation import Edit, Insert, Resequence
from operations.domain.text.text_edit import Wanted
from operations.domain.thread.check import check, check_accept, check_amend
from operations.domain.thread.thread import Thread
from operations.log.selectors import get_bundle, get_operation, list_lenses
from operations.log.writing import Writing, begin, counted
from operations.messages.matching import edit_of
from operations.models import Lens

from .arguments import EditArguments

LONGEST_NAME = 100
"""Characters in the name of a lens."""
MakeSwitch = Callable[[tuple[str, ...]], Switch]
"""Makes the control that acts on the operations with these keys."""
Build = Callable[[Thread], Edit | Wanted]
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


@transaction.atomic
def record_edit(
    caller: Caller,
    session_id: uuid.UUID,
    request: Request,
    *,
    expected_head: int | None = None,
) -> Writing:
    """Record one edit. Raises Invalid with the place, or Conflict with what is in the way."""
    writing = begin(caller, session_id, Right.PROPOSE, expected_head=expected_head)
    edit = _built(writing, request, writing.thread)
    proposed = _is_proposal(writing, request)
    checked = check(writing.thread, [edit], proposed=proposed)
    writing.warnings.extend(checked.warnings)
    writing.add(
        *checked.edits,
        proposed=proposed,
        staged=request.stage,
        bundle=_open_bundle(writing) if request.stage else None,
        title=request.title,
    )
    return writing.finish()


@transaction.atomic
def record_bundle(
    caller: Caller,
    session_id: uuid.UUID,
    requests: Sequence[Request],
    *,
    title: str = "",
    expected_head: int | None = None,
) -> Writing:
    """Record edits as one bundle: all or none, numbered in a row, all proposed if one is.

    Where one is to be staged they all are, in the bundle that the caller is collecting.
    """
    writing = begin(caller, session_id, Right.PROPOSE, expected_head=expected_head)
    proposed = any(_is_proposal(writing, request) for request in requests)
    edits = _build_all(writing, requests)
    checked = check(writing.thread, edits, proposed=proposed, bundle=True)
    writing.warnings.extend(checked.warnings)
    stage = any(request.stage for request in requests)
    writing.add(
        *checked.edits,
        proposed=proposed,
        staged=stage,
        bundle=_open_bundle(writing) if stage else uuid.uuid4(),
        title=title,
    )
    return writing.finish()


@transaction.atomic
def toggle(
    caller: Caller,
    operation_id: uuid.UUID,
    active: bool,
    *,
    expected_head: int | None = None,
) -> Writing:
    """Switch an operation on or off; switching a reverted one on restores it."""
    return _switch_one(
        caller, operation_id, switch_to(active), Right.EDIT, expected_head=expected_head
    )


@transaction.atomic
def revert(
    caller: Caller,
    operation_id: uuid.UUID,
    *,
    expected_head: int | None = None,
) -> Writing:
    """Take an operation back; its maker may, without the right to edit, while it waits."""
    return _switch_one(
        caller, operation_id, take_back, Right.EDIT, expected_head=expected_head
    )


@transaction.atomic
def accept(
    caller: Caller,
    operation_id: uuid.UUID,
    *,
    expected_head: int | None = None,
) -> Writing:
    """Let a proposed operation apply. Raises Conflict where it would cut through a fold."""
    return _switch_one(
        caller, operation_id, let_apply, Right.REVIEW, expected_head=expected_head
    )


@transaction.atomic
def reject(
    caller: Caller,
    operation_id: uuid.UUID,
    *,
    expected_head: int | None = None,
) -> Writing:
    """Decline a proposed operation."""
    return _switch_one(
        caller, operation_id, decline, Right.REVIEW, expected_head=expected_head
    )


@transaction.atomic
def switch_bundle(
    caller: Caller,
    bundle_id: uuid.UUID,
    control: MakeSwitch,
    right: Right = Right.EDIT,
    *,
    expected_head: int | None = None,
) -> Writing:
    """Switch, take back or review the operations of a bundle with one entry."""
    session, keys = get_bundle(caller, bundle_id, right, lock=True)
    writing = begin(caller, session.pk, right, expected_head=expected_head)
    return record_switch(writing, control(keys))


@transaction.atomic
def amend(
    caller: Caller,
    operation_id: uuid.UUID,
    build: Callable[[Edit], Edit],
    *,
    expected_head: int | None = None,
) -> Writing:
    """Give an operation new words or a new condition; its targets stay what they are.

    `build` makes the amended edit of the words now in force.
    """
    session, key = get_operation(caller, operation_id, Right.EDIT, lock=True)
    writing = begin(caller, session.pk, Right.EDIT, expected_head=expected_head)
    recorded = writing.history.log.edit(key)
    if recorded is None:
        raise Invalid("Only an edit can be amended.", at=["operation_id"])
    edit = counted(writing.session, build(recorded.edit))
    settled = settle(writing.history.log, Amend(operation=key, edit=edit))
    if isinstance(settled, Amend):
        checked = check_amend(writing.thread, settled)
        writing.warnings.extend(checked.warnings)
        writing.add(Amend(operation=key, edit=checked.edits[0]))
    return writing.finish()


@transaction.atomic
def undo(
    caller: Caller, session_id: uuid.UUID, *, expected_head: int | None = None
) -> Writing:
    """Take back the caller's newest entry, a bundle whole.

    Raises Conflict where there is none, or where somebody else's operation needs it;
    Forbidden where it has come to apply and the caller may propose only.
    """
    writing = begin(caller, session_id, Right.PROPOSE, expected_head=expected_head)
    return _turn_back(writing, history.undo(writing.history.log, caller.actor))


@transaction.atomic
def redo(
    caller: Caller, session_id: uuid.UUID, *, expected_head: int | None = None
) -> Writing:
    """Bring back what the caller undid last. Raises Conflict where there is nothing."""
    writing = begin(caller, session_id, Right.PROPOSE, expected_head=expected_head)
    return _turn_back(writing, history.redo(writing.history.log, caller.actor))


@transaction.atomic
def activate_tags(
    caller: Caller,
    session_id: uuid.UUID,
    tags: Sequence[str],
    *,
    expected_head: int | None = None,
) -> Writing:
    """Set the session's active tags."""
    writing = begin(caller, session_id, Right.EDIT, expected_head=expected_head)
    control = ActivateTags(tags=tuple(dict.fromkeys(tags)))
    if settle(writing.history.log, control) is not None:
        writing.add(control)
    return writing.finish()


@transaction.atomic
def save_lens(
    caller: Caller, session_id: uuid.UUID, name: str, tags: Sequence[str]
) -> Lens:
    """Name a set of active tags, or change what a name stands for."""
    writing = begin(caller, session_id, Right.EDIT)
    if not (0 < len(name) <= LONGEST_NAME and name.isprintable()):
        raise Invalid(
            f"The name of a lens has 1 to {LONGEST_NAME} characters.", at=["name"]
        )
    lens, _ = Lens.objects.update_or_create(
        session=writing.session, name=name, defaults={"tags": list(dict.fromkeys(tags))}
    )
    return lens


@transaction.atomic
def delete_lens(caller: Caller, session_id: uuid.UUID, name: str) -> None:
    """Forget a named set of active tags; one that is not there is forgotten already."""
    writing = begin(caller, session_id, Right.EDIT)
    for lens in list_lenses(writing.session):
        if lens.name == name:
            lens.delete()


def _is_proposal(writing: Writing, request: Request) -> bool:
    """Asked for as one, staged, or made by one who may not edit."""
    return (
        request.propose
        or request.stage
        or not writing.caller.may(Right.EDIT, writing.session.project_id)
    )


def _open_bundle(writing: Writing) -> uuid.UUID:
    """The bundle of what the caller has staged already, or a new one."""
    numbers = history.staged(writing.history.log, writing.caller.actor)
    known = writing.history.rows[numbers[-1]].bundle if numbers else None
    return known or uuid.uuid4()


def _built(writing: Writing, request: Request, thread: Thread) -> Edit:
    """The edit of a request, with its text found and its tokens counted."""
    made = request.build(thread)
    if isinstance(made, Wanted):
        return edit_of(writing.session, thread, made)
    return counted(writing.session, made)


def _build_all(writing: Writing, requests: Sequence[Request]) -> list[Edit]:
    """The edits of a bundle; each is resolved at the head that those before it make.

    Only inserts and resequences change what an index range means, so only they are replayed.
    """
    edits: list[Edit] = []
    thread = writing.thread
    for place, request in enumerate(requests):
        try:
            edits.append(_built(writing, request, thread))
        except DomainError as error:
            for fault in (error, *error.errors):
                fault.at = ("operations", place, *fault.at)
            raise
        if isinstance(edits[-1], Insert | Resequence):
            thread = check(writing.thread, edits, bundle=True, proposed=True).thread
    return edits


def _switch_one(
    caller: Caller,
    operation_id: uuid.UUID,
    control: MakeSwitch,
    right: Right,
    *,
    expected_head: int | None,
) -> Writing:
    session, key = get_operation(caller, operation_id, Right.PROPOSE, lock=True)
    writing = begin(caller, session.pk, Right.PROPOSE, expected_head=expected_head)
    if right is not Right.EDIT or not _may_take_back(writing, key):
        require(caller, right, session.project_id)
    return record_switch(writing, control((key,)))


def _may_take_back(writing: Writing, key: str) -> bool:
    """Whether it is the caller's own proposal, still waiting."""
    recorded = writing.history.log.edit(key)
    return (
        recorded is not None
        and recorded.state is State.PROPOSED
        and recorded.entry.actor == writing.caller.actor
    )


def _turn_back(writing: Writing, control: Undo | Redo) -> Writing:
    """Record an undo or a redo by one who has the rights that its entries need by now."""
    before = writing.history.log
    writing.add(control)
    for number in control.entries:
        right = _right_over(number, before, writing.history.log)
        require(writing.caller, right, writing.session.project_id)
    return writing.finish()


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
    return Right.EDIT if states & {State.ON, State.OFF} else Right.PROPOSE


def record_switch(writing: Writing, control: Switch) -> Writing:
    """Record a control as far as it changes anything. Raises Conflict for what can't apply."""
    settled = settle(writing.history.log, control)
    if isinstance(settled, Accept):
        check_accept(writing.thread, settled.operations)
    if settled is not None:
        writing.add(settled)
    return writing.finish()
