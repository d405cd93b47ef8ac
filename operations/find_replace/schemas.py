"""What the API answers of replacements and redactions: matches, suggestions, what is masked."""

from typing import Any, Literal

from pydantic import BaseModel, Field


class ExcerptOut(BaseModel):
    """A match in its text, cut to be read at a glance."""

    before: str
    text: str
    behind: str


class MatchOut(BaseModel):
    """A stretch that a pattern matches; key, part, start, end and sha256 name it as a span."""

    pattern: int = Field(description="Which of the patterns, from 0.")
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
    operations: list[str] = Field(description="Those that hold its text already.")


class DryRunOut(BaseModel):
    """What recording would change, and everything that stands in its way."""

    dry_run: Literal[True] = True
    matches: list[MatchOut]
    tokens_saved: int
    errors: list[dict[str, Any]]


class PatternOut(BaseModel):
    """A pattern as `patterns` takes it."""

    start: str
    end: str | None
    replacement: str
    all: bool


class SuggestionOut(BaseModel):
    """A pattern that is worth replacing: `length` characters in `matches` places."""

    kind: str
    title: str
    key: str
    length: int
    matches: int
    pattern: PatternOut


class SuggestionList(BaseModel):
    """Suggestions, the largest first."""

    suggestions: list[SuggestionOut]


class RevealedSpan(BaseModel):
    """Text that a redaction masks; None where the words of its message were destroyed."""

    key: str
    part: int
    start: int
    end: int
    text: str | None


class RevealedOut(BaseModel):
    """All that a redaction masks."""

    spans: list[RevealedSpan]
