"""What the proxy needs to know of a form to offer tools in it and to answer their calls."""

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
    """As JSON; a text where the model wrote none."""


class Stripper(ABC):
    """Takes calls out of a reply: of one that came at once, or event by event."""

    def __init__(self, names: AbstractSet[str]) -> None:
        """`names`: of the tools whose calls go."""
        self.names = names

    @abstractmethod
    def take(self, value: JSONObject) -> JSONObject | None:
        """The same without the calls; None for an event that was about nothing else."""


class ToolForm(ABC):
    """How one form writes tools, calls and results."""

    stripper: type[Stripper]

    def suits(self, value: JSONObject) -> bool:
        """Whether tools of ours can be added to this body."""
        return True

    @abstractmethod
    def definitions(self, tools: Sequence[OfferedTool]) -> list[JSONObject]:
        """Tools as the form lists them."""

    def with_tools(self, members: Members, tools: Sequence[OfferedTool]) -> bytes:
        """The body's list of tools, ours behind the client's own, whose bytes stay."""
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
    def alone(
        self, said: Sequence[JSONObject], names: AbstractSet[str]
    ) -> list[JSONObject]:
        """Only the calls of some tools, as messages of their own."""

    @abstractmethod
    def results(self, answers: Sequence[tuple[Call, CallAnswer]]) -> list[JSONObject]:
        """The messages that bring the results of calls."""


def parsed(text: Any) -> Any:
    """Arguments that came as text; the text itself where it is no JSON."""
    if not isinstance(text, str):
        return text
    try:
        return msgspec.json.decode(text) if text.strip() else {}
    except (msgspec.MsgspecError, UnicodeError):
        return text
