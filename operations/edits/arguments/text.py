"""The arguments of edits of text inside messages, and how a caller names that text."""

from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.shape import RequestBody
from operations.domain.log.operation import Redact, Replace
from operations.domain.text.pattern import FLOOR, Pattern, TextEditRequest
from operations.domain.thread.thread import Thread
from operations.domain.tree.span import Span
from operations.messages.expressions import SearchExpression
from operations.messages.search import edit_of
from threads.models import Session

from .edit import ConditionTags, EditArguments

MAX_PATTERNS = 100
MAX_SPANS = 1000
MAX_PATTERN_LENGTH = 100_000
"""The maximum length of a start or an end, in characters."""


class PatternArguments(RequestBody):
    """Text from a start to the nearest end after it, in the same part of a message."""

    start: str = Field(
        min_length=1,
        max_length=MAX_PATTERN_LENGTH,
        description="Exact text with which the match begins; not a regular expression.",
    )
    end: str | None = Field(
        None,
        min_length=1,
        max_length=MAX_PATTERN_LENGTH,
        description="Exact text with which the match ends; if absent, the start is the match.",
    )
    replacement: str = Field("", description="Text to show in its place; may be empty.")
    occurrence: int | None = Field(
        None, ge=1, description="Which of several matches to take, from 1."
    )
    every: bool = Field(False, alias="all", description="Take all matches.")

    @model_validator(mode="before")
    @classmethod
    def _may_be_a_tuple(cls, value: Any) -> Any:
        if isinstance(value, list | tuple) and len(value) == 3:
            return dict(zip(("start", "end", "replacement"), value, strict=True))
        return value

    @model_validator(mode="after")
    def _says_which_once(self) -> "PatternArguments":
        if self.every and self.occurrence is not None:
            raise ValueError("give occurrence or all, not both")
        return self

    def pattern(self) -> Pattern:
        return Pattern(
            start=self.start,
            end=self.end,
            replacement=self.replacement,
            occurrence=self.occurrence,
            every=self.every,
        )


class SpanArguments(RequestBody):
    """A stretch of text, by its position in a message as it was recorded."""

    key: str = Field(max_length=40, description="The message: `m12` or `o7.0`.")
    part: int = Field(0, ge=0, description="Index of the message's part.")
    start: int = Field(
        ge=0, description="Position of the first character, in code points."
    )
    end: int = Field(ge=1, description="Position after the last character.")
    sha256: str = Field(
        "",
        pattern="^([0-9a-f]{64})?$",
        description="SHA-256 of the text, in hex: refuse if it has changed.",
    )
    replacement: str = Field("", description="Text to show in its place.")

    def span(self) -> Span:
        return Span(
            key=self.key,
            part=self.part,
            start=self.start,
            end=self.end,
            sha256=self.sha256,
            text=self.replacement,
        )


class TextArguments(EditArguments):
    """Change text inside messages, found by patterns or named by its places."""

    changes: ClassVar[type[Replace | Redact]]
    """The kind of edit."""
    floor: ClassVar[int] = 1
    """The minimum number of characters of a match."""

    patterns: list[PatternArguments] | None = Field(
        None,
        min_length=1,
        max_length=MAX_PATTERNS,
        description="What to find. Give either patterns or spans.",
    )
    spans: list[SpanArguments] | None = Field(
        None,
        min_length=1,
        max_length=MAX_SPANS,
        description="Where the text is, in place of patterns.",
    )
    include_folded: bool = Field(
        False, description="Also search messages inside folds."
    )
    tags: ConditionTags = None
    dry_run: bool = Field(False, description="Record nothing and return the matches.")

    @model_validator(mode="after")
    def _names_its_text_once(self) -> "TextArguments":
        if (self.patterns is None) == (self.spans is None):
            raise ValueError("give patterns or spans")
        if self.dry_run and self.patterns is None:
            raise ValueError("a dry run takes patterns, not spans")
        return self

    def edit(self, session: Session, thread: Thread) -> Replace | Redact:
        """The edit of the text that is found. Raises Invalid or Conflict; Invalid for a dry run."""
        if self.dry_run:
            raise Invalid("A dry run can't be part of a bundle.", at=["dry_run"])
        return edit_of(session, thread, self.request())

    def request(self) -> TextEditRequest:
        """The requested edit, before its text is located."""
        return TextEditRequest(
            kind=self.changes,
            patterns=tuple(one.pattern() for one in self.patterns or ()),
            spans=tuple(one.span() for one in self.spans or ()),
            include_folded=self.include_folded,
            condition=self._condition(self.tags),
            floor=self.floor,
        )


class ReplaceArguments(TextArguments):
    """Replace text inside messages; a match has at least 30 characters."""

    type: Literal["replace"] = "replace"
    changes = Replace
    floor = FLOOR


class RedactArguments(TextArguments):
    """Mask text wherever it occurs."""

    type: Literal["redact"] = "redact"
    changes = Redact


class PersonalPattern(PatternArguments):
    """A pattern of a person who sees each match before anything is recorded."""

    regex: bool = False

    def pattern(self) -> Pattern:
        """The pattern. Raises Invalid, at its start, if the expression is invalid."""
        if not self.regex:
            return super().pattern()
        try:
            expression = SearchExpression(self.start, self.replacement)
        except Invalid as error:
            error.at = ("patterns", 0, "start")
            raise
        return Pattern(start=self.start, expression=expression, every=self.every)


class PersonalReplaceArguments(ReplaceArguments):
    """As `ReplaceArguments`, for any length: the floor is for callers who do not see matches."""

    floor = 1
    patterns: list[PersonalPattern] | None = None  # type: ignore[assignment]  # of a subclass


class PersonalRedactArguments(RedactArguments):
    """As `RedactArguments`, also by expressions."""

    patterns: list[PersonalPattern] | None = None  # type: ignore[assignment]  # of a subclass
