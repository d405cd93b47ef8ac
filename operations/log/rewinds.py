"""Makes a thread show the course that an imported conversation is on (`threads.imports.hooks`).

The messages that the conversation left are folded like those that a client no longer sends. The
tool's compactions of the old course are switched off, because they would replace messages that the
tool has in full again. Each is switched on again when the conversation returns to it, unless
somebody else switched it off.
"""

from collections.abc import Iterator, Sequence

from django.db.models import QuerySet

from contextstudio.accounts.domain.caller import Caller
from operations.domain.forwarding.rewinds import left_messages
from operations.domain.log.entry import (
    CLIENT,
    IMPORTER,
    EditState,
    RecordedEdit,
    initial_edit,
)
from operations.domain.log.log import Log
from operations.domain.log.operation import Edit, Fold, Toggle, messages_of, named_keys
from operations.domain.tree.key import entry_key
from operations.models import LogEntry
from threads.domain.body import digest
from threads.domain.message import Role
from threads.imports.hooks import CompactedMessages, CourseChange
from threads.models import Session

from .compactions import IMPORT_CALLER, edit_of
from .transaction import LogTransaction, write_apart

_BY_CLIENT = Caller(actor=CLIENT, name="Import")
_Said = tuple[str, tuple[str, ...], tuple[bytes, ...]]
"""Identifies a compaction: its kind, its targets, and the digests of what it shows."""


class LoggedCourses:
    """The courses of conversations, as recorded in their logs."""

    def has_left_originals(self, session: Session) -> bool:
        """Whether the thread has left any of the session's originals."""
        return bool(session.head) and _own(session).exists()

    def follow(
        self,
        session: Session,
        left: Sequence[range],
        compactions: Sequence[CompactedMessages],
    ) -> CourseChange:
        """Fold the originals that a conversation left, and only these."""
        standing = {_said(edit_of(session, one)) for one in compactions}

        def write(transaction: LogTransaction) -> CourseChange:
            log = transaction.history.log
            own = set(_own(session).values_list("number", flat=True))
            found = left_messages(log, left, own)
            transaction.add(*found.operations, titles=found.titles)
            transaction.add(*_switched(log, standing), by=IMPORT_CALLER)
            return CourseChange(found.left, found.shown)

        return write_apart(session, _BY_CLIENT, write)


def _own(session: Session) -> QuerySet[LogEntry]:
    """The entries that imports recorded for left messages; a client may have recorded others."""
    of_client = LogEntry.objects.filter(session=session, actor=CLIENT)
    return of_client.filter(actor_name=_BY_CLIENT.name)


def _switched(log: Log, standing: set[_Said]) -> Iterator[Toggle]:
    """Yield the controls that switch on exactly the compactions of the current course."""
    on: list[str] = []
    off: list[str] = []
    for number, one in log.edits.items():
        if one.entry.actor != IMPORTER or not isinstance(one.edit, Fold):
            continue
        stands = _said(initial_edit(one.entry)) in standing
        if stands and one.state is EditState.OFF and _is_switched_by_import(log, one):
            on.append(entry_key(number))
        elif not stands and one.state is EditState.ON:
            off.append(entry_key(number))
    if off:
        yield Toggle(operations=tuple(off), active=False)
    if on:
        yield Toggle(operations=tuple(on), active=True)


def _is_switched_by_import(log: Log, one: RecordedEdit) -> bool:
    controls = log.controls(one.entry.number)
    return bool(controls) and controls[-1].actor == IMPORTER


def _said(edit: Edit) -> _Said:
    stands = (digest(Role(new.role), new.parts) for new in messages_of(edit))
    return edit.kind, tuple(named_keys(edit)), tuple(stands)
