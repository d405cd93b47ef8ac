"""What an operation that would cut through folds could be instead."""

from dataclasses import replace

from contextstudio.accounts.domain.errors import Conflict
from operations.domain.log.edit import Condense, Digest, Edit, Revise, Snip
from operations.domain.tree.key import Key

from .check import check
from .thread import Thread


def expanded(thread: Thread, key: Key) -> Edit | None:
    """The edit with the smallest set of targets that would work at the head of the thread.

    None where it is no fold, or no set would do. What it costs is one replay.
    """
    recorded = thread.log.edit(key)
    if recorded is None or not isinstance(
        recorded.edit, Digest | Revise | Snip | Condense
    ):
        return None
    try:
        check(thread, [recorded.edit])
    except Conflict as conflict:
        needs = conflict.facts.get("needs")
        keys = needs.get("keys") if isinstance(needs, dict) else None
        return replace(recorded.edit, targets=tuple(keys)) if keys else None
    return recorded.edit
