"""Finds text to change, changes it in bulk, suggests patterns, and reveals redacted text."""

import uuid
from dataclasses import dataclass, replace
from typing import NamedTuple

from django.db.transaction import atomic

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import AuditEntry
from operations.domain.log.operation import Redact
from operations.domain.text.pattern import PatternMatch
from operations.domain.text.reading import keys_to_read
from operations.domain.text.resolution import PatternFault, patterns_refusal
from operations.domain.text.suggestions import Suggestion, suggest
from operations.domain.tree.key import Key
from operations.domain.tree.span import Span, covered_text
from operations.edits.arguments import TextArguments
from operations.edits.services import record_bundle
from operations.log.cache import Cache
from operations.log.selectors import get_operation, load_history, load_thread
from operations.log.transaction import LogTransaction, refuse_stale
from operations.messages.reader import MessageReader
from operations.messages.saving import with_saved
from operations.messages.search import find, readings_of
from threads.models import Session
from threads.store.selectors import get_session

_suggested: Cache[list[Suggestion]] = Cache(lambda found: 2_000 * len(found))


class SpanMatch(NamedTuple):
    """A match with the span that would change it; `span` is None if it can't be changed."""

    match: PatternMatch
    span: Span | None


@dataclass(frozen=True, slots=True)
class DryRun:
    """The matches that would be changed, and all faults."""

    matches: tuple[SpanMatch, ...]
    faults: tuple[PatternFault, ...]
    cut: bool
    """Whether there are more matches."""
    shown: frozenset[Key]
    """The messages that the thread shows. What is inside folds is not sent."""

    @property
    def saved(self) -> int:
        """The tokens that the model reads less."""
        return sum(map(self.saved_by, self.matches))

    def saved_by(self, match: SpanMatch) -> int:
        """The tokens that the model reads less after changing one match."""
        return match.span.saved if match.span and match.match.key in self.shown else 0


def dry_run(
    session: Session, arguments: TextArguments, *, partly: bool = False
) -> DryRun:
    """What would be changed; nothing is recorded. The caller must have access to the session.

    `partly` is for showing matches before they are changed, some at a time.
    """
    request, thread = arguments.request(), load_thread(session)
    resolved = find(session, thread, request, partly=partly)
    free = [match for match in resolved.matches if not match.holders]
    found = with_saved(session, thread, request.kind, (one.span() for one in free))
    spans = dict(zip(map(id, free), found, strict=True))
    matches = (SpanMatch(match, spans.get(id(match))) for match in resolved.matches)
    shown = frozenset(keys_to_read(thread))
    return DryRun(tuple(matches), resolved.faults, resolved.cut, shown)


@atomic
def change_by_pattern(
    caller: Caller,
    session_id: uuid.UUID,
    arguments: TextArguments,
    *,
    expected_head: int | None = None,
) -> tuple[LogTransaction, list[list[SpanMatch]]]:
    """Record one edit per pattern, all as one bundle; also returns the matches of each pattern.

    Raises Invalid or Conflict with all faults, and then changes nothing.
    """
    session = get_session(caller, session_id, Right.PROPOSE, lock=True)
    refuse_stale(session, expected_head)
    found = dry_run(session, arguments)
    if found.faults:
        raise patterns_refusal(found.faults)
    request = arguments.request()
    changes: list[list[SpanMatch]] = [[] for _ in request.patterns]
    for one in found.matches:
        changes[one.match.pattern].append(one)
    edits = [request.edit(one.span for one in each if one.span) for each in changes]
    transaction = record_bundle(
        caller, session_id, edits, propose=arguments.propose, title=arguments.title
    )
    return transaction, changes


@atomic
def change_by_span(
    caller: Caller,
    session_id: uuid.UUID,
    arguments: TextArguments,
    *,
    stage: bool = False,
    expected_head: int | None = None,
) -> LogTransaction:
    """Record one edit per span, all as one bundle, so that each can be switched on its own."""
    session = get_session(caller, session_id, Right.PROPOSE, lock=True)
    refuse_stale(session, expected_head)
    whole = arguments.edit(session, load_thread(session))
    return record_bundle(
        caller,
        session_id,
        [replace(whole, spans=(span,)) for span in whole.spans],
        propose=arguments.propose,
        stage=stage,
        title=arguments.title,
    )


def suggestions(session: Session, *, include_folded: bool = False) -> list[Suggestion]:
    """Patterns that are worth replacing in a session, largest first."""
    thread = load_thread(session)
    state = (thread.head, thread.message_count, thread.active_tags)
    key = (session.pk, *state, include_folded)
    found = _suggested.get(key)
    if found is None:
        readings = readings_of(session, thread, include_folded=include_folded)
        found = suggest(readings)
        _suggested.keep(key, found)
    return found


class Revealed(NamedTuple):
    """A span with the text under its mask; None if the message was purged."""

    span: Span
    text: str | None


@atomic
def reveal(caller: Caller, operation_id: uuid.UUID) -> list[Revealed]:
    """What a redaction masks. Needs the right to administer, and is recorded for audit."""
    session, key = get_operation(caller, operation_id, Right.ADMIN)
    recorded = load_history(session).log.edit(key)
    if recorded is None or not isinstance(recorded.edit, Redact):
        raise Invalid("Only a redaction can be revealed.", at=["operation_id"])
    AuditEntry.objects.create(
        project_id=session.project_id,
        actor=caller.actor,
        action="redaction.reveal",
        object_id=str(operation_id),
    )
    spans = recorded.edit.spans
    thread = load_thread(session)
    said = MessageReader(session, thread).recorded(span.key for span in spans)
    return [
        Revealed(
            span, covered_text(said[span.key].parts if span.key in said else (), span)
        )
        for span in spans
    ]
