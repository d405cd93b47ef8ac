"""Matches, suggestions and revealed text as the public contract gives them."""

from collections.abc import Mapping
from typing import Any

from contextstudio.accounts.domain.errors import problem
from operations.domain.text.resolution import refusal
from operations.domain.text.suggestions import Suggestion
from operations.domain.tree.key import entry_key
from operations.messages.addresses import message_ids
from threads.models import Session

from .reveal import Revealed
from .services import DryRun, SpanMatch


def present_dry_run(session: Session, found: DryRun) -> dict[str, Any]:
    """What a dry run answers."""
    ids = message_ids(session, (one.match.key for one in found.matches))
    return {
        "dry_run": True,
        "matches": [_present_found(one, ids) for one in found.matches],
        "tokens_saved": found.saved,
        "errors": problem(refusal(found.faults))["errors"] if found.faults else [],
    }


def present_suggestion(suggestion: Suggestion) -> dict[str, Any]:
    """A suggested pattern, as `patterns` takes it."""
    pattern = suggestion.pattern
    return {
        "kind": suggestion.kind,
        "title": suggestion.title,
        "key": suggestion.key,
        "length": suggestion.length,
        "matches": suggestion.count,
        "pattern": {
            "start": pattern.start,
            "end": pattern.end,
            "replacement": pattern.replacement,
            "all": pattern.every,
        },
    }


def present_revealed(revealed: Revealed) -> dict[str, Any]:
    """What one span of a redaction masks."""
    span, text = revealed
    place = {"key": span.key, "part": span.part, "start": span.start, "end": span.end}
    return {**place, "text": text}


def _present_found(found: SpanMatch, ids: Mapping[str, str]) -> dict[str, Any]:
    match, span = found.match, found.span
    return {
        **match.facts,
        "message_id": ids[match.key],
        "sha256": span.sha256 if span else None,
        "tokens_saved": span.saved if span else 0,
        "replacement": span.text if span else "",
        "operations": [entry_key(number) for number in match.holders],
    }
