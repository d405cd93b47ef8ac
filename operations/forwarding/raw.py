"""Recognises requests by the bytes in which they came.

With every turn a client sends its whole conversation again and a little more. If a body starts
with the bytes of the last one, up to the end of its last message, only the rest is parsed.
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
_MAX_PIECES = 128
"""The most pieces of a `Beginning`. Beyond that it is copied into a single piece, because
comparing gets slow."""
_HOLE = b"[0]"
"""Replaces the list of messages to check that this list is the one that a parser reads."""
_IN_HOLE = [msgspec.Raw(b"0")]


class Members(msgspec.Struct):
    """The members of a request that determine its answer; `apply` reads the others."""

    messages: list[msgspec.Raw]
    system: msgspec.Raw = _NULL
    active_tags: list[str] | None = None
    append: bool = True


Read = Callable[[bytes], Members]
"""Reads these members from a body, whatever they are called in its form."""
_read: Read = msgspec.json.Decoder(Members).decode


class MessageBounds:
    """Start and end of each message in a body.

    Stored in arrays, because they are kept for every message and tuples would take more memory.
    """

    __slots__ = ("_ends", "_starts")

    def __init__(self) -> None:
        """Start without messages."""
        self._starts, self._ends = array("q"), array("q")

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, place: int) -> tuple[int, int]:
        """Start and end of one message."""
        return self._starts[place], self._ends[place]

    def add(self, start: int, end: int) -> None:
        """Append the next message."""
        self._starts.append(start)
        self._ends.append(end)

    def extended(self, behind: "MessageBounds", more: int) -> "MessageBounds":
        """These bounds, followed by others that are shifted by `more` bytes."""
        bounds = MessageBounds()
        moved = [[at + more for at in of] for of in (behind._starts, behind._ends)]
        bounds._starts = self._starts + array("q", moved[0])
        bounds._ends = self._ends + array("q", moved[1])
        return bounds


@dataclass(frozen=True, eq=False)
class Beginning:
    """A body up to the end of its last message, with which a request that continues it starts.

    It is stored in pieces, so that it can grow without being copied.
    """

    pieces: tuple[bytes, ...]
    bounds: MessageBounds
    token: object = field(default_factory=object)
    """Identifies a beginning without holding its bytes."""

    @property
    def length(self) -> int:
        """Its length in bytes."""
        return self.bounds[-1][1]

    def begins(self, body: bytes) -> bool:
        """Whether a body starts with it."""
        place = 0
        for piece in self.pieces:
            if not body.startswith(piece, place):
                return False
            place += len(piece)
        return True


class SlicedMessages(Sequence[bytes]):
    """The messages of a body, each sliced from it only on access."""

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
        """The messages from one place to another, with the client's bytes between them."""
        (first, _), (_, last) = self.bounds[start], self.bounds[end - 1]
        return memoryview(self._body)[first:last]


class Trace(NamedTuple):
    """What must be kept of a request to recognise one that continues it."""

    beginning: Beginning | None
    messages: Sequence[bytes]
    """The messages themselves, if there is no beginning."""


@dataclass(frozen=True, kw_only=True)
class RawRequest:
    """A request to `apply`, with its messages as received bytes."""

    body: bytes
    messages: Sequence[bytes]
    system: bytes
    active_tags: frozenset[str] | None
    append: bool
    known_beginning: Beginning | None = None
    marks: bytes = b""
    """What else distinguishes requests with the same body, such as tags in a header."""

    @cached_property
    def digest(self) -> bytes:
        """A digest of the whole request."""
        return hashlib.sha256(self.marks + self.body).digest()

    @cached_property
    def beginning(self) -> Beginning | None:
        """What a request that continues this one starts with; None if that can't be determined."""
        if not isinstance(self.messages, SlicedMessages) or not self.messages:
            return None
        bounds, known = self.messages.bounds, self.known_beginning
        if known is not None and len(known.bounds) == len(bounds):
            return known
        _, end = bounds[-1]
        if known is None or len(known.pieces) == _MAX_PIECES:
            return Beginning((self.body[:end],), bounds)
        return Beginning((*known.pieces, self.body[known.length : end]), bounds)

    @property
    def mark(self) -> Hashable:
        """A value that is equal only for requests that repeat the last one; None if not known."""
        known = self.beginning
        return None if known is None else (known.token, self.body[known.length :])

    @property
    def trace(self) -> "Trace":
        """What is needed to recognise a request that continues this one."""
        is_sliced = isinstance(self.messages, SlicedMessages)
        return Trace(self.beginning, () if is_sliced else self.messages)

    def extends(self, trace: "Trace") -> bool:
        """Whether it starts with the messages of another request, byte for byte."""
        if self.known_beginning is not None or trace.beginning is not None:
            return self.known_beginning is trace.beginning
        return self.messages[: len(trace.messages)] == trace.messages

    def run(self, start: int, end: int) -> Raw:
        """The bytes of its messages from one place to another."""
        if isinstance(self.messages, SlicedMessages):
            return self.messages.run(start, end)
        return b",".join(self.messages[start:end])


class ContinuedRequest(NamedTuple):
    """A request that continues another one."""

    request: RawRequest
    rest: bytes
    """The body without the known messages."""


def read_raw(body: bytes, read: Read = _read) -> RawRequest | None:
    """Read a request from its body; None if `apply` might read it differently or refuse it."""
    try:
        found = read(body)
    except msgspec.MsgspecError:
        return None
    raws = [bytes(memoryview(one)) for one in found.messages]
    at = body.find(raws[0]) if raws else -1
    bounds = _located(body, raws, at, read)
    return _request(body, found, raws if bounds is None else bounds)


def read_continued(
    beginning: Beginning, body: bytes, read: Read = _read
) -> ContinuedRequest | None:
    """Read a request that continues another one; None unless that is certain."""
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
    whole = beginning.bounds.extended(bounds, len(body) - len(rest))
    return ContinuedRequest(_request(body, found, whole, beginning), rest)


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
        known_beginning=beginning,
    )


def _located(
    body: bytes, messages: Sequence[bytes], at: int, read: Read
) -> MessageBounds | None:
    """The bounds of parsed messages in a body, the first of which is at `at`.

    None unless they are certain. A member may occur twice in a body, and the parser takes the
    last; so the list is replaced by another one, which must then be what the parser reads.
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
