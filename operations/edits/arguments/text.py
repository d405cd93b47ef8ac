"""Edits of text inside messages."""

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from contextstudio.accounts.domain.errors import Invalid
from operations.domain.log.operation import Redact, Replace
from operations.domain.text.text_edit import TextEditRequest
from operations.domain.thread.thread import Thread
from operations.messages.matching import edit_of
from threads.models import Session

from .edit import EditArguments, TagName
from .pattern import MOST_PATTERNS, MOST_SPANS, PatternArguments, SpanArguments


class TextArguments(EditArguments):
    """Change text inside messages, found by patterns or named by its places."""

    changes: ClassVar[type[Replace | Redact]]
    """The kind of edit."""

    patterns: list[PatternArguments] | None = Field(
        None, min_length=1, max_length=MOST_PATTERNS
    )
    spans: list[SpanArguments] | None = Field(None, min_length=1, max_length=MOST_SPANS)
    include_folded: bool = Field(
        False, description="Search messages that are inside of folds, too."
    )
    tags: list[TagName] | None = None
    dry_run: bool = Field(False, description="Record nothing, answer the matches.")

    @model_validator(mode="after")
    def _names_its_text_once(self) -> "TextArguments":
        if (self.patterns is None) == (self.spans is None):
            raise ValueError("give patterns or spans")
        if self.dry_run and self.patterns is None:
            raise ValueError("a dry run searches patterns")
        return self

    def edit(self, session: Session, thread: Thread) -> Replace | Redact:
        """The edit of the text that is found. Raises Invalid or Conflict, and for a dry run."""
        if self.dry_run:
            raise Invalid("A dry run stands alone.", at=["dry_run"])
        return edit_of(session, thread, self.request())

    def request(self) -> TextEditRequest:
        """The text that is to be changed, as it was named: where it stands is yet to be found."""
        return TextEditRequest(
            kind=self.changes,
            patterns=tuple(one.pattern() for one in self.patterns or ()),
            spans=tuple(one.span() for one in self.spans or ()),
            include_folded=self.include_folded,
            condition=self._condition(self.tags),
        )


class ReplaceArguments(TextArguments):
    """Let messages read otherwise in places of 30 characters and more."""

    type: Literal["replace"] = "replace"
    changes = Replace


class RedactArguments(TextArguments):
    """Mask text at every door."""

    type: Literal["redact"] = "redact"
    changes = Redact
