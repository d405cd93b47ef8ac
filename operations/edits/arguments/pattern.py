"""What a caller says of the text that a replace or redact is to change."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from operations.domain.text.pattern import Pattern
from operations.domain.tree.span import Span

MOST_PATTERNS = 100
MOST_SPANS = 1000
LONGEST_PATTERN = 100_000
"""Characters of a start or an end."""


class PatternArguments(BaseModel):
    """Text from a start to the nearest end behind it in the same part of a message."""

    model_config = ConfigDict(extra="forbid")

    start: str = Field(
        min_length=1,
        max_length=LONGEST_PATTERN,
        description="Exact text at which the match begins; no regular expression.",
    )
    end: str | None = Field(
        None,
        min_length=1,
        max_length=LONGEST_PATTERN,
        description="Exact text with which the match ends; absent: the start is all of it.",
    )
    replacement: str = Field("", description="What is read in its place; may be empty.")
    occurrence: int | None = Field(
        None, ge=1, description="Of several matches take this one, from 1."
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
        """The pattern of the domain."""
        return Pattern(
            start=self.start,
            end=self.end,
            replacement=self.replacement,
            occurrence=self.occurrence,
            every=self.every,
        )


class SpanArguments(BaseModel):
    """A stretch of the text of a part, by its place in the message as it was recorded."""

    model_config = ConfigDict(extra="forbid")

    key: str = Field(max_length=40, description="The message: `m12` or `o7.0`.")
    part: int = Field(0, ge=0)
    start: int = Field(ge=0, description="In code points.")
    end: int = Field(ge=1, description="Exclusive.")
    sha256: str = Field(
        "",
        pattern="^([0-9a-f]{64})?$",
        description="Of the text covered, in hex: refuse if that is another.",
    )
    replacement: str = ""

    def span(self) -> Span:
        """The span of the domain, its tokens not counted."""
        return Span(
            key=self.key,
            part=self.part,
            start=self.start,
            end=self.end,
            sha256=self.sha256,
            text=self.replacement,
        )
