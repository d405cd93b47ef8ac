"""What an operation itself takes from the thread: the figure of toast, marker and drawer.

It is the difference between what the model would read of the thread without it and with it,
other operations being as they are. What a request loses through it is the ledger's: the same,
less what the provider's form puts around a summary (`first_changes`).
"""

from collections.abc import Iterator
from typing import NamedTuple

from operations.domain.log.operation import (
    Edit,
    Fold,
    Insert,
    messages_of,
    named_keys,
    spans_of,
)
from operations.domain.thread.node import FoldNode
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, entry_key, made_key
from operations.domain.tree.status import Report, Status


class SavedAt(NamedTuple):
    """Tokens that an operation takes away at a node of the thread; negative: that it adds."""

    key: Key
    tokens: int


def saved_in_thread(thread: Thread, number: int) -> int:
    """The tokens that the thread has less through an edit; negative: more.

    Of one that doesn't apply what it alone would take, were it to apply now: of a void one
    nothing, as what it acts on isn't there. Of one inside a fold what it takes from the originals
    that the fold holds.
    """
    edit = thread.log.edits[number].edit
    status = thread.report(number).status
    if status is Status.VOID:
        return 0
    if status is not Status.APPLIED:
        return would_save(thread, edit)
    fold = entry_key(number)
    if isinstance(edit, Fold) and thread.holds(fold):
        return thread.saved_by(fold)
    return sum(saved.tokens for saved in saved_at(thread, number))


def saved_at(thread: Thread, number: int) -> Iterator[SavedAt]:
    """The nodes at the top that an edit which applies touches, with what it saves there."""
    edit = thread.log.edits[number].edit
    if isinstance(edit, Insert):
        for place in range(len(edit.messages)):
            made = thread.node(made_key(number, place))
            if not (made.depth or isinstance(made, FoldNode)):
                yield SavedAt(made.key, made.saved - made.tokens)
    elif spans_of(edit):
        for key in named_keys(edit):
            changes = [one for one in thread.spans(key) if one.operation == number]
            if changes and thread.holds(key) and not thread.path(key):
                yield SavedAt(key, sum(one.saved for one in changes))
    elif thread.holds(fold := entry_key(number)) and not thread.path(fold):
        yield SavedAt(fold, thread.saved_by(fold))


def hidden_in(thread: Thread, report: Report) -> Key | None:
    """The outermost fold inside which an edit lies, or would lie where it doesn't apply."""
    if report.status is Status.APPLIED:
        return report.hidden_by
    return fold_around(thread, thread.log.edits[report.number].edit)


def fold_around(thread: Thread, edit: Edit) -> Key | None:
    """The outermost fold inside which an edit acts, or would: there it saves the model nothing.

    None where it names something outside of it, or nothing that is there, and where it takes all
    that the fold holds: then it folds that fold.
    """
    held = [key for key in named_keys(edit) if thread.holds(key)]
    outermost = {next(iter(thread.path(key)), None) for key in held}
    fold = outermost.pop() if len(outermost) == 1 else None
    if fold is None or not isinstance(edit, Fold):
        return fold
    inside = {leaf for key in held for leaf in thread.leaf_keys(key)}
    return fold if len(inside) < len(thread.leaf_keys(fold)) else None


def spared(thread: Thread, edit: Edit) -> int:
    """The tokens that the model would read less of this thread if an edit applied now."""
    return 0 if fold_around(thread, edit) else would_save(thread, edit)


def would_save(thread: Thread, edit: Edit) -> int:
    """The tokens that the thread would have less if an edit applied now, at the end of the log."""
    made = sum(message.tokens for message in messages_of(edit))
    if isinstance(edit, Fold):
        return thread.tokens_shown(edit.targets) - made
    return sum(span.saved for span in spans_of(edit)) - made
