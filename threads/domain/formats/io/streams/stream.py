"""What all streams share: events of the server, and what is put together of them."""

import re
from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from threads.domain.formats.io import json_text

JSONObject = dict[str, Any]
_LINE = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"
MOST_OF_EVENT = 32 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyTokens:
    """What a reply cost, as its provider counted; None where it didn't say."""

    input: int | None = None
    """All of the input, what was cached included."""
    cached: int | None = None
    written: int | None = None
    output: int | None = None


class Assembler(ABC):
    """Puts a reply together of its events."""

    def __init__(self) -> None:
        self.is_whole = False
        """Whether the last event of a stream was seen, or all of a reply in the background."""
        self.has_stopped = False
        """Whether all of a reply was seen but the word that it is over, for which not all wait."""
        self.is_ended = False
        """Whether what was seen is a reply that its model ended."""
        self.response: JSONObject = {}
        """As it would have come at once."""

    @abstractmethod
    def take(self, data: bytes) -> None:
        """One event's data."""

    def take_whole(self, response: JSONObject | list[Any]) -> None:
        """A reply that came at once."""
        if isinstance(response, dict):
            self.response = response
            self.is_ended = True

    def take_list(self, text: str) -> None:  # noqa: B027  # only one provider has them
        """A stream that is a list of responses, as far as it came."""

    @abstractmethod
    def whole(self) -> JSONObject | None:
        """The reply as it would have come at once; None where it says nothing."""

    @abstractmethod
    def said(self) -> list[JSONObject]:
        """The reply as messages of the next request, once `whole` has put it together."""

    def others(self) -> list[JSONObject]:
        """The replies that came beside it, each as a response by itself, after `whole`."""
        return []

    @property
    @abstractmethod
    def tokens(self) -> ReplyTokens:
        """What it cost."""

    @property
    def model(self) -> str:
        """The model that the provider names."""
        return self._text("model")

    @property
    def id(self) -> str:
        """What the provider calls the reply, however long that is."""
        return self._text("id")

    @property
    def fault(self) -> str:
        """Why its model did not end it, where the provider says so in a word."""
        return ""

    def _text(self, name: str) -> str:
        text = self.response.get(name)
        return text if isinstance(text, str) else ""


def sse() -> Generator[list[bytes], bytes, None]:
    """The data of server-sent events, given the bytes of a stream as they come.

    To be sent bytes; each time it yields the data of the events that these have ended.
    """
    rest, data, found = bytearray(), list[bytes](), list[bytes]()
    is_first, after_return = True, False
    while True:
        chunk = yield found
        found = []
        if not chunk:
            continue
        if after_return:  # of which a line feed is the second half
            chunk = chunk.removeprefix(b"\n")
        after_return = chunk.endswith(b"\r")
        more, *others = _LINE.split(chunk)
        rest += more
        if len(rest) > MOST_OF_EVENT:
            raise ValueError("An event is too long.")
        for other in others:
            line, rest = bytes(rest), bytearray(other)
            if is_first:
                line, is_first = line.removeprefix(_BOM), False
            if (said := data_of(line)) is not None:
                data.append(said)
            elif not line and data:
                found.append(b"\n".join(data))
                data = []


def data_of(line: bytes) -> bytes | None:
    """The data that a line of a stream brings; None for another line."""
    return line[5:].removeprefix(b" ") if line.startswith(b"data:") else None


def parse(data: bytes | bytearray) -> Any:
    """The value of an event's data; None where it is no JSON."""
    try:
        return json_text.parse_roughly(data)
    except ValueError:
        return None


def given(value: JSONObject) -> JSONObject:
    """An object without what it leaves empty: not all that a reply holds may be sent back so."""
    return {name: one for name, one in value.items() if one is not None and one != []}


class Pieces:
    """A text that comes in pieces, maybe in hundreds of thousands: joined once, not with each."""

    def __init__(self, first: str) -> None:
        self.found = [first]

    def __str__(self) -> str:
        return "".join(self.found)


def added(target: JSONObject, name: str, piece: Any) -> None:
    """Add a piece to a text that comes in pieces; `join` makes a text of them."""
    if not isinstance(piece, str):
        return
    before = target.get(name)
    if isinstance(before, str) and before:
        before = target[name] = Pieces(before)
    if isinstance(before, Pieces):
        before.found.append(piece)
    else:
        target[name] = piece


def join(*targets: JSONObject) -> None:
    """Make texts of what was added to these objects."""
    for target in targets:
        for name, value in target.items():
            if isinstance(value, Pieces):
                target[name] = str(value)


def count(usage: Any, *names: str) -> int | None:
    """A count in an object, by a path of names."""
    for name in names:
        usage = usage.get(name) if isinstance(usage, dict) else None
    return usage if type(usage) is int and usage >= 0 else None


def in_order(pieces: dict[int, JSONObject]) -> list[JSONObject]:
    """Pieces by their indexes, which need not have come in their order."""
    return [piece for _, piece in sorted(pieces.items())]


def tokens_of(usage: Any, asked: str, said: str) -> ReplyTokens:
    """What OpenAI's `usage` says, by its names for what was asked and what was said."""
    return ReplyTokens(
        input=count(usage, asked),
        cached=count(usage, f"{asked}_details", "cached_tokens"),
        output=count(usage, said),
    )
