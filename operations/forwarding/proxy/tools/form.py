"""What the proxy needs from a form to offer tools in it and to answer their calls."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

import msgspec

from contextstudio.accounts.responses import dump
from operations.forwarding.toolbox import CallAnswer, OfferedTool

JSONObject = dict[str, Any]
Members = Mapping[str, msgspec.Raw]
_NULL = msgspec.Raw(b"null")
list_of_raws = msgspec.json.Decoder(list[msgspec.Raw]).decode


class Call(NamedTuple):
    """A model's call of a tool."""

    id: str
    name: str
    arguments: Any
    """Parsed JSON; a text if the model wrote something else."""


class Stripper(ABC):
    """Removes calls from a reply, complete or event by event."""

    def __init__(self, names: AbstractSet[str]) -> None:
        """`names`: the tools whose calls are removed."""
        self.names = names

    @abstractmethod
    def take(self, value: JSONObject) -> JSONObject | None:
        """The value without the calls; None for an event about nothing else."""


class ToolForm(ABC):
    """How one form represents tools, calls and results."""

    stripper: type[Stripper]

    def suits(self, value: JSONObject) -> bool:
        """Whether our tools can be added to this body."""
        return True

    @abstractmethod
    def definitions(self, tools: Sequence[OfferedTool]) -> list[JSONObject]:
        """Tools in this form."""

    def with_tools(self, members: Members, tools: Sequence[OfferedTool]) -> bytes:
        """The body's list of tools: the client's own bytes, followed by ours."""
        given = members.get("tools", _NULL)
        own = [] if given == _NULL else list_of_raws(given)
        more = map(dump, self.definitions(tools))
        return (
            b"[" + b",".join([*(bytes(memoryview(one)) for one in own), *more]) + b"]"
        )

    @abstractmethod
    def without_calls(self, value: JSONObject) -> tuple[str, bytes]:
        """The member of a body that forbids calls, and its value."""

    @abstractmethod
    def results(self, answers: Sequence[tuple[Call, CallAnswer]]) -> list[JSONObject]:
        """The messages with the results of calls."""

    def with_results(
        self,
        results: Sequence[JSONObject],
        following: JSONObject,
        hidden: Sequence[bool],
    ) -> JSONObject | None:
        """The client's message with its own results, with ours added; None if ours stand alone.

        `hidden` says of each call of the reply whether it is of a tool of ours.
        """
        return None

    def calls(self, said: Sequence[JSONObject]) -> list[Call]:
        """The calls in a reply, given as messages of the next request."""
        pieces = (piece for message in said for piece in self.pieces(message))
        return [call for call in map(self.call, pieces) if call is not None]

    @abstractmethod
    def is_said(self, message: JSONObject) -> bool:
        """Whether a message may be part of a reply, as its client sends it back."""

    @abstractmethod
    def pieces(self, message: JSONObject) -> list[JSONObject]:
        """The pieces of a reply's message of which calls are some."""

    @abstractmethod
    def call(self, piece: JSONObject) -> Call | None:
        """The call that a piece is; None if it is something else."""

    @abstractmethod
    def with_pieces(
        self, message: JSONObject, pieces: list[JSONObject]
    ) -> list[JSONObject]:
        """A reply's message with other pieces."""

    def returned(self, piece: JSONObject, made: JSONObject) -> JSONObject:
        """A call of the client's as it was made; `piece` is how its client sends it back."""
        return piece

    def own(self, made: JSONObject, client: JSONObject) -> JSONObject:
        """A call of ours as it is sent beside one of the client's."""
        return made


def parsed(text: Any) -> Any:
    """Arguments parsed from text; the text itself if it isn't JSON."""
    if not isinstance(text, str):
        return text
    try:
        return msgspec.json.decode(text) if text.strip() else {}
    except (msgspec.MsgspecError, UnicodeError):
        return text
