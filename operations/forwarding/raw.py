"""A request as the bytes that it came in.

A client in a loop sends again what it sent last, and a little more. Where its body begins with
the very bytes of the last one, up to the end of its last message, only what stands behind them is
read: what is the same was read then.
"""

import hashlib
from array import array
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, overload

import msgspec

from operations.domain.forwarding.splice import Raw

_NULL = msgspec.Raw(b"null")
_GAPS = b" \t\n\r"
_MOST_PIECES = 128
_HOLE = b"[0]"
_IN_HOLE = [msgspec.Raw(b"0")]


class Members(msgspec.Struct):
    """What of a request an answer is put together of; `apply` itself reads the others."""

    messages: list[msgspec.Raw]
    system: msgspec.Raw = _NULL
    active_tags: list[str] | None = None
    append: bool = True


Read = Callable[[bytes], Members]
"""Finds the members of a body, whatever its form calls them."""
_read: Read = msgspec.json.Decoder(Members).decode


class MessageBounds:
    """Where messages stand in a body, half-open.

    As numbers, of which each would else be an object: they are kept of all messages of a request.
    """

    __slots__ = ("_ends", "_starts")

    def __init__(self) -> None:
        """Those of no message."""
        self._starts, self._ends = array("q"), array("q")

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, place: int) -> tuple[int, int]:
        """Those of one message."""
        return self._starts[place], self._ends[place]

    def add(self, start: int, end: int) -> None:
        """Take in those of the next message."""
        self._starts.append(start)
        self._ends.append(end)

    def and_(self, behind: "MessageBounds", more: int) -> "MessageBounds":
        """These with others behind them, which stand so many bytes farther along."""
        bounds = MessageBounds()
        moved = [[at + more for at in of] for of in (behind._starts, behind._ends)]
        bounds._starts = self._starts + array("q", moved[0])
        bounds._ends = self._ends + array("q", moved[1])
        return bounds


@dataclass(frozen=True, eq=False)
class Beginning:
    """A body up to the end of its last message, by which a request that goes on is known.

    It is kept in pieces, so that it grows without being copied.
    """

    pieces: tuple[bytes, ...]
    bounds: MessageBounds
    token: object = field(default_factory=object)
    """Stands for it, without keeping it."""

    @property
    def length(self) -> int:
        """How many bytes it has."""
        return self.bounds[-1][1]

    def begins(self, body: bytes) -> bool:
        """Whether a body begins so."""
        place = 0
        for piece in self.pieces:
            if not body.startswith(piece, place):
                return False
            place += len(piece)
        return True


class SlicedMessages(Sequence[bytes]):
    """The messages of a body, cut out of it where they are asked for."""

    def __init__(self, body: bytes, bounds: MessageBounds) -> None:
        self._body, self.bounds = body, bounds

    def __len__(self) -> int:
        return len(self.bounds)

    @overload
    def __getitem__(self, place: int) -> bytes: ...

    @overload
    def __getitem__(self, place: slice) -> list[bytes]: ...

    def __getitem__(self, place: int | slice) -> bytes | list[bytes]:
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(len(self)))]
        start, end = self.bounds[place]
        return self._body[start:end]

    def run(self, start: int, end: int) -> Raw:
        """Messages from one place to another, with what their client wrote between them."""
        (first, _), (_, last) = self.bounds[start], self.bounds[end - 1]
        return memoryview(self._body)[first:last]


class Trace(NamedTuple):
    """What is kept of a request, by which one that goes on from it is known."""

    beginning: Beginning | None
    messages: Sequence[bytes]
    """Where there is no beginning."""


@dataclass(frozen=True, kw_only=True)
class RawRequest:
    """What is given to `apply`, its messages as the bytes that they came in."""

    body: bytes
    messages: Sequence[bytes]
    system: bytes
    active_tags: frozenset[str] | None
    append: bool
    goes_on_from: Beginning | None = None
    marks: bytes = b""
    """What stands beside the body and makes another request of it."""

    @cached_property
    def digest(self) -> bytes:
        """Stands for all of the request."""
        return hashlib.sha256(self.marks + self.body).digest()

    @cached_property
    def beginning(self) -> Beginning | None:
        """By what a request is known that goes on from this one; None where it can't be."""
        if not isinstance(self.messages, SlicedMessages) or not self.messages:
            return None
        bounds, known = self.messages.bounds, self.goes_on_from
        if known is not None and len(known.bounds) == len(bounds):
            return known
        _, end = bounds[-1]
        if known is None or len(known.pieces) == _MOST_PIECES:
            return Beginning((self.body[:end],), bounds)
        return Beginning((*known.pieces, self.body[known.length : end]), bounds)

    @property
    def mark(self) -> Hashable:
        """What the same request has again, if this one was the last; None where it is unknown."""
        known = self.beginning
        return None if known is None else (known.token, self.body[known.length :])

    @property
    def trace(self) -> "Trace":
        """What is enough to know a request that goes on from this one, with nothing held twice."""
        is_sliced = isinstance(self.messages, SlicedMessages)
        return Trace(self.beginning, () if is_sliced else self.messages)

    def extends(self, trace: "Trace") -> bool:
        """Whether it begins with the messages of another one, byte for byte."""
        if self.goes_on_from is not None or trace.beginning is not None:
            return self.goes_on_from is trace.beginning
        return self.messages[: len(trace.messages)] == trace.messages

    def run(self, start: int, end: int) -> Raw:
        """Its messages from one place to another."""
        if isinstance(self.messages, SlicedMessages):
            return self.messages.run(start, end)
        return b",".join(self.messages[start:end])


class Further(NamedTuple):
    """A request that goes on from another one."""

    request: RawRequest
    rest: bytes
    """The body without the messages that are known."""


def read_raw(body: bytes, read: Read = _read) -> RawRequest | None:
    """A request by its body; None for one that `apply` may read otherwise, or refuse."""
    try:
        found = read(body)
    except msgspec.MsgspecError:
        return None
    raws = [bytes(memoryview(one)) for one in found.messages]
    at = body.find(raws[0]) if raws else -1
    bounds = _located(body, raws, at, read)
    return _request(body, found, raws if bounds is None else bounds)


def read_further(
    beginning: Beginning, body: bytes, read: Read = _read
) -> Further | None:
    """A request that goes on from another one; None for one that doesn't, or may not."""
    if not beginning.begins(body):
        return None
    (first, _), place = beginning.bounds[0], _behind_gaps(body, beginning.length)
    goes_on = body[place : place + 1] == b","
    rest = body[:first] + body[place + goes_on :]
    try:
        found = read(rest)
    except msgspec.MsgspecError:
        return None
    raws = [bytes(memoryview(one)) for one in found.messages]
    bounds = _located(rest, raws, first, read)
    if bounds is None or goes_on != bool(bounds):
        return None
    whole = beginning.bounds.and_(bounds, len(body) - len(rest))
    return Further(_request(body, found, whole, beginning), rest)


def _request(
    body: bytes,
    found: Members,
    messages: Sequence[bytes] | MessageBounds,
    beginning: Beginning | None = None,
) -> RawRequest:
    tags = found.active_tags
    bounds = messages or MessageBounds()
    return RawRequest(
        body=body,
        messages=(
            SlicedMessages(body, bounds)
            if isinstance(bounds, MessageBounds)
            else bounds
        ),
        system=bytes(memoryview(found.system)),
        active_tags=None if tags is None else frozenset(tags),
        append=found.append,
        goes_on_from=beginning,
    )


def _located(
    body: bytes, messages: Sequence[bytes], at: int, read: Read
) -> MessageBounds | None:
    """Where messages stand that were read of a body, the first at a place; None: not there.

    Without their list the body must have no messages: then they were read of this very list, and
    not of another one with the same words.
    """
    opening = body.rfind(b"[", 0, max(0, at))
    if opening < 0 or body[opening + 1 : at].strip(_GAPS):
        return None
    bounds = MessageBounds()
    place = opening + 1
    for message in messages:
        place = _behind_gaps(body, place)
        if not body.startswith(message, place):
            return None
        bounds.add(place, place + len(message))
        place = _behind_gaps(body, place + len(message))
        place += body.startswith(b",", place)
    place = _behind_gaps(body, place)
    try:
        left = read(body[:opening] + _HOLE + body[place + 1 :]).messages
    except msgspec.MsgspecError:
        return None
    return bounds if body.startswith(b"]", place) and left == _IN_HOLE else None


def _behind_gaps(body: bytes, place: int) -> int:
    while body[place : place + 1] and body[place] in _GAPS:
        place += 1
    return place
