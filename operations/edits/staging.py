"""What recording an edit means for edits that are staged: one's own, and those of others.

What somebody stages is their draft. They alone commit it; others see it and decide on nothing.
"""

import uuid
from collections.abc import Sequence

from contextstudio.accounts.domain.errors import Conflict
from operations.domain.log.history import staged, staged_by_others, staged_moves
from operations.domain.log.operation import Revert
from operations.domain.tree.key import Key, entry_key
from operations.log.transaction import LogTransaction

from .arguments import MoveArguments


def take_back_moves(transaction: LogTransaction, edit: object) -> bool:
    """Take back what the caller has staged to move and now moves otherwise; whether that was any.

    It goes to the bundle of what is staged, so that undo brings it back with what took its place.
    """
    if not isinstance(edit, MoveArguments):
        return False
    leaves = edit.leaves(transaction.thread)
    numbers = staged_moves(transaction.history.log, transaction.caller.actor, leaves)
    if not numbers:
        return False
    control = Revert(operations=tuple(map(entry_key, numbers)))
    transaction.add(control, bundle=transaction.history.rows[numbers[0]].bundle)
    return True


def bundle_of_staged(transaction: LogTransaction) -> uuid.UUID | None:
    """The bundle of what the caller has staged, or was staged until its move was just replaced."""
    found = transaction.history
    numbers = staged(found.log, transaction.caller.actor)
    newest = (*numbers, *transaction.numbers)[-1:]
    return found.rows[newest[0]].bundle if newest else None


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
