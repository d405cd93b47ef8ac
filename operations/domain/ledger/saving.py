"""What an operation itself takes from the thread: the figure in toast, marker and drawer.

It is the difference between what the model would read of the thread without it and with it, other
operations staying as they are. What a request saves through it is in the ledger: the same, minus
what the provider's form adds around a summary (`first_changes`).
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
    """The tokens that an operation saves at a node of the thread; negative if it adds some."""

    key: Key
    tokens: int


def saved_in_thread(thread: Thread, number: int) -> int:
    """The tokens that an edit saves in the thread; negative if it adds some.

    For an edit that doesn't apply, it is what the edit alone would save if it applied now; for a
    void one 0, because its targets aren't there. For an edit inside a fold, it is what the edit
    saves in the originals that the fold holds.
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
    """The nodes at the top that an applied edit touches, with what it saves there."""
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
    """The outermost fold that an edit is in, or would be in if it doesn't apply."""
    if report.status is Status.APPLIED:
        return report.hidden_by
    return fold_around(thread, thread.log.edits[report.number].edit)


def fold_around(thread: Thread, edit: Edit) -> Key | None:
    """The outermost fold inside which an edit acts or would act, and so saves the model nothing.

    None if the edit names something outside the fold, or nothing that is there, or if it takes
    all that the fold holds, because it then folds that fold.
    """
    held = [key for key in named_keys(edit) if thread.holds(key)]
    outermost = {next(iter(thread.path(key)), None) for key in held}
    fold = outermost.pop() if len(outermost) == 1 else None
    if fold is None or not isinstance(edit, Fold):
        return fold
    inside = {leaf for key in held for leaf in thread.leaf_keys(key)}
    return fold if len(inside) < len(thread.leaf_keys(fold)) else None


def spared(thread: Thread, edit: Edit) -> int:
    """How many fewer tokens of this thread the model would read if an edit applied now."""
    return 0 if fold_around(thread, edit) else would_save(thread, edit)


def would_save(thread: Thread, edit: Edit) -> int:
    """How many fewer tokens the thread would have if an edit applied now, at the end of the log."""
    made = sum(message.tokens for message in messages_of(edit))
    if isinstance(edit, Fold):
        return thread.tokens_shown(edit.targets) - made
    return sum(span.saved for span in spans_of(edit)) - made
