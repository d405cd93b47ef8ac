"""Writes to a log: the only place where entries are numbered and inserted."""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from django.db.transaction import atomic
from django.utils import timezone

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict, NotFound, Unavailable
from contextstudio.accounts.domain.rights import Right
from contextstudio.database.steps import chunks, in_short_transactions
from operations.domain.log.expected import HeaderHead
from operations.domain.log.mask import mask_title
from operations.domain.log.operation import Edit, Operation, messages_of
from operations.domain.thread.check import EditWarning
from operations.domain.thread.difference import StatusChange, status_changes
from operations.domain.thread.replay import replay
from operations.domain.thread.thread import Thread
from operations.domain.tree.leaf import MadeMessage
from operations.models import LogEntry
from threads import tokens
from threads.models import Session
from threads.sessions.services import clean_title
from threads.store import events
from threads.store.recording import keep_bodies
from threads.store.selectors import get_session

from .cache import version_of
from .codec import encode
from .selectors import (
    History,
    extended,
    keep_thread,
    load_history,
    load_leaves,
    load_thread,
    overview,
)

Result = TypeVar("Result")
_TRIES = 10
_AT_ONCE = 200
"""Entries that one statement inserts."""


@dataclass(slots=True)
class LogTransaction:
    """A write to the log of a session, whose row is locked until the transaction ends.

    `thread` always includes the entries added so far.
    """

    caller: Caller
    session: Session
    history: History
    before: Thread
    thread: Thread
    numbers: list[int] = field(default_factory=list)
    warnings: list[EditWarning] = field(default_factory=list)
    _rows: list[LogEntry] = field(default_factory=list)
    """Entries that were added and are not yet inserted."""
    _masks_changed: bool = False
    """Whether the masks have changed."""

    def add(
        self,
        *operations: Operation,
        proposed: bool = False,
        staged: bool = False,
        bundle: uuid.UUID | None = None,
        title: str = "",
        titles: Sequence[str] = (),
        tried: Thread | None = None,
        by: Caller | None = None,
    ) -> None:
        """Append entries to the log, numbered consecutively; `titles` has one for each.

        `tried` is the thread in which they were checked; what was replayed for it is reused. `by`
        is the author to record, if not the caller. `commit` inserts the entries.
        """
        rows, author = [], by or self.caller
        named = zip(operations, titles or [title] * len(operations), strict=True)
        for number, (operation, name) in enumerate(named, start=self.session.head + 1):
            kind, payload = encode(operation)
            row = LogEntry(
                session=self.session,
                number=number,
                kind=kind,
                payload=payload,
                proposed=proposed,
                staged=staged,
                bundle=bundle,
                actor=author.actor,
                actor_name=author.name[:150],
                title=clean_title(name),
                created_at=timezone.now(),
            )
            rows.append(row)
        self._rows += rows
        self.session.head += len(rows)
        self.numbers.extend(row.number for row in rows)
        masks = self.history.log.masks
        self.history = extended(self.session, self.history, rows)
        self._masks_changed |= self.history.log.masks is not masks
        self.thread = replay(
            load_leaves(self.session),
            self.history.log,
            objective=self.session.objective,
            known=tried or self.thread,
        )

    def commit(self) -> "LogTransaction":
        """Insert what was added, save the head, and notify the pages that show the session."""
        if self.numbers:
            self.insert()
            self.session.updated_at = timezone.now()
            self.session.overview = overview(self.thread)
            changed = ["head", "updated_at", "overview"]
            if self._masks_changed:  # the title may quote what is masked now
                masked = self.history.masked
                self.session.title = mask_title(self.session.title, masked)
                changed.append("title")
            self.session.save(update_fields=changed)
            keep_thread(self.session, self.thread, self.history)
            events.announce(self.session)
        return self

    def insert(self) -> None:
        """Insert what was added, in the caller's transaction or else in short transactions."""
        rows = chunks(self._rows, _AT_ONCE)
        steps = (partial(LogEntry.objects.bulk_create, some) for some in rows)
        for _ in in_short_transactions(steps):
            pass
        self._rows = []

    @property
    def waits(self) -> bool:
        """Whether the last added entry waits to be reviewed or committed."""
        return self.thread.log.at(self.numbers[-1]).proposed

    @property
    def changes(self) -> list[StatusChange]:
        """Status changes of edits other than those added."""
        return status_changes(self.before, self.thread)


def open_log(
    caller: Caller,
    session_id: uuid.UUID,
    right: Right,
    *,
    expected_head: int | None = None,
) -> LogTransaction:
    """Lock a session for writing to its log; call it inside a transaction.

    Raises Conflict (`stale_head`) if the log has grown since the caller looked, as what they chose
    may not be what they saw.
    """
    session = get_session(caller, session_id, right, lock=True)
    refuse_stale(session, expected_head)
    return begin(session, caller)


def write_apart(
    session: Session,
    caller: Caller,
    write: Callable[[LogTransaction], Result],
    *,
    also: Callable[[], object] = lambda: None,
) -> Result:
    """Append entries that take long to compute, holding the lock only to insert them.

    `write` adds the entries without a lock and may be called again: if the session was written to
    in the meantime, all is done once more, which costs only as much as the change. `also` runs in
    the transaction of the entries. Raises NotFound if the session was deleted in the meantime, and
    Unavailable if others keep writing to it; computing under the lock instead would make
    everybody wait.
    """
    for _try in range(_TRIES):
        version = version_of(session)
        transaction = begin(session, caller)
        result = write(transaction)
        if session.staged_by is not None:  # nobody else sees it or writes to it
            transaction.insert()
        with atomic():
            locked = _locked(session)
            if version_of(locked) == version:
                transaction.commit()
                also()
                return result
        session = locked
    raise Unavailable(
        "Others keep writing to this session; try again later.", code="busy"
    )


def _locked(session: Session) -> Session:
    standing = Session.objects.filter(pk=session.pk, deleted_at=None)
    locked = standing.select_for_update(no_key=True).first()
    if locked is None:
        raise NotFound("There is no such session.", at=["session_id"])
    return locked


def begin(session: Session, caller: Caller) -> LogTransaction:
    """Start writing to a session whose row is locked, or whose version is compared later."""
    thread = load_thread(session)
    return LogTransaction(caller, session, load_history(session), thread, thread)


def refuse_stale(session: Session, expected_head: int | None) -> None:
    """Raise Conflict (`stale_head`) if the log's head is not the one that the caller expects."""
    if expected_head is not None and expected_head != session.head:
        is_header = isinstance(expected_head, HeaderHead)
        place = HeaderHead.HEADER if is_header else "expected_head"
        raise Conflict(
            f"The log is at entry {session.head}, not {expected_head}: look at what was recorded"
            f" since, then ask again with {session.head} as {place}.",
            at=[place],
            code="stale_head",
            facts={"head": session.head},
        )


def with_token_counts(session: Session, edit: Edit) -> Edit:
    """The edit with its messages' images stored and their tokens counted."""
    messages = messages_of(edit)
    if not messages:
        return edit
    kept = keep_bodies(session.project_id, [message.parts for message in messages])
    counts = tokens.count_messages(kept, session.encoding)
    made = tuple(
        MadeMessage(message.role, parts, sum(count))
        for message, parts, count in zip(messages, kept, counts, strict=True)
    )
    return replace(edit, messages=made)  # type: ignore[arg-type]  # it has some
