"""Looking for words before they are changed, changing many at once, and what is suggested."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.transaction import atomic

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.rights import Right
from operations.domain.log.edit import Redact, Replace
from operations.domain.text.pattern import PatternMatch
from operations.domain.text.resolution import PatternFault, refusal
from operations.domain.text.suggestions import Suggestion, suggest
from operations.domain.text.text_edit import TextEditRequest
from operations.domain.tree.span import Span
from operations.edits.services import Request, given, record_bundle
from operations.log.cache import Cache
from operations.log.selectors import load_thread
from operations.log.transaction import LogTransaction, refuse_stale
from operations.messages.matching import edit_of, find, readings_of, spans_of_matches
from threads.models import Session
from threads.store.selectors import get_session

MOST_SUGGESTED = 5_000
"""How many suggestions are kept; a session without any counts as one."""
_suggested: Cache[list[Suggestion]] = Cache(
    lambda found: len(found) + 1, MOST_SUGGESTED
)


@dataclass(frozen=True, slots=True)
class SpanMatch:
    """A match with the span that would change it; `span` None: it can't be changed."""

    match: PatternMatch
    span: Span | None


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a dry run finds: each match that would be changed, and all that is wrong."""

    found: tuple[SpanMatch, ...]
    faults: tuple[PatternFault, ...]

    @property
    def saved(self) -> int:
        """The tokens that would be taken away."""
        return sum(one.span.saved for one in self.found if one.span)


def dry_run(session: Session, wanted: TextEditRequest) -> DryRun:
    """What would be changed, with nothing recorded; for one who has passed the gate."""
    resolved = find(session, load_thread(session), wanted)
    free = [match for match in resolved.matches if not match.holders]
    spans = dict(
        zip(map(id, free), spans_of_matches(session, wanted, free), strict=True)
    )
    found = (SpanMatch(match, spans.get(id(match))) for match in resolved.matches)
    return DryRun(tuple(found), resolved.faults)


@atomic
def change_all(
    caller: Caller,
    session_id: uuid.UUID,
    wanted: TextEditRequest,
    *,
    propose: bool = False,
    title: str = "",
    expected_head: int | None = None,
) -> tuple[LogTransaction, list[list[SpanMatch]]]:
    """Record one edit a pattern, all as one bundle; what each of them changes.

    Raises Invalid or Conflict with everything that is wrong, and then changes nothing.
    """
    session = get_session(caller, session_id, Right.PROPOSE, lock=True)
    refuse_stale(session, expected_head)
    looked = dry_run(session, wanted)
    if looked.faults:
        raise refusal(looked.faults)
    changes: list[list[SpanMatch]] = [[] for _ in wanted.patterns]
    for found in looked.found:
        changes[found.match.pattern].append(found)
    spans = [[one.span for one in found if one.span] for found in changes]
    edits = [wanted.edit(each) for each in spans]
    return _record(caller, session_id, edits, propose=propose, title=title), changes


@atomic
def change_each(
    caller: Caller,
    session_id: uuid.UUID,
    wanted: TextEditRequest,
    *,
    propose: bool = False,
    stage: bool = False,
    title: str = "",
    expected_head: int | None = None,
) -> LogTransaction:
    """Record one edit a span, so that each has a switch of its own; all as one bundle."""
    session = get_session(caller, session_id, Right.PROPOSE, lock=True)
    refuse_stale(session, expected_head)
    edit = edit_of(session, load_thread(session), wanted)
    edits = [wanted.edit([span]) for span in edit.spans]
    return _record(caller, session_id, edits, propose=propose, stage=stage, title=title)


def suggestions(session: Session, *, include_folded: bool = False) -> list[Suggestion]:
    """Patterns that are worth replacing in a session, the largest first."""
    thread = load_thread(session)
    state = (thread.head, thread.message_count, thread.active_tags)
    key = (session.pk, *state, include_folded)
    found = _suggested.get(key)
    if found is None:
        readings = readings_of(session, thread, include_folded=include_folded)
        found = suggest(readings)
        _suggested.keep(key, found)
    return found


def _record(
    caller: Caller,
    session_id: uuid.UUID,
    edits: Sequence[Replace | Redact],
    *,
    propose: bool,
    title: str,
    stage: bool = False,
) -> LogTransaction:
    requests = [Request(given(edit), propose, stage=stage) for edit in edits]
    return record_bundle(caller, session_id, requests, title=title)
