"""What a parser makes from a file: conversations, their events, and what could not be read."""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum

from .message import Message


@dataclass(frozen=True, slots=True, init=False)
class Event:
    """A record of a transcript that is not a message: kept, shown on request, never sent.

    `type` is the format's own name for it, with its subtype after a slash
    (`system/compact_boundary`); `record` is a locator as in `Message.records`.
    """

    type: str
    record: str
    created_at: datetime | None = None

    def __init__(  # as in `Usage`
        self, type: str, record: str, created_at: datetime | None = None
    ) -> None:
        _set_type(self, type)
        _set_record(self, record)
        _set_created_at(self, created_at)


_set_type, _set_record, _set_created_at = (
    getattr(Event, member.name).__set__ for member in fields(Event)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """A tool's own shortening of its context: what it hid, and what it put there instead.

    `replaces` are the ordinals (from 0, among the messages given before it) of the hidden
    messages, at least one. `messages` are what the model saw in their place, with the text and
    the role that the tool gave them: one is a digest, several are a revise, none is a snip. They
    are not originals. A compaction that hides nothing in this file is not a Compaction: its
    summary is given as a message.
    """

    replaces: tuple[int, ...]
    messages: tuple[Message, ...]
    record: str
    created_at: datetime | None = None


class Relation(StrEnum):
    """How a conversation relates to the one that it came from."""

    SUBAGENT = "subagent"
    BRANCH = "branch"
    CONTINUATION = "continuation"
    SIDE_CALL = "side_call"
    """A request that a client makes outside its conversation, such as one for a title."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parent:
    """The conversation that another came from, by its `external_id`.

    `call_id` is the tool call that started a sub-agent. `at` is the number of messages that a
    branch shares with its parent (they are repeated as the branch's own first messages).
    """

    external_id: str
    relation: Relation
    call_id: str | None = None
    at: int | None = None


@dataclass(frozen=True, slots=True)
class Warning:
    """A note that part of a file was not read as it is. `line` counts from 1."""

    code: str
    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """One conversation of a file.

    `items` are in the order of the conversation (by the format's graph, not the clock). Each
    iteration reads them from the file again, so the file must stay open. `warnings` is complete
    once `items` has been iterated to the end.
    """

    format: str
    title: str
    items: Iterable[Message | Event | Compaction]
    external_id: str | None = None
    """The transcript's own session id, by which a longer version is recognised."""
    strategy: str = "openai"
    """The messages' `parsing_strategy`: the provider whose tool calls and blocks these are."""
    model: str = ""
    member: str = ""
    """The file of the folder that holds its records; empty if there is only one file."""
    parent: Parent | None = None
    warnings: list[Warning] = field(default_factory=list)
