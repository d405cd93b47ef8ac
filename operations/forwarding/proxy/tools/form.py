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
    def calls(self, said: Sequence[JSONObject]) -> list[Call]:
        """The calls in a reply, given as messages of the next request."""

    @abstractmethod
    def only_calls(
        self, said: Sequence[JSONObject], names: AbstractSet[str]
    ) -> list[JSONObject]:
        """Only the calls of some tools, as separate messages."""

    @abstractmethod
    def results(self, answers: Sequence[tuple[Call, CallAnswer]]) -> list[JSONObject]:
        """The messages with the results of calls."""


def parsed(text: Any) -> Any:
    """Arguments parsed from text; the text itself if it isn't JSON."""
    if not isinstance(text, str):
        return text
    try:
        return msgspec.json.decode(text) if text.strip() else {}
    except (msgspec.MsgspecError, UnicodeError):
        return text
