"""What callers do to their own entries: undo, redo, and end what they have staged.

Staged edits wait until their author commits them together, as one bundle: a change to a thread
costs a rewrite of what providers have cached, whether it is one operation or ten
(docs/ledger.md). What is staged is in the log as proposals of one bundle; to commit them is to
accept them all with one entry, to discard them takes them back with one.
"""

import uuid
from collections.abc import Callable, Iterator

from django.db.transaction import atomic

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict
from contextstudio.accounts.domain.rights import Right
from operations.domain.log import history
from operations.domain.log.entry import EditState, Entry, controlled_entries
from operations.domain.log.log import Log
from operations.domain.log.operation import (
    Accept,
    ActivateTags,
    Redo,
    Reject,
    Revert,
    Undo,
)
from operations.domain.tree.key import Key, entry_key
from operations.log.selectors import load_history
from operations.log.transaction import LogTransaction, open_log
from threads.models import Session
from threads.store.selectors import (
    get_session,
    has_session_right,
    require_session_right,
)

from .services import record_switch, right_over
from .staging import right_to_commit


@atomic
def undo(
    caller: Caller, session_id: uuid.UUID, *, expected_head: int | None = None
) -> LogTransaction:
    """Take back the caller's newest entry, a bundle whole.

    Raises Conflict where there is none, or where somebody else's operation needs it;
    Forbidden where it has come to apply and the caller may propose only.
    """
    return _turn_back(caller, session_id, history.undo, expected_head)


@atomic
def redo(
    caller: Caller, session_id: uuid.UUID, *, expected_head: int | None = None
) -> LogTransaction:
    """Bring back what the caller undid last. Raises Conflict where there is nothing."""
    return _turn_back(caller, session_id, history.redo, expected_head)


def staged_keys(session: Session, caller: Caller) -> tuple[Key, ...]:
    """The operations that a caller has staged, in the order of the log."""
    return _keys(load_history(session).log, caller)


@atomic
def commit(
    caller: Caller,
    session_id: uuid.UUID,
    *,
    skip_conflicts: bool = False,
    expected_head: int | None = None,
) -> LogTransaction:
    """Let all that the caller staged apply: all or none.

    Raises Conflict with each that would cut through a fold; with `skip_conflicts` these stay
    staged, and the others apply.
    """
    right = right_to_commit(caller, get_session(caller, session_id))
    transaction = open_log(caller, session_id, right, expected_head=expected_head)
    control = Accept(operations=_keys(transaction.history.log, caller))
    return record_switch(transaction, control, skip_conflicts=skip_conflicts)


@atomic
def discard(
    caller: Caller, session_id: uuid.UUID, *, expected_head: int | None = None
) -> LogTransaction:
    transaction = open_log(
        caller, session_id, Right.PROPOSE, expected_head=expected_head
    )
    return record_switch(
        transaction, Revert(operations=_keys(transaction.history.log, caller))
    )


def may_turn_back(
    caller: Caller,
    session: Session,
    log: Log,
    control_of: Callable[[Log, str], Undo | Redo],
) -> bool:
    """Whether a caller has the rights that undo or redo takes by now.

    A conflict is no matter of rights: it is told to who tries. Editors have all rights it can take.
    """
    if caller.may(Right.EDIT, session.project_id):
        return True
    try:
        control = control_of(log, caller.actor)
    except Conflict:
        return True
    after = log.extended([Entry(log.head + 1, control, caller.actor)])
    rights = _rights_over(caller, session, control, log, after)
    return all(has_session_right(caller, right, session) for right in rights)


def _turn_back(
    caller: Caller,
    session_id: uuid.UUID,
    control_of: Callable[[Log, str], Undo | Redo],
    expected_head: int | None,
) -> LogTransaction:
    """Record an undo or a redo by one who has the rights that its entries need by now.

    Who may review and not propose has verdicts to take back.
    """
    session = get_session(caller, session_id)
    right = (
        Right.REVIEW
        if has_session_right(caller, Right.REVIEW, session)
        else Right.PROPOSE
    )
    transaction = open_log(caller, session_id, right, expected_head=expected_head)
    before = transaction.history.log
    control = control_of(before, caller.actor)
    transaction.add(control)
    after = transaction.history.log
    for right in _rights_over(caller, session, control, before, after):
        require_session_right(caller, right, transaction.session)
    return transaction.commit()


def _rights_over(
    caller: Caller, session: Session, control: Undo | Redo, before: Log, after: Log
) -> Iterator[Right]:
    for number in control.entries:
        if _is_commit(number, before):
            yield right_to_commit(caller, session)
        else:
            yield _right_over(number, before, after)


def _is_commit(number: int, log: Log) -> bool:
    operation = log.at(number).operation
    return isinstance(operation, Accept) and all(
        log.at(edit).staged for edit in controlled_entries(operation)
    )


def _right_over(number: int, before: Log, after: Log) -> Right:
    """What it takes to turn an entry back: its own right, and to edit where the thread changes."""
    operation = before.at(number).operation
    if isinstance(operation, Accept | Reject):
        return Right.REVIEW
    if isinstance(operation, ActivateTags):
        return Right.OWN_SESSION
    numbers = controlled_entries(operation) or (number,)
    states = {log.edits[edit].state for edit in numbers for log in (before, after)}
    if states.isdisjoint({EditState.ON, EditState.OFF}):
        return Right.PROPOSE
    rights = {right_over(before.edits[edit].edit) for edit in numbers}
    return Right.EDIT if Right.EDIT in rights else Right.OWN_SESSION


def _keys(log: Log, caller: Caller) -> tuple[Key, ...]:
    return tuple(map(entry_key, history.staged(log, caller.actor)))
