"""The arguments with which a caller amends an operation."""

from dataclasses import replace
from typing import Any

from pydantic import BaseModel, Field

from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.shape import RequestBody
from operations.domain.log.operation import Condition, Edit, Tag, messages_of
from operations.domain.text.wording import reworded
from operations.domain.tree.leaf import MadeMessage
from threads.sessions.presentation import MessageData

from .edit import ConditionArguments, TagNames, Words, made_messages


class AmendArguments(RequestBody):
    """New content or a new condition for an operation. Fields left out stay as they are."""

    summary: Words | None = Field(None, description="The new summary of a digest.")
    text: Words | None = Field(None, description="The new text of a condense.")
    replacements: list[MessageData] | None = Field(
        None, min_length=1, description="The new messages of a revise."
    )
    messages: list[MessageData] | None = Field(
        None, min_length=1, description="The new messages of an insert."
    )
    tags: TagNames | None = Field(
        None, description="The new tags of a tag; otherwise, tags that must be active."
    )
    condition: ConditionArguments | None = None
    expected_head: int | None = Field(
        None, ge=0, description="Refuse (409) if the log has grown beyond this entry."
    )

    def amended(self, edit: Edit) -> Edit:
        """The edit with these changes. Raises Invalid for a field that its kind doesn't have."""
        if self.tags is not None and self.condition is not None and edit.kind != "tag":
            raise Invalid("Give either tags or condition, not both.", at=["tags"])
        changes: dict[str, Any] = {}
        for field in ("summary", "text", "replacements", "messages"):
            if (value := getattr(self, field)) is not None:
                if field != WORDS_OF.get(edit.kind):
                    raise Invalid(f"A {edit.kind} has no {field}.", at=[field])
                changes["messages"] = (
                    tuple(
                        MadeMessage(made.role, reworded(made.parts, value))
                        for made in messages_of(edit)
                    )
                    if isinstance(value, str)
                    else made_messages(value, field)
                )
        if self.tags is not None and isinstance(edit, Tag):
            changes["tags"] = tuple(self.tags)
        elif self.tags is not None:
            changes["condition"] = Condition(tags=tuple(self.tags))
        if self.condition is not None:
            changes["condition"] = self.condition.condition()
        if not changes:
            raise Invalid("Give at least one field to amend.")
        return replace(edit, **changes)


class RewordAmendment(BaseModel):
    """What a dialog amends: the text of an operation's one message, and its condition's tags."""

    text: str | None = None
    """None keeps the text."""
    tags: TagNames = []

    def amended(self, edit: Edit) -> Edit:
        """The edit with these tags and this text; anything else in its message is kept.

        Raises Invalid if the text is empty.
        """
        condition = replace(edit.condition, tags=tuple(self.tags))
        made = messages_of(edit)
        if len(made) != 1 or self.text is None:
            return replace(edit, condition=condition)
        if not self.text.strip():
            raise Invalid("It must not be empty.", at=["text"], code="empty")
        new = MadeMessage(made[0].role, reworded(made[0].parts, self.text))
        return replace(edit, messages=(new,), condition=condition)  # type: ignore[arg-type]


WORDS_OF = {
    "digest": "summary",
    "condense": "text",
    "revise": "replacements",
    "insert": "messages",
}
"""The argument that holds the text of each kind of edit."""
