"""What a caller says to record an edit: one model a kind, the same for every door.

`edit(thread)` resolves what was said (an index range, an index, keys) at the head on which
the entry is recorded; only keys are kept (DESIGN 3, Ranges).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.openai import read_messages
from threads.domain.message import Role
from threads.domain.part import Text

from .domain import operation as edits
from .domain.condition import ALWAYS, Condition
from .domain.edit import messages_of
from .domain.key import original_key
from .domain.thread import Thread
from .domain.wanted import Wanted
from .pattern_arguments import (
    MOST_PATTERNS,
    MOST_SPANS,
    PatternArguments,
    SpanArguments,
)


def said(words: str) -> str:
    """Words that say something; of any kind, for a pattern would refuse lone surrogates."""
    if not words.strip():
        raise ValueError("it must not be empty")
    return words


def printable(tag: str) -> str:
    """A tag that can be shown; what can't is refused in words, with the code of a pattern."""
    if any(character < " " for character in tag):
        raise PydanticCustomError(
            "string_pattern_mismatch",
            "A tag is one line of text, without control characters",
        )
    return tag


Key = Annotated[str, Field(max_length=40, description="`m12`, `o7` or `o7.0`.")]
Index = Annotated[int, Field(ge=0, description="0-based index over the originals.")]
Tag = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        json_schema_extra={"pattern": r"^[^\x00-\x1f]+$"},
    ),
    AfterValidator(printable),
]
Words = Annotated[str, AfterValidator(said), Field(description="Not empty.")]
MessageData = Annotated[
    dict[str, Any], Field(description="A message as OpenAI chat or Anthropic sends it.")
]


class ConditionArguments(BaseModel):
    """When an operation applies: while these tags and objectives are active."""

    model_config = ConfigDict(extra="forbid")

    tags: list[Tag] = []
    objectives: list[Tag] = []
    match: Literal["all", "any", "none"] = "all"

    def condition(self) -> Condition:
        """The condition of the domain."""
        return Condition(
            tags=tuple(self.tags), objectives=tuple(self.objectives), match=self.match
        )


class EditArguments(BaseModel, ABC):
    """What every edit takes."""

    model_config = ConfigDict(extra="forbid")

    condition: ConditionArguments | None = None
    propose: bool = False
    title: str = Field(
        "", max_length=300, description="What it is for, in a few words."
    )
    expected_head: int | None = Field(
        None, ge=0, description="Refuse (409) if the log has grown beyond this entry."
    )

    @abstractmethod
    def edit(self, thread: Thread) -> edits.Edit | Wanted:
        """The edit with its targets resolved to keys, or one whose text is yet to be found.

        Raises Invalid with the place.
        """

    def _condition(self, tags: Sequence[str] | None = None) -> Condition:
        if self.condition is not None and tags:
            raise Invalid("Give either tags or condition, not both.", at=["tags"])
        if self.condition is not None:
            return self.condition.condition()
        return Condition(tags=tuple(tags)) if tags else ALWAYS


class RangeArguments(EditArguments):
    """A range of originals by index (inclusive), or keys."""

    start_idx: Index | None = None
    end_idx: Index | None = None
    range: tuple[Index, Index] | None = Field(
        None, description="`[start_idx, end_idx]`."
    )
    targets: list[Key] | None = Field(None, min_length=1)

    @model_validator(mode="after")
    def _names_its_targets_once(self) -> "RangeArguments":
        indexes = (self.start_idx, self.end_idx)
        if self.range is not None and indexes == (None, None):
            self.start_idx, self.end_idx = self.range
            self.range = None
        ways = [
            self.range is not None,
            self.start_idx is not None,
            self.targets is not None,
        ]
        if sum(ways) != 1 or (self.start_idx is None) != (self.end_idx is None):
            raise ValueError("give start_idx and end_idx, or range, or targets")
        return self

    def targets_in(self, thread: Thread) -> tuple[str, ...]:
        """The keys meant. Raises Invalid for a range that is not in the session."""
        if self.targets is not None:
            return tuple(self.targets)
        first, last = self.start_idx, self.end_idx
        if (
            first is None or last is None
        ):  # the validator saw to it; this tells the type checker
            raise Invalid("Give start_idx and end_idx.", at=["start_idx"])
        if first > last:
            raise Invalid("start_idx is greater than end_idx.", at=["start_idx"])
        if last >= thread.message_count:
            raise Invalid(
                f"The session has {thread.message_count} messages; end_idx is {last}.",
                at=["end_idx"],
            )
        return tuple(thread.resolve_range(first, last))


class TagArguments(RangeArguments):
    """Give messages tags."""

    type: Literal["tag"] = "tag"
    tags: list[Tag] = Field(min_length=1)

    def edit(self, thread: Thread) -> edits.Tag:
        """The tag operation."""
        return edits.Tag(
            targets=self.targets_in(thread),
            tags=tuple(self.tags),
            condition=self._condition(),
        )


class DigestArguments(RangeArguments):
    """Fold messages into one that sums them up."""

    type: Literal["digest"] = "digest"
    summary: Words
    tags: list[Tag] | None = Field(
        None, description="Short for a condition on all of them."
    )

    def edit(self, thread: Thread) -> edits.Digest:
        """The digest; its summary is a message of role system."""
        return edits.Digest(
            targets=self.targets_in(thread),
            messages=(edits.New(Role.SYSTEM, (Text(self.summary),)),),
            condition=self._condition(self.tags),
        )


class ReviseArguments(RangeArguments):
    """Show other messages in the place of these."""

    type: Literal["revise"] = "revise"
    replacements: list[MessageData] = Field(min_length=1)
    tags: list[Tag] | None = None

    def edit(self, thread: Thread) -> edits.Revise:
        """The revise."""
        return edits.Revise(
            targets=self.targets_in(thread),
            messages=made_messages(self.replacements, "replacements"),
            condition=self._condition(self.tags),
        )


class SnipArguments(RangeArguments):
    """Leave messages out, behind a single marker."""

    type: Literal["snip"] = "snip"
    tags: list[Tag] | None = None

    def edit(self, thread: Thread) -> edits.Snip:
        """The snip."""
        return edits.Snip(
            targets=self.targets_in(thread), condition=self._condition(self.tags)
        )


class CondenseArguments(EditArguments):
    """Show one message in fewer words; it keeps its role and its tool ids."""

    type: Literal["condense"] = "condense"
    target: Key
    text: Words
    tags: list[Tag] | None = None

    def edit(self, thread: Thread) -> edits.Condense:
        """The condense."""
        try:
            role = thread.role(self.target)
        except Invalid as error:
            error.at = ("target",)
            raise
        return edits.Condense(
            targets=(self.target,),
            messages=(edits.New(role, (Text(self.text),)),),
            condition=self._condition(self.tags),
        )


class InsertArguments(EditArguments):
    """Put messages of one's own behind a message; the originals stay."""

    type: Literal["insert"] = "insert"
    after_idx: int | None = Field(None, ge=-1, description="-1 inserts at the top.")
    after: Key | int | None = None
    messages: list[MessageData] = Field(min_length=1)
    tags: list[Tag] | None = None

    @model_validator(mode="after")
    def _names_its_anchor_once(self) -> "InsertArguments":
        if (self.after is None) == (self.after_idx is None):
            raise ValueError("give after_idx or after")
        if isinstance(self.after, int):
            self.after_idx, self.after = self.after, None
        return self

    def edit(self, thread: Thread) -> edits.Insert:
        """The insert, anchored to a key or the top."""
        return edits.Insert(
            after=self._anchor(thread),
            messages=made_messages(self.messages, "messages"),
            condition=self._condition(self.tags),
        )

    def _anchor(self, thread: Thread) -> str | None:
        if isinstance(self.after, str):
            return self.after
        index = self.after_idx if self.after_idx is not None else -1
        if not -1 <= index < thread.message_count:
            raise Invalid(
                f"The session has {thread.message_count} messages; after_idx is {index}.",
                at=["after_idx"],
            )
        return None if index == -1 else original_key(index)


class ResequenceArguments(EditArguments):
    """Let the listed messages take, in this order, the places that they hold."""

    type: Literal["resequence"] = "resequence"
    new_order: list[Index] | None = Field(None, min_length=2)
    order: list[Key] | None = Field(None, min_length=1)
    tags: list[Tag] | None = None

    @model_validator(mode="after")
    def _names_its_order_once(self) -> "ResequenceArguments":
        if (self.new_order is None) == (self.order is None):
            raise ValueError("give new_order or order")
        return self

    def edit(self, thread: Thread) -> edits.Resequence:
        """The resequence."""
        if self.order is not None:
            order = tuple(self.order)
        else:
            order = tuple(self._listed(thread, self.new_order or ()))
        return edits.Resequence(order=order, condition=self._condition(self.tags))

    @staticmethod
    def _listed(thread: Thread, indexes: Sequence[int]) -> Iterator[str]:
        """The keys of originals, each of which is there and listed once."""
        seen = set[int]()
        for place, index in enumerate(indexes):
            at = ("new_order", place)
            if index >= thread.message_count:
                raise Invalid(
                    f"There is no message {index}; the session has "
                    f"{thread.message_count}.",
                    at=at,
                    code="unknown_key",
                )
            if index in seen:
                raise Invalid(f"{index} is listed twice.", at=at, code="duplicate")
            seen.add(index)
            yield original_key(index)


class TextArguments(EditArguments):
    """Change text inside messages, found by patterns or named by its places."""

    changes: ClassVar[type[edits.Replace | edits.Redact]]
    """The kind of edit."""

    patterns: list[PatternArguments] | None = Field(
        None, min_length=1, max_length=MOST_PATTERNS
    )
    spans: list[SpanArguments] | None = Field(None, min_length=1, max_length=MOST_SPANS)
    include_folded: bool = Field(
        False, description="Search messages that are inside of folds, too."
    )
    tags: list[Tag] | None = None
    dry_run: bool = Field(False, description="Record nothing, answer the matches.")

    @model_validator(mode="after")
    def _names_its_text_once(self) -> "TextArguments":
        if (self.patterns is None) == (self.spans is None):
            raise ValueError("give patterns or spans")
        if self.dry_run and self.patterns is None:
            raise ValueError("a dry run searches patterns")
        return self

    def edit(self, thread: Thread) -> Wanted:
        """What is wanted; who records it finds the text. Raises Invalid for a dry run."""
        if self.dry_run:
            raise Invalid("A dry run stands alone.", at=["dry_run"])
        return self.wanted()

    def wanted(self) -> Wanted:
        """The text that is to be changed, as it was named."""
        return Wanted(
            kind=self.changes,
            patterns=tuple(one.pattern() for one in self.patterns or ()),
            spans=tuple(one.span() for one in self.spans or ()),
            include_folded=self.include_folded,
            condition=self._condition(self.tags),
        )


class ReplaceArguments(TextArguments):
    """Let messages read otherwise in places of 30 characters and more."""

    type: Literal["replace"] = "replace"
    changes = edits.Replace


class RedactArguments(TextArguments):
    """Mask text at every door."""

    type: Literal["redact"] = "redact"
    changes = edits.Redact


AnyEdit = Annotated[
    TagArguments
    | DigestArguments
    | ReviseArguments
    | SnipArguments
    | CondenseArguments
    | InsertArguments
    | ResequenceArguments
    | ReplaceArguments
    | RedactArguments,
    Field(discriminator="type"),
]


def made_messages(
    messages: Sequence[dict[str, Any]], field: str
) -> tuple[edits.New, ...]:
    """Messages that an operation makes, from what a client sent. Raises Invalid with the place."""
    given = read_messages(messages, at=(field,))
    return tuple(edits.New(message.role, message.parts) for message in given)


class AmendArguments(BaseModel):
    """New words or a new condition for an operation; what is absent stays."""

    model_config = ConfigDict(extra="forbid")

    summary: Words | None = None
    text: Words | None = None
    replacements: list[MessageData] | None = Field(None, min_length=1)
    messages: list[MessageData] | None = Field(None, min_length=1)
    tags: list[Tag] | None = None
    condition: ConditionArguments | None = None
    expected_head: int | None = Field(None, ge=0)

    def amended(self, edit: edits.Edit) -> edits.Edit:
        """The edit with these words. Raises Invalid for words that its kind does not have."""
        if self.tags is not None and self.condition is not None and edit.kind != "tag":
            raise Invalid("Give either tags or condition, not both.", at=["tags"])
        changes: dict[str, Any] = {}
        for field in ("summary", "text", "replacements", "messages"):
            if (value := getattr(self, field)) is not None:
                if field != WORDS_OF.get(edit.kind):
                    raise Invalid(f"A {edit.kind} has no {field}.", at=[field])
                changes["messages"] = self._made(field, value, edit)
        if self.tags is not None and isinstance(edit, edits.Tag):
            changes["tags"] = tuple(self.tags)
        elif self.tags is not None:
            changes["condition"] = Condition(tags=tuple(self.tags))
        if self.condition is not None:
            changes["condition"] = self.condition.condition()
        if not changes:
            raise Invalid("Say what to amend.")
        return replace(edit, **changes)

    def _made(self, field: str, value: Any, edit: edits.Edit) -> tuple[edits.New, ...]:
        if isinstance(value, str):
            return tuple(
                edits.New(made.role, (Text(value),)) for made in messages_of(edit)
            )
        return made_messages(value, field)


WORDS_OF = {
    "digest": "summary",
    "condense": "text",
    "revise": "replacements",
    "insert": "messages",
}
"""The argument in which each kind of edit takes its words."""
