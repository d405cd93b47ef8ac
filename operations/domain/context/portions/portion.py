"""Portions of a request, what each depends on, and what those of one request share."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from operations.domain.context.step import Count
from operations.domain.forwarding.alignment import Unit
from operations.domain.forwarding.sent import PassedMessages, SentBlock
from operations.domain.providers.passes.work import Findings
from operations.domain.providers.request import Draft, LeftOutResult, Outgoing
from operations.domain.providers.signed_places import Break, SignedPlaces
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key
from threads.domain.message import Role


class Basis(NamedTuple):
    """Everything that a portion depends on, apart from its request's `Frame`."""

    messages: Sequence[Outgoing]
    units: tuple[Unit | None, ...]
    left_out: tuple[tuple[str, LeftOutResult], ...]
    signed: SignedPlaces
    """Which of the messages have signatures that hold; none if nothing is signed."""
    follows: bool
    is_followed: bool
    renames: bool
    head: Hashable
    """What the first portion of a request depends on: its layers. None for all other portions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Portion:
    """Consecutive messages of a request, and what they are compiled to."""

    basis: Basis
    length: int
    """How many messages it is made of."""
    findings: Findings
    breaks: tuple[Break, ...]
    """See `CompiledPortion.breaks`."""
    unanswered: Mapping[str, int]
    """`compiling.unanswered` of its own calls."""
    ids: frozenset[str]
    """The ids of its calls and results, both as recorded and as sent."""
    shared: frozenset[Unit]
    """Its units that consist of several messages."""
    has_reasoning: bool
    """Whether it contains any reasoning."""
    first_role: Role | None
    """The first speaker; None if what is sent doesn't begin with the portion's first message."""
    last_role: Role | None
    """The last speaker; None if what is sent doesn't end with the portion's last message."""
    lost: list[tuple[Key, int]]
    """See `TokenComparison`: what compiling the whole portion takes away."""
    given: frozenset[Key]
    """The messages that go out exactly as the client sent them."""
    block: SentBlock
    prompt: str
    """The text of all layers, as `Compiled.prompt`."""
    system: Any
    """The system prompt, if the provider's form has a separate member for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What the portions of a request share. `draft` has no messages of its own."""

    provider: str
    draft: Draft
    thread: Thread
    given: Sequence[int | None]
    """The places of the client's messages; None for a prompt given outside the list."""
    system: Any
    at_top: Sequence[Unit]
    """The units of the client's first message."""
    unit: Callable[[Key], Unit | None]
    left_out: Callable[[Mapping[str, int]], Mapping[str, LeftOutResult]]
    """What left out the results of calls, as in `results_left_out`."""
    write: Callable[[dict[str, Any]], bytes]
    count: Count
    recorded: Callable[[Key], int]
    """The tokens of a message that is not among the request's own."""
    read: Callable[[Sequence[Outgoing]], Sequence[Outgoing]]
    """Reads the contents of each `UnreadMessage`."""
    bound_call: Callable[[int], str] = field(default=lambda place: "")
    """`RequestReader.bound_call` of the client's message at a place."""
    passed: PassedMessages | None = None
    """The last request, if all of it went out as its client gave it."""


def signed_after(portion: Portion, start: int, signed: SignedPlaces) -> SignedPlaces:
    """The places of a request that still hold after a portion that begins at `start`."""
    if not portion.breaks:
        return signed
    return signed.broken_by(change.moved(start) for change in portion.breaks)
