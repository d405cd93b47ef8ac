"""API schemas of replacements and redactions: matches, suggestions, masked texts."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from contextstudio.accounts.domain.errors import problem
from operations.domain.text.resolution import patterns_refusal
from operations.domain.text.suggestions import Suggestion
from operations.domain.tree.key import entry_key
from operations.messages.names import message_ids
from threads.models import Session

from .services import DryRun, Revealed


class ExcerptOut(BaseModel):
    """A match with some of the text around it, shortened."""

    before: str
    text: str
    behind: str


class MatchOut(BaseModel):
    """Text that a pattern matches. `key`, `part`, `start`, `end` and `sha256` form its span."""

    pattern: int = Field(description="Index of the pattern, from 0.")
    key: str
    message_id: str
    part: int
    start: int | None
    end: int | None
    sha256: str | None
    length: int
    tokens_saved: int
    replacement: str
    excerpt: ExcerptOut
    operations: list[str] = Field(
        description="Operations that already change its text."
    )


class DryRunOut(BaseModel):
    """What recording the edit would change, and everything that prevents it."""

    dry_run: Literal[True] = True
    matches: list[MatchOut]
    tokens_saved: int
    errors: list[dict[str, Any]]
    """The faults with which recording it would be refused."""


class PatternOut(BaseModel):
    """A pattern, in the form that `patterns` of an edit takes."""

    start: str
    end: str | None
    replacement: str
    all: bool


class SuggestionOut(BaseModel):
    """A pattern that is worth replacing."""

    kind: str
    title: str
    key: str
    """Key of the message with the first match."""
    length: int
    """How many characters it removes at least."""
    matches: int
    """How many matches there are."""
    pattern: PatternOut


class SuggestionList(BaseModel):
    """Suggestions, the largest first."""

    suggestions: list[SuggestionOut]


class RevealedSpan(BaseModel):
    """A span of text that a redaction masks."""

    key: str
    part: int
    start: int
    end: int
    text: str | None
    """Null if the content of its message was destroyed."""


class RevealedOut(BaseModel):
    """All that a redaction masks."""

    spans: list[RevealedSpan]


def present_dry_run(session: Session, found: DryRun) -> dict[str, Any]:
    ids = message_ids(session, (one.match.key for one in found.matches))
    return {
        "dry_run": True,
        "matches": [
            {
                **one.match.facts,
                "message_id": ids[one.match.key],
                "sha256": one.span.sha256 if one.span else None,
                "tokens_saved": found.saved_by(one),
                "replacement": one.span.text if one.span else "",
                "operations": [entry_key(number) for number in one.match.holders],
            }
            for one in found.matches
        ],
        "tokens_saved": found.saved,
        "errors": problem(patterns_refusal(found.faults))["errors"]
        if found.faults
        else [],
    }


def present_suggestion(suggestion: Suggestion) -> dict[str, Any]:
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
    span, text = revealed
    place = {"key": span.key, "part": span.part, "start": span.start, "end": span.end}
    return {**place, "text": text}
