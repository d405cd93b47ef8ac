"""Staging: edits that wait until their author commits them together, as one bundle.

A change to a thread costs a rewrite of what providers have cached, whether it is one operation
or ten (docs/ledger.md). What is staged is in the log as proposals of one bundle; to commit them
is to accept them all with one entry, to discard them takes them back with one.
"""

import uuid

from django.db.transaction import atomic

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.rights import Right
from operations.domain.log.history import staged
from operations.domain.log.operation import Accept, Revert
from operations.domain.tree.key import Key, entry_key
from operations.log.selectors import load_history
from operations.log.transaction import LogTransaction, open_log
from threads.models import Session

from .services import record_switch


def staged_keys(session: Session, caller: Caller) -> tuple[Key, ...]:
    """The operations that a caller has staged, in the order of the log."""
    return tuple(map(entry_key, staged(load_history(session).log, caller.actor)))


@atomic
def commit(
    caller: Caller, session_id: uuid.UUID, *, expected_head: int | None = None
) -> LogTransaction:
    """Let all that the caller staged apply: all or none.

    Raises Conflict with the first that would cut through a fold.
    """
    transaction = open_log(
        caller, session_id, Right.REVIEW, expected_head=expected_head
    )
    return record_switch(transaction, Accept(operations=_keys(transaction)))


@atomic
def discard(
    caller: Caller, session_id: uuid.UUID, *, expected_head: int | None = None
) -> LogTransaction:
    """Take back all that the caller staged."""
    transaction = open_log(
        caller, session_id, Right.PROPOSE, expected_head=expected_head
    )
    return record_switch(transaction, Revert(operations=_keys(transaction)))


def _keys(transaction: LogTransaction) -> tuple[Key, ...]:
    numbers = staged(transaction.history.log, transaction.caller.actor)
    return tuple(map(entry_key, numbers))
