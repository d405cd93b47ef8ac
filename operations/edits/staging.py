"""Staging: edits that wait until their author commits them together, as one bundle.

A change to a thread costs a rewrite of what providers have cached, whether it is one operation
or ten (docs/ledger.md). What is staged is in the log as proposals of one bundle; to commit them
is to accept them all with one entry, to discard them takes them back with one.
"""

import uuid

from django.db import transaction

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.rights import Right
from operations.domain.log.control import Accept, Revert
from operations.domain.log.history import staged
from operations.domain.tree.key import Key, entry_key
from operations.log.selectors import load_history
from operations.log.writing import Writing, begin
from threads.models import Session

from .services import record_switch


def staged_keys(session: Session, caller: Caller) -> tuple[Key, ...]:
    """The operations that a caller has staged, in the order of the log."""
    return tuple(map(entry_key, staged(load_history(session).log, caller.actor)))


@transaction.atomic
def commit(
    caller: Caller, session_id: uuid.UUID, *, expected_head: int | None = None
) -> Writing:
    """Let all that the caller staged apply: all or none.

    Raises Conflict with the first that would cut through a fold.
    """
    writing = begin(caller, session_id, Right.REVIEW, expected_head=expected_head)
    return record_switch(writing, Accept(operations=_keys(writing)))


@transaction.atomic
def discard(
    caller: Caller, session_id: uuid.UUID, *, expected_head: int | None = None
) -> Writing:
    """Take back all that the caller staged."""
    writing = begin(caller, session_id, Right.PROPOSE, expected_head=expected_head)
    return record_switch(writing, Revert(operations=_keys(writing)))


def _keys(writing: Writing) -> tuple[Key, ...]:
    numbers = staged(writing.history.log, writing.caller.actor)
    return tuple(map(entry_key, numbers))
