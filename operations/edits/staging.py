"""What recording an edit means for edits that wait: one's own, and what others have staged.

What somebody stages is their draft. They alone commit it; others see it and decide on nothing.
"""

import uuid
from collections.abc import Sequence

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict
from contextstudio.accounts.domain.rights import Right
from operations.domain.log.history import staged, staged_by_others, waiting_moves
from operations.domain.log.operation import Revert
from operations.domain.tree.key import Key, entry_key
from operations.log.transaction import LogTransaction
from threads.models import Session
from threads.store.selectors import has_session_right

from .arguments import MoveArguments


def right_to_commit(caller: Caller, session: Session) -> Right:
    """What it takes to commit a draft of one's own, and so to begin one: to review, or to edit."""
    return (
        Right.REVIEW if has_session_right(caller, Right.REVIEW, session) else Right.EDIT
    )


def take_back_moves(
    transaction: LogTransaction, edit: object, *, stage: bool
) -> uuid.UUID | None:
    """Take back the caller's moves that wait and of which `edit` moves the messages otherwise.

    Those that they staged, or those that they proposed. Answers the bundle of what takes their
    place, so that one undo brings them back; None where there were none.
    """
    if not isinstance(edit, MoveArguments):
        return None
    log, actor = transaction.history.log, transaction.caller.actor
    leaves = edit.leaves(transaction.thread)
    numbers = waiting_moves(log, actor, leaves, is_staged=stage)
    if not numbers:
        return None
    bundle = bundle_of_staged(transaction) if stage else uuid.uuid4()
    control = Revert(operations=tuple(map(entry_key, numbers)))
    transaction.add(control, bundle=bundle)
    return bundle


def bundle_of_staged(transaction: LogTransaction) -> uuid.UUID | None:
    """The bundle of what the caller has staged."""
    numbers = staged(transaction.history.log, transaction.caller.actor)
    return transaction.history.rows[numbers[-1]].bundle if numbers else None


def refuse_staged(transaction: LogTransaction, keys: Sequence[Key]) -> None:
    """Raise Conflict where others have staged what is to be decided on or amended."""
    found = transaction.history
    numbers = staged_by_others(found.log, keys, transaction.caller.actor)
    if not numbers:
        return
    named = [entry_key(number) for number in numbers]
    name = found.rows[numbers[0]].actor_name
    raise Conflict(
        f"Only {name} can commit or amend what {name} has staged: {', '.join(named)}.",
        at=["operation"],
        code="staged",
        facts={"operations": named},
    )
