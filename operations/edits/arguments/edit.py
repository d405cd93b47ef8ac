"""The arguments common to all edits, and those of edits on a range of messages: tags, folds."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.shape import RequestBody
from operations.domain.log.operation import (
    ALWAYS,
    Condense,
    Condition,
    Digest,
    Edit,
    Revise,
    Snip,
    Tag,
)
from operations.domain.text.wording import condensed, reworded
from operations.domain.thread.thread import Thread
from operations.domain.tree.leaf import MadeMessage
from operations.messages.names import keys_named
from operations.messages.reader import MessageReader
from threads.domain.formats.openai.messages import read_messages
from threads.domain.message import Role
from threads.domain.part import Part, Text
from threads.models import Session
from threads.sessions.presentation import MessageData

MAX_TAG_LENGTH = 100
MAX_TAGS = 200
"""The most tags that one edit gives: each of its messages carries all of them."""
_WAYS = "give start_idx and end_idx, or range, or targets"


def _not_blank(words: str) -> str:
    """Refuse blank text. A pattern would also refuse lone surrogates."""
    if not words.strip():
        raise ValueError("it must not be empty")
    return words


def _tag(tag: str) -> str:
    """Check that a tag can be shown. Refusals are worded for people but keep pydantic's codes."""
    if len(tag) > MAX_TAG_LENGTH:
        raise PydanticCustomError(
            "string_too_long", f"A tag has at most {MAX_TAG_LENGTH} characters"
        )
    if any(character < " " for character in tag):
        raise PydanticCustomError(
            "string_pattern_mismatch",
            "A tag is one line of text, without control characters",
        )
    return tag


Key = Annotated[str, Field(max_length=40, description="`m12`, `o7` or `o7.0`.")]
KeyOrId = Annotated[
    str,
    Field(max_length=40, description="`m12`, `msg-1a2b3c4d`, `o7` or `o7.0`."),
]
Index = Annotated[int, Field(ge=0, description="0-based index over the originals.")]
EndIndex = Annotated[
    int, Field(ge=0, description="0-based index after the last message.")
]
TagName = Annotated[
    str,
    Field(
        min_length=1,
        json_schema_extra={"maxLength": MAX_TAG_LENGTH, "pattern": r"^[^\x00-\x1f]+$"},
    ),
    AfterValidator(_tag),
]
TagNames = Annotated[list[TagName], Field(max_length=MAX_TAGS)]
ConditionTags = Annotated[
    TagNames | None,
    Field(description="Apply it only while all of these tags are active."),
]
Words = Annotated[str, AfterValidator(_not_blank), Field(description="Not empty.")]


def made_messages(
    messages: Sequence[dict[str, Any]], field: str
) -> tuple[MadeMessage, ...]:
    """Read a client's messages into those that an operation makes. Raises Invalid with the place.

    An empty message is refused: providers accept none, and leaving a message out is what a snip
    does.
    """
    given = read_messages(messages, at=(field,))
    for place, message in enumerate(given):
        if not any(_says_something(part) for part in message.parts):
            raise Invalid(
                "A message must not be empty.", at=[field, place], code="empty"
            )
    return tuple(MadeMessage(message.role, message.parts) for message in given)


def _says_something(part: Part) -> bool:
    return not isinstance(part, Text) or bool(part.text.strip())


class ActiveTags(BaseModel):
    """The tags under which conditions are to hold."""

    tags: TagNames = Field(description="All tags that are to be active; may be empty.")


class ConditionArguments(RequestBody):
    """When an operation applies: while these tags and objectives are active."""

    tags: TagNames = []
    objectives: TagNames = []
    match: Literal["all", "any", "none"] = Field(
        "all", description="Whether all, any or none of them must be active."
    )

    def condition(self) -> Condition:
        """The domain's condition."""
        return Condition(
            tags=tuple(self.tags), objectives=tuple(self.objectives), match=self.match
        )


class EditArguments(RequestBody, ABC):
    """What every edit takes."""

    condition: ConditionArguments | None = None
    propose: bool = Field(False, description="Record it as a proposal, to be reviewed.")
    title: str = Field(
        "", max_length=300, description="What it is for, in a few words."
    )
    expected_head: int | None = Field(
        None, ge=0, description="Refuse (409) if the log has grown beyond this entry."
    )

    @abstractmethod
    def edit(self, session: Session, thread: Thread) -> Edit:
        """The edit, with its targets resolved to keys in the thread.

        Raises Invalid with the place.
        """

    def _condition(self, tags: Sequence[str] | None = None) -> Condition:
        if self.condition is not None and tags:
            raise Invalid("Give either tags or condition, not both.", at=["tags"])
        if self.condition is not None:
            return self.condition.condition()
        return Condition(tags=tuple(tags)) if tags else ALWAYS


def _missing(field: str, words: str) -> ValidationError:
    """The fault of a field that others require; a model's validator alone names no field."""
    fault = PydanticCustomError("missing", "{words}", {"words": words})
    return ValidationError.from_exception_data(
        field, [{"type": fault, "loc": (field,), "input": None}]
    )


class RangeArguments(EditArguments):
    """A range of originals by index (inclusive), or keys."""

    start_idx: Index | None = None
    end_idx: Index | None = None
    range: tuple[Index, Index] | None = Field(
        None, description="`[start_idx, end_idx]`, in place of these two."
    )
    targets: list[KeyOrId] | None = Field(
        None, min_length=1, description="Keys or short ids, in place of a range."
    )

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
        is_half = (self.start_idx is None) != (self.end_idx is None)
        if is_half and self.range is None and self.targets is None:
            raise _missing("end_idx" if self.end_idx is None else "start_idx", _WAYS)
        if is_half or sum(ways) != 1:
            raise ValueError(_WAYS)
        return self

    def targets_in(self, session: Session, thread: Thread) -> tuple[str, ...]:
        """The keys of the targets. Raises Invalid for a range that is not in the session."""
        if self.targets is not None:
            return keys_named(session, self.targets)
        first, last = self.start_idx, self.end_idx
        if (
            first is None or last is None
        ):  # the validator ensures it; this is for the type checker
            raise Invalid("Give start_idx and end_idx.", at=["start_idx"])
        if first > last:
            raise Invalid(
                "start_idx must not be greater than end_idx.", at=["start_idx"]
            )
        if last >= thread.message_count:
            raise Invalid(
                f"The session has {thread.message_count} messages; end_idx is {last}.",
                at=["end_idx"],
            )
        return tuple(thread.resolve_range(first, last))


class TagArguments(RangeArguments):
    """Give messages tags."""

    type: Literal["tag"] = "tag"
    tags: TagNames = Field(min_length=1, description="The tags to give.")

    def edit(self, session: Session, thread: Thread) -> Tag:
        return Tag(
            targets=self.targets_in(session, thread),
            tags=tuple(self.tags),
            condition=self._condition(),
        )


class DigestArguments(RangeArguments):
    """Fold messages into one that sums them up."""

    type: Literal["digest"] = "digest"
    summary: Words
    tags: ConditionTags = None

    def edit(self, session: Session, thread: Thread) -> Digest:
        """The digest; its summary is a message with the role system."""
        return Digest(
            targets=self.targets_in(session, thread),
            messages=(MadeMessage(Role.SYSTEM, (Text(self.summary),)),),
            condition=self._condition(self.tags),
        )


class ReviseArguments(RangeArguments):
    """Show other messages in place of these."""

    type: Literal["revise"] = "revise"
    replacements: list[MessageData] = Field(
        min_length=1, description="The messages to show, as in a chat request."
    )
    tags: ConditionTags = None

    def edit(self, session: Session, thread: Thread) -> Revise:
        return Revise(
            targets=self.targets_in(session, thread),
            messages=made_messages(self.replacements, "replacements"),
            condition=self._condition(self.tags),
        )


class RewordArguments(RangeArguments):
    """Show other text in place of messages. Used by dialogs, because a person types no JSON.

    Of a single message everything but its text is kept: its calls, images and ids.
    """

    type: Literal["revise"] = "revise"
    text: Words
    role: Literal["user", "assistant", "system"] | None = None
    tags: TagNames | None = None

    def edit(self, session: Session, thread: Thread) -> Revise:
        """The revise, which shows one message."""
        targets = self.targets_in(session, thread)
        role: str = self.role or "user"
        parts: tuple[Part, ...] = (Text(self.text),)
        if len(targets) == 1 and thread.holds(targets[0]):
            for now in MessageReader(session, thread).effective(targets).values():
                role, parts = self.role or now.role, reworded(now.parts, self.text)
        return Revise(
            targets=targets,
            messages=(MadeMessage(role, parts),),
            condition=self._condition(self.tags),
        )


class SnipArguments(RangeArguments):
    """Leave messages out, behind a single marker."""

    type: Literal["snip"] = "snip"
    tags: ConditionTags = None

    def edit(self, session: Session, thread: Thread) -> Snip:
        return Snip(
            targets=self.targets_in(session, thread),
            condition=self._condition(self.tags),
        )


class CondenseArguments(EditArguments):
    """Show one message in fewer words; it keeps its role and its tool ids."""

    type: Literal["condense"] = "condense"
    target: Key
    text: Words
    tags: ConditionTags = None

    def edit(self, session: Session, thread: Thread) -> Condense:
        try:
            role = thread.role(self.target)
        except Invalid as error:
            error.at = ("target",)
            raise
        now = MessageReader(session, thread).effective([self.target]).get(self.target)
        parts = condensed(now.parts if now else (), self.text)
        return Condense(
            targets=(self.target,),
            messages=(MadeMessage(role, parts),),
            condition=self._condition(self.tags),
        )
