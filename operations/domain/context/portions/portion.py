"""Portions of a request, what they follow from, and what those of one request have in common."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from operations.domain.context.step import Count
from operations.domain.forwarding.alignment import Unit
from operations.domain.forwarding.sent import PassedMessages, SentBlock
from operations.domain.providers.passes.work import Findings
from operations.domain.providers.request import Draft, LeftOutResult, Outgoing
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key
from threads.domain.message import Role


class Basis(NamedTuple):
    """All that a portion follows from, beside what the requests have in common."""

    messages: Sequence[Outgoing]
    units: tuple[Unit | None, ...]
    left_out: tuple[tuple[str, LeftOutResult], ...]
    intact: int
    """How many messages, from the first, have signatures that hold; one more than there are
    messages where all hold, or where nothing is signed."""
    follows: bool
    goes_on: bool
    renames: bool
    head: Hashable
    """What the first portion of a request depends on: its layers. None for every other portion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Portion:
    """Consecutive messages of a request, and what becomes of them."""

    basis: Basis
    length: int
    """How many messages it is made of."""
    findings: Findings
    breaks: int | None
    """From which place on signatures are broken by what was changed in it; None: by nothing."""
    unanswered: Mapping[str, int]
    """As `compiling.unanswered`, of its own calls."""
    ids: frozenset[str]
    """Of the calls and results in it: both the ids as recorded and the ids that are sent."""
    shared: frozenset[Unit]
    """Those of its units that are made of several messages."""
    signs: bool
    """Whether there is any reasoning in it."""
    begins: Role | None
    """Who speaks first; None where what is sent doesn't begin with its first message."""
    ends: Role | None
    """Who speaks last; None where what is sent doesn't end with its last message."""
    added: int
    lost: list[tuple[Key, int]]
    """As `Compared`, for the whole portion."""
    more: int
    """How many more tokens messages have as the client sent them than as they would be compiled."""
    given: frozenset[Key]
    """The messages that go out just as the client sent them."""
    block: SentBlock
    prompt: str
    """The words of all layers, as `Compiled.prompt`."""
    system: Any
    """The system prompt, where the provider's form has a member for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What the portions of a request have in common. `draft` has no messages of its own."""

    provider: str
    draft: Draft
    thread: Thread
    given: Sequence[int | None]
    """The places of the client's messages, None for the prompt beside them."""
    system: Any
    at_top: Sequence[Unit]
    """The units of the client's first message."""
    unit: Callable[[Key], Unit | None]
    left_out: Callable[[Mapping[str, int]], Mapping[str, LeftOutResult]]
    """What left out the results of calls, as `results_left_out`."""
    write: Callable[[dict[str, Any]], bytes]
    count: Count
    recorded: Callable[[Key], int]
    """The tokens of a message that the request doesn't hold as one of its own."""
    read: Callable[[Sequence[Outgoing]], Sequence[Outgoing]]
    """Messages with the words of those that are `Unread`."""
    passed: PassedMessages | None = None
    """The last request, where all of it went out as its client gave it."""


def behind(portion: Portion, reach: int) -> int:
    """How far signatures hold behind a portion, up to whose place `reach` they do."""
    if portion.breaks is not None:
        reach = min(reach, portion.breaks)
    return max(0, reach - portion.length)


def clamped(reach: int, length: int) -> int:
    """How far signatures hold, as a `Basis` has it."""
    return max(0, min(reach, length + 1))
