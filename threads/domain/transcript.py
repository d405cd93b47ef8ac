"""What a parser makes of a file: conversations, their events, and what could not be read."""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum

from .message import Message


@dataclass(frozen=True, slots=True, init=False)
class Event:
    """A record of a transcript that is no message: kept, shown on request, never sent.

    `type` is the format's own word, with its subtype behind a slash
    (`system/compact_boundary`); `record` is a locator as in `Message.records`.
    """

    type: str
    record: str
    created_at: datetime | None = None

    def __init__(  # as that of `Usage`
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
    """A tool's own shortening of its context: what it hid, and what stood there instead.

    `replaces` are ordinals (from 0, among the messages given before it) of the messages hidden,
    at least one; `messages` are what the model saw in their place, in the words and the role that
    the tool gave it: one is a digest, several are a revise, none is a snip. They are no originals.
    A compaction that hides nothing in this file is none: its summary is given as a message.
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
    """What a client asks beside its conversation: for a title, say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parent:
    """The conversation that another came from, by its `external_id`.

    `call_id` is the tool call that began a sub-agent; `at` is how many messages a branch
    shares with its parent (they are given again, as the branch's own first messages).
    """

    external_id: str
    relation: Relation
    call_id: str | None = None
    at: int | None = None


@dataclass(frozen=True, slots=True)
class Warning:
    """A part of a file that was not read as it stands. `line` counts from 1."""

    code: str
    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """One conversation of a file.

    `items` are in the order of the conversation (the format's graph, not the clock). They are
    read from the file while they are iterated, each time anew, so the file must stay open;
    `warnings` is complete once they were iterated to the end.
    """

    format: str
    title: str
    items: Iterable[Message | Event | Compaction]
    external_id: str | None = None
    """The transcript's own session id, by which a longer version is known again."""
    strategy: str = "openai"
    """The message's `parsing_strategy`: whose tool calls and blocks these are."""
    model: str = ""
    member: str = ""
    """The file of a folder that its records lie in; empty where there is one file alone."""
    parent: Parent | None = None
    warnings: list[Warning] = field(default_factory=list)
