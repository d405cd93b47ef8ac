"""Records the compactions that a tool made of its own context as ordinary operations.

The originals are what happened; with these operations the thread is what the model saw. They can
be opened and switched off like any others. A summary becomes a digest, several kept messages a
revise, nothing at all a snip, each by the actor `import`. A summary keeps the role in which the
tool's own client gave it to the model.
"""

from collections.abc import Callable, Sequence

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict, DomainError, Invalid
from operations.domain.log.entry import IMPORTER
from operations.domain.log.operation import Digest, Revise, Snip
from operations.domain.thread.check import check
from operations.domain.tree.key import original_key
from operations.domain.tree.leaf import MadeMessage
from threads.domain.part import Text
from threads.imports.hooks import CompactedMessages, CompactionOutcome
from threads.models import Session

from .transaction import LogTransaction, with_token_counts, write_apart

IMPORT_CALLER = Caller(actor=IMPORTER, name="Import")
TITLE = "The tool's own compaction"


def record(
    session: Session,
    compactions: Sequence[CompactedMessages],
    also: Callable[[], object] = lambda: None,
) -> list[CompactionOutcome]:
    """Record compactions in order; returns one outcome for each.

    A compaction that would cut through somebody's fold is recorded as a proposal. The session may
    still be staged. `also` runs in the transaction of the entries.
    """
    edits = [edit_of(session, one) for one in compactions]

    def write(transaction: LogTransaction) -> list[CompactionOutcome]:
        try:
            checked = check(transaction.thread, edits, bundle=True)
        except DomainError:
            return [_record(transaction, edit) for edit in edits]
        transaction.add(*checked.edits, title=TITLE, tried=checked.thread)
        return [CompactionOutcome(edit.kind) for edit in edits]

    return write_apart(session, IMPORT_CALLER, write, also=also)


def edit_of(session: Session, given: CompactedMessages) -> Digest | Revise | Snip:
    """The operation for a compaction, with its images stored and its tokens counted."""
    targets = tuple(original_key(index) for index in given.indexes)
    made = [MadeMessage(message.role, message.parts) for message in given.messages]
    if not made:
        return Snip(targets=targets)
    edit: Digest | Revise
    # A message that only the provider can read is not a summary.
    if len(made) == 1 and any(
        isinstance(part, Text) and part.text.strip() for part in made[0].parts
    ):
        edit = Digest(targets=targets, messages=tuple(made))
    else:
        edit = Revise(targets=targets, messages=tuple(made))
    return with_token_counts(session, edit)  # type: ignore[return-value]  # the kind is kept


def _record(
    transaction: LogTransaction, edit: Digest | Revise | Snip
) -> CompactionOutcome:
    """Record one compaction: as it is, as a proposal, or not at all."""
    try:
        checked = check(transaction.thread, [edit])
        transaction.add(*checked.edits, title=TITLE, tried=checked.thread)
    except Conflict as conflict:
        checked = check(transaction.thread, [edit], proposed=True)
        transaction.add(*checked.edits, title=TITLE, proposed=True)
        sentence = f"A compaction was recorded as a proposal. {conflict.message}"
        return CompactionOutcome("proposed", sentence)
    except Invalid as refusal:
        return CompactionOutcome(
            "left", f"A compaction was not recorded as an operation. {refusal.message}"
        )
    return CompactionOutcome(edit.kind)
