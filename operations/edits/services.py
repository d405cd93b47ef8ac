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
from contextstudio.accounts.domain.errors import DomainError, Invalid, NotFound
from contextstudio.accounts.domain.rights import Right
from operations.domain.log.authors import switch_of
from operations.domain.log.entry import EditState
from operations.domain.log.history import bundle_control, effective_control
from operations.domain.log.operation import (
    Accept,
    ActivateTags,
    Amend,
    Edit,
    Insert,
    Reject,
    Resequence,
    Revert,
    Switch,
    Tag,
    Toggle,
)
from operations.domain.thread.acceptance import refusal, try_acceptance
from operations.domain.thread.check import (
    EditWarning,
    check,
    check_amend,
    expanded,
)
from operations.domain.thread.moving import UNMOVED
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import entry_key, entry_number
from operations.log.selectors import get_bundle, get_operation
from operations.log.transaction import (
    LogTransaction,
    open_log,
    refuse_stale,
    with_token_counts,
)
from threads.models import Session
from threads.store.selectors import has_session_right, require_session_right

from .arguments import EditArguments
from .staging import (
    bundle_of_staged,
    refuse_staged,
    right_to_commit,
    take_back_moves,
)
from .unseen import with_unseen


class Act(StrEnum):
    """What can be done to operations that are recorded."""

    ON = "on"
    OFF = "off"
    RESTORE = "restore"
    REVERT = "revert"
    ACCEPT = "accept"
    REJECT = "reject"

    @property
    def right(self) -> Right:
        return Right.REVIEW if self in (Act.ACCEPT, Act.REJECT) else Right.EDIT

    def control(self, keys: tuple[str, ...]) -> Switch:
        match self:
            case Act.ON | Act.OFF | Act.RESTORE:
                return Toggle(operations=keys, active=self is not Act.OFF)
            case Act.REVERT:
                return Revert(operations=keys)
            case Act.ACCEPT:
                return Accept(operations=keys)
            case Act.REJECT:
                return Reject(operations=keys)


def right_over(edit: Edit) -> Right:
    """What it takes to let an edit apply: a tag is a note, all else changes what is read."""
    return Right.OWN_SESSION if isinstance(edit, Tag) else Right.EDIT


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
    bundle: uuid.UUID | None = None,
) -> LogTransaction:
    """Record one edit, given as a caller says it or made already.

    With `propose` it waits for review, with `stage` until its author commits all that they
    staged (`operations.edits.own_entries`); undo takes it back with the rest of its `bundle`.
    To stage, or to propose, a move of what one has staged or proposed to move already is to choose
    another place for it.
    Raises Invalid with the place, or Conflict with what is in the way.
    """
    transaction = open_log(
        caller, session_id, Right.PROPOSE, expected_head=expected_head
    )
    propose = propose or _asks_to_propose(edit)
    waits = (
        stage
        or propose
        or not has_session_right(caller, Right.EDIT, transaction.session)
    )
    try:
        made = _resolved(transaction.session, edit, transaction.thread)
    except Invalid as refusal:
        # Where it stands, nothing needs to wait.
        is_there = waits and refusal.code == UNMOVED
        if not is_there or not take_back_moves(transaction, edit, stage=stage):
            raise
        return transaction.commit()
    if waits:
        bundle = take_back_moves(transaction, edit, stage=stage) or bundle
    return _record(
        transaction,
        [made],
        propose=propose,
        stage=stage,
        titles=[_title_of(edit) or title],
        bundle=bundle,
    )


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

    Without a `title` each keeps its own. What is staged goes to the bundle that the caller is
    collecting.
    """
    transaction = open_log(
        caller, session_id, Right.PROPOSE, expected_head=expected_head
    )
    return _record(
        transaction,
        resolved_in_turn(transaction.session, transaction.thread, edits),
        propose=propose or any(map(_asks_to_propose, edits)),
        stage=stage,
        titles=[title or _title_of(edit) for edit in edits],
        bundle=uuid.uuid4(),
    )


@atomic
def expand_targets(caller: Caller, operation_id: uuid.UUID) -> LogTransaction:
    """Take an operation that is set aside back, and record it with the targets it would need.

    It then takes in the folds that it would have cut through. Raises Invalid where no range
    would do.
    """
    _, key = get_operation(caller, operation_id)
    bundle = uuid.uuid4()  # so that one undo takes back both
    taken_back = switch(caller, operation_id, Act.REVERT, bundle=bundle)
    edit = expanded(taken_back.before, key)
    if edit is None:
        raise Invalid("There is no wider range for this operation.", at=["operation"])
    title = taken_back.history.rows[entry_number(key) or 0].title
    return record_edit(caller, taken_back.session.pk, edit, title=title, bundle=bundle)


@atomic
def switch(
    caller: Caller,
    operation_id: uuid.UUID,
    act: Act,
    *,
    expected_head: int | None = None,
    bundle: uuid.UUID | None = None,
) -> LogTransaction:
    """Switch, take back or review an operation; switching a reverted one on restores it.

    Who made a proposal may take it back, without the right to edit, while it waits; so may a
    key switch its own tags in its own session. Raises Conflict where accepting it would cut
    through a fold.
    """
    least = Right.REVIEW if act.right is Right.REVIEW else Right.PROPOSE
    session, key = get_operation(caller, operation_id, least, lock=True)
    transaction = open_log(caller, session.pk, least, expected_head=expected_head)
    right, recorded = act.right, transaction.history.log.edit(key)
    if right is Right.EDIT and recorded and recorded.entry.actor == caller.actor:
        waits = recorded.state is EditState.PROPOSED
        is_gone = act is Act.REVERT and recorded.state is EditState.REVERTED
        right = Right.PROPOSE if waits or is_gone else right_over(recorded.edit)
    require_session_right(caller, right, session)
    return record_switch(transaction, act.control((key,)), bundle=bundle)


@atomic
def switch_bundle(
    caller: Caller,
    bundle_id: uuid.UUID,
    act: Act,
    *,
    skip_conflicts: bool = False,
    expected_head: int | None = None,
) -> LogTransaction:
    """Switch, take back or review the operations of a bundle with one entry.

    Those that were decided on alone stay as they are. Raises Conflict with each proposal that
    can't be accepted; with `skip_conflicts` these go on waiting, and only the others are accepted.
    """
    session, keys = get_bundle(caller, bundle_id, act.right, lock=True)
    transaction = open_log(caller, session.pk, act.right, expected_head=expected_head)
    restores = act is Act.RESTORE
    log = transaction.history.log
    control = bundle_control(log, act.control(keys), restores=restores)
    return record_switch(transaction, control, skip_conflicts=skip_conflicts)


@atomic
def review_all(
    caller: Caller,
    session_id: uuid.UUID,
    act: Act,
    *,
    seen: int,
    skip_conflicts: bool = False,
) -> LogTransaction:
    """Accept or reject with one entry all that waits for review, up to the entry `seen`.

    What somebody stages waits for nobody. Raises Conflict as `switch_bundle` does.
    """
    transaction = open_log(caller, session_id, Right.REVIEW)
    log = transaction.history.log
    keys = tuple(
        entry_key(number)
        for number in transaction.thread.marked_edits
        if number <= seen
        and log.edits[number].state is EditState.PROPOSED
        and not log.at(number).staged
    )
    return record_switch(transaction, act.control(keys), skip_conflicts=skip_conflicts)


@atomic
def switch_all(
    caller: Caller,
    session_id: uuid.UUID,
    actor: str,
    *,
    active: bool,
    expected_head: int | None = None,
) -> LogTransaction:
    """Switch all operations of an actor off with one entry, or those on again that were on.

    What waits for review goes on waiting. Raises NotFound for one who recorded none.
    """
    transaction = open_log(caller, session_id, Right.EDIT, expected_head=expected_head)
    log = transaction.history.log
    if actor not in log.counts_by_actor:
        raise NotFound(
            "This actor recorded no operation in this session.", at=["actor"]
        )
    return record_switch(transaction, switch_of(log, actor, active=active))


def record_switch(
    transaction: LogTransaction,
    control: Switch,
    *,
    skip_conflicts: bool = False,
    bundle: uuid.UUID | None = None,
) -> LogTransaction:
    """Record a control as far as it changes anything.

    Raises Conflict with each proposal that can't be accepted; with `skip_conflicts` only where
    none can, else it warns of those that go on waiting. What others have staged is not decided on.
    """
    if isinstance(control, Accept | Reject):
        refuse_staged(transaction, control.operations)
    effective, tried = effective_control(transaction.history.log, control), None
    if isinstance(effective, Accept):
        found = try_acceptance(transaction.thread, effective.operations)
        if found.refused and not (skip_conflicts and found.fitting):
            raise refusal(found)
        effective, tried = Accept(operations=found.fitting), found.thread
        transaction.warnings += [
            EditWarning("skipped", f"{key} was not accepted: {one.message}", key)
            for one in found.refused
            if isinstance(key := one.facts["operation"], str)
        ]
    if effective is not None:
        transaction.add(effective, tried=tried, bundle=bundle)
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
    refuse_staged(transaction, [key])
    edit = with_token_counts(transaction.session, amended(recorded.edit))
    control = effective_control(
        transaction.history.log, Amend(operation=key, edit=edit)
    )
    if isinstance(control, Amend):
        checked = check_amend(transaction.thread, control)
        transaction.warnings.extend(checked.warnings)
        control = Amend(operation=key, edit=checked.edits[0])
        transaction.add(control, tried=checked.thread)
    return transaction.commit()


@atomic
def activate_tags(
    caller: Caller,
    session_id: uuid.UUID,
    tags: Sequence[str],
    *,
    expected_head: int | None = None,
) -> LogTransaction:
    transaction = open_log(
        caller, session_id, Right.OWN_SESSION, expected_head=expected_head
    )
    control = ActivateTags(tags=tuple(dict.fromkeys(tags)))
    if effective_control(transaction.history.log, control) is not None:
        transaction.add(control)
    return transaction.commit()


def _asks_to_propose(edit: EditArguments | Edit) -> bool:
    return isinstance(edit, EditArguments) and edit.propose


def _title_of(edit: EditArguments | Edit) -> str:
    return edit.title if isinstance(edit, EditArguments) else ""


def _record(
    transaction: LogTransaction,
    made: Sequence[Edit],
    *,
    propose: bool,
    stage: bool,
    titles: Sequence[str],
    bundle: uuid.UUID | None = None,
) -> LogTransaction:
    """Add edits that fit. They wait where that is asked for, or who makes them may not edit."""
    caller = transaction.caller
    if stage:
        require_session_right(
            caller, right_to_commit(caller, transaction.session), transaction.session
        )
    rights = {right_over(edit) for edit in made}
    may_apply = all(
        has_session_right(caller, right, transaction.session) for right in rights
    )
    proposed = stage or propose or not may_apply
    made = with_unseen(transaction.session, transaction.thread, made)
    checked = check(
        transaction.thread, made, proposed=proposed, bundle=bundle is not None
    )
    if stage:
        bundle = bundle_of_staged(transaction) or bundle or uuid.uuid4()
    transaction.warnings.extend(checked.warnings)
    transaction.add(
        *checked.edits,
        proposed=proposed,
        staged=stage,
        bundle=bundle,
        titles=titles,
        tried=checked.thread,
    )
    return transaction.commit()


def _resolved(session: Session, edit: EditArguments | Edit, thread: Thread) -> Edit:
    """An edit with its targets and text found in a thread, and its tokens counted.

    Raises Conflict where it names another head than the session's.
    """
    if isinstance(edit, EditArguments):
        refuse_stale(session, edit.expected_head)
        edit = edit.edit(session, thread)
    return with_token_counts(session, edit)


def resolved_in_turn(
    session: Session, thread: Thread, edits: Sequence[EditArguments | Edit]
) -> list[Edit]:
    """The edits of a bundle; each is resolved at the head that those before it make.

    Only inserts and resequences change what an index range means, so only they are replayed.
    """
    resolved: list[Edit] = []
    tried = thread
    for place, edit in enumerate(edits):
        try:
            resolved.append(_resolved(session, edit, tried))
        except DomainError as error:
            for fault in (error, *error.errors):
                fault.at = ("operations", place, *fault.at)
            raise
        if isinstance(resolved[-1], Insert | Resequence):
            tried = check(thread, resolved, bundle=True, proposed=True).thread
    return resolved
