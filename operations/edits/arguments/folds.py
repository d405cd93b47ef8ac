"""Edits of a range of messages: tags, and what stands in their place."""

from typing import Literal

from pydantic import Field

from contextstudio.accounts.domain.errors import Invalid
from operations.domain.log.operation import Condense, Digest, Revise, Snip, Tag
from operations.domain.text.wording import reworded
from operations.domain.thread.thread import Thread
from operations.domain.tree.leaf import New
from operations.messages.reader import MessageReader
from threads.domain.message import Role
from threads.domain.part import Part, Text
from threads.models import Session
from threads.sessions.presentation import MessageData

from .edit import (
    EditArguments,
    Key,
    RangeArguments,
    TagName,
    Words,
    made_messages,
)


class TagArguments(RangeArguments):
    """Give messages tags."""

    type: Literal["tag"] = "tag"
    tags: list[TagName] = Field(min_length=1)

    def edit(self, session: Session, thread: Thread) -> Tag:
        """The tag operation."""
        return Tag(
            targets=self.targets_in(thread),
            tags=tuple(self.tags),
            condition=self._condition(),
        )


class DigestArguments(RangeArguments):
    """Fold messages into one that sums them up."""

    type: Literal["digest"] = "digest"
    summary: Words
    tags: list[TagName] | None = Field(
        None, description="Short for a condition on all of them."
    )

    def edit(self, session: Session, thread: Thread) -> Digest:
        """The digest; its summary is a message of role system."""
        return Digest(
            targets=self.targets_in(thread),
            messages=(New(Role.SYSTEM, (Text(self.summary),)),),
            condition=self._condition(self.tags),
        )


class ReviseArguments(RangeArguments):
    """Show other messages in the place of these."""

    type: Literal["revise"] = "revise"
    replacements: list[MessageData] = Field(min_length=1)
    tags: list[TagName] | None = None

    def edit(self, session: Session, thread: Thread) -> Revise:
        """The revise."""
        return Revise(
            targets=self.targets_in(thread),
            messages=made_messages(self.replacements, "replacements"),
            condition=self._condition(self.tags),
        )


class RewordArguments(RangeArguments):
    """Show other words in the place of messages: what a dialog takes, for a person types no JSON.

    Of one message all but its words is kept: its calls, images, ids.
    """

    type: Literal["revise"] = "revise"
    text: Words
    role: Literal["user", "assistant", "system"] | None = None
    tags: list[TagName] | None = None

    def edit(self, session: Session, thread: Thread) -> Revise:
        """The revise, of one message."""
        targets = self.targets_in(thread)
        role: str = self.role or "user"
        parts: tuple[Part, ...] = (Text(self.text),)
        if len(targets) == 1 and thread.holds(targets[0]):
            for now in MessageReader(session, thread).effective(targets).values():
                role, parts = self.role or now.role, reworded(now.parts, self.text)
        return Revise(
            targets=targets,
            messages=(New(role, parts),),
            condition=self._condition(self.tags),
        )


class SnipArguments(RangeArguments):
    """Leave messages out, behind a single marker."""

    type: Literal["snip"] = "snip"
    tags: list[TagName] | None = None

    def edit(self, session: Session, thread: Thread) -> Snip:
        """The snip."""
        return Snip(
            targets=self.targets_in(thread), condition=self._condition(self.tags)
        )


class CondenseArguments(EditArguments):
    """Show one message in fewer words; it keeps its role and its tool ids."""

    type: Literal["condense"] = "condense"
    target: Key
    text: Words
    tags: list[TagName] | None = None

    def edit(self, session: Session, thread: Thread) -> Condense:
        """The condense."""
        try:
            role = thread.role(self.target)
        except Invalid as error:
            error.at = ("target",)
            raise
        return Condense(
            targets=(self.target,),
            messages=(New(role, (Text(self.text),)),),
            condition=self._condition(self.tags),
        )
