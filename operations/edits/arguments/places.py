"""The arguments of edits that place messages: inserts and reordering."""

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import Field, field_validator, model_validator

from contextstudio.accounts.domain.errors import Invalid, NotFound
from operations.domain.log.operation import Insert, Resequence
from operations.domain.thread.moving import moved_leaves, relocation
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import original_index, original_key, parse_made_key
from operations.messages.names import keys_named, name_of
from threads.models import Session
from threads.sessions.presentation import MessageData

from .edit import ConditionTags, EditArguments, Index, Key, KeyOrId, made_messages


class InsertArguments(EditArguments):
    """Insert messages of your own after a message; the originals stay."""

    type: Literal["insert"] = "insert"
    after_idx: int | None = Field(
        None, ge=-1, description="0-based index of an original; -1: at the top."
    )
    after: KeyOrId | int | None = Field(
        None, description="A key or short id, in place of after_idx."
    )
    messages: list[MessageData] = Field(
        min_length=1, description="The messages to insert, as in a chat request."
    )
    tags: ConditionTags = None

    @model_validator(mode="after")
    def _names_its_anchor_once(self) -> "InsertArguments":
        if (self.after is None) == (self.after_idx is None):
            raise ValueError("give after_idx or after")
        if isinstance(self.after, int):
            self.after_idx, self.after = self.after, None
        return self

    def edit(self, session: Session, thread: Thread) -> Insert:
        """The insert, anchored to a key or the top."""
        return Insert(
            after=self._anchor(session, thread),
            messages=made_messages(self.messages, "messages"),
            condition=self._condition(self.tags),
        )

    def _anchor(self, session: Session, thread: Thread) -> str | None:
        if isinstance(self.after, str):
            (anchor,) = keys_named(session, [self.after])
            return anchor
        index = self.after_idx if self.after_idx is not None else -1
        if not -1 <= index < thread.message_count:
            raise Invalid(
                f"The session has {thread.message_count} messages; after_idx is {index}.",
                at=["after_idx"],
            )
        return None if index == -1 else original_key(index)


class ResequenceArguments(EditArguments):
    """Reorder the listed messages among the places that they hold now."""

    type: Literal["resequence"] = "resequence"
    new_order: list[Index] | None = Field(
        None, min_length=2, description="The indexes in their new order."
    )
    order: list[KeyOrId] | None = Field(
        None, min_length=1, description="Keys or short ids, in place of new_order."
    )
    tags: ConditionTags = None

    @model_validator(mode="after")
    def _names_its_order_once(self) -> "ResequenceArguments":
        if (self.new_order is None) == (self.order is None):
            raise ValueError("give new_order or order")
        return self

    def edit(self, session: Session, thread: Thread) -> Resequence:
        """The resequence."""
        if self.order is not None:
            order = keys_named(session, self.order)
        else:
            order = tuple(self._listed(thread, self.new_order or ()))
        return Resequence(order=order, condition=self._condition(self.tags))

    @staticmethod
    def _listed(thread: Thread, indexes: Sequence[int]) -> Iterator[str]:
        """The keys of originals. Raises Invalid for an unknown index or one listed twice."""
        seen = set[int]()
        for place, index in enumerate(indexes):
            at = ("new_order", place)
            if index >= thread.message_count:
                raise Invalid(
                    f"There is no message {index}; the session has "
                    f"{thread.message_count} messages.",
                    at=at,
                    code="unknown_key",
                )
            if index in seen:
                raise Invalid(
                    f"Index {index} is listed twice.", at=at, code="duplicate"
                )
            seen.add(index)
            yield original_key(index)


class MoveArguments(EditArguments):
    """Move messages after another: a resequence as a person describes it.

    Without `after` they go to the top or, if `place` says so, to the end.
    """

    type: Literal["resequence"] = "resequence"
    moved: list[Key] = Field(min_length=1)
    after: Key | None = None
    place: Literal["top", "end"] = "top"

    @field_validator("after")
    @classmethod
    def _is_a_key(cls, key: str | None) -> str | None:
        if key and original_index(key) is None and parse_made_key(key) is None:
            raise ValueError("enter a message number")
        return key

    def edit(self, session: Session, thread: Thread) -> Resequence:
        """The resequence. Raises NotFound, or Invalid if nothing would move."""
        if self.after and not thread.holds(self.after):
            name = name_of(thread, self.after)
            raise NotFound(f"{name} is not in the thread.", at=["after"])
        order, moved = relocation(
            thread, self.moved, self.after, at_end=self.place == "end"
        )
        return Resequence(order=order, moved=moved, condition=self._condition())

    def leaves(self, thread: Thread) -> tuple[Key, ...]:
        """The leaves that it moves, including any that are already there."""
        return moved_leaves(thread, self.moved, self.after)
