"""What all streams share: server-sent events, and the base class of assemblers."""

import re
from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from threads.domain.formats.io import json_text

JSONObject = dict[str, Any]
_LINE = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"
MAX_EVENT_BYTES = 32 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyTokens:
    """The tokens of a reply, as its provider counted them; None if it didn't say."""

    input: int | None = None
    """All input tokens, including cached ones."""
    cached: int | None = None
    written: int | None = None
    output: int | None = None


class Assembler(ABC):
    """Assembles a reply from its events."""

    def __init__(self) -> None:
        self.is_whole = False
        """Whether the last event of a stream was seen, or a complete background reply."""
        self.has_stopped = False
        """Whether all of a reply was seen except its final event, which not every client awaits."""
        self.is_ended = False
        """Whether the model finished the reply."""
        self.response: JSONObject = {}
        """The response as without streaming."""

    @abstractmethod
    def take(self, data: bytes) -> None:
        """Take one event's data."""

    def take_whole(self, response: JSONObject | list[Any]) -> None:
        """Take a reply that was not streamed."""
        if isinstance(response, dict):
            self.response = response
            self.is_ended = True

    def take_list(self, text: str) -> None:  # noqa: B027  # only one provider has them
        """Take a stream that is a JSON list of responses, as far as it arrived."""

    @abstractmethod
    def whole(self) -> JSONObject | None:
        """The response as without streaming; None if it says nothing."""

    @abstractmethod
    def said(self) -> list[JSONObject]:
        """The reply as messages for the next request; call `whole` first."""

    def others(self) -> list[JSONObject]:
        """The other choices of the response, each as a response of its own; call `whole` first."""
        return []

    @property
    @abstractmethod
    def tokens(self) -> ReplyTokens:
        """The tokens of the reply."""

    @property
    def model(self) -> str:
        """The model that the provider names."""
        return self._text("model")

    @property
    def id(self) -> str:
        """The provider's id of the reply, of any length."""
        return self._text("id")

    @property
    def fault(self) -> str:
        """Why the model did not finish the reply, if the provider gives a reason."""
        return ""

    def _text(self, name: str) -> str:
        text = self.response.get(name)
        return text if isinstance(text, str) else ""


def parse_sse() -> Generator[list[bytes], bytes, None]:
    """Parse server-sent events from the bytes of a stream as they arrive.

    Send bytes to the generator; each time it yields the data of the events that they completed.
    """
    rest, data, found = bytearray(), list[bytes](), list[bytes]()
    is_first, after_return = True, False
    while True:
        chunk = yield found
        found = []
        if not chunk:
            continue
        if after_return:  # a line feed is then the second half of its CRLF
            chunk = chunk.removeprefix(b"\n")
        after_return = chunk.endswith(b"\r")
        more, *others = _LINE.split(chunk)
        rest += more
        if len(rest) > MAX_EVENT_BYTES:
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
    """The data on a line of a stream; None for any other line."""
    return line[5:].removeprefix(b" ") if line.startswith(b"data:") else None


def parse(data: bytes | bytearray) -> Any:
    """The value of an event's data; None if it isn't JSON."""
    try:
        return json_text.parse_roughly(data)
    except ValueError:
        return None


def without_empty_members(value: JSONObject) -> JSONObject:
    """An object without its null and empty-list members, some of which can't be sent back."""
    return {name: one for name, one in value.items() if one is not None and one != []}


class Pieces:
    """A text that comes in pieces, possibly hundreds of thousands; joined only once, at the end."""

    def __init__(self, first: str) -> None:
        self.found = [first]

    def __str__(self) -> str:
        return "".join(self.found)


def add_piece(target: JSONObject, name: str, piece: Any) -> None:
    """Add a piece to a text that comes in pieces; `join` turns them into a text."""
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
    """Join the pieces that were added to these objects into texts."""
    for target in targets:
        for name, value in target.items():
            if isinstance(value, Pieces):
                target[name] = str(value)


def count(usage: Any, *names: str) -> int | None:
    """A count in a nested object, by a path of names; None if there is none."""
    for name in names:
        usage = usage.get(name) if isinstance(usage, dict) else None
    return usage if type(usage) is int and usage >= 0 else None


def in_order(pieces: dict[int, JSONObject]) -> list[JSONObject]:
    """The pieces in the order of their indexes, in which they need not have come."""
    return [piece for _, piece in sorted(pieces.items())]


def tokens_of(usage: Any, asked: str, said: str) -> ReplyTokens:
    """The counts in OpenAI's `usage`, given its names for input and output tokens."""
    return ReplyTokens(
        input=count(usage, asked),
        cached=count(usage, f"{asked}_details", "cached_tokens"),
        output=count(usage, said),
    )
