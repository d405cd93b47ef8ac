"""The agent's tools, as the proxy offers them to a model and answers its calls.

They stand above this room: who has them registers them when Django starts.
"""

import re
import uuid
from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

from contextstudio.accounts.domain.caller import Caller

RECALL = "recall"
"""The tool that gives back what a reference names."""
_RECALL = re.compile(rf"(?:^|[^A-Za-z]){RECALL}$")
"""Clients put the name of a server before that of its tool."""


class OfferedTool(NamedTuple):
    """A tool as a model is told of it; the session that it acts on is the conversation's own."""

    name: str
    description: str
    parameters: dict[str, Any]
    brief: str
    """The description where a provider takes less."""

    @property
    def function(self) -> dict[str, Any]:
        """As OpenAI's forms list it."""
        named = {"name": self.name, "description": self.brief}
        return {**named, "parameters": self.parameters}


class CallAnswer(NamedTuple):
    """What a call came to, as JSON: its answer, or a problem document."""

    text: str
    is_error: bool = False


class Toolbox(Protocol):
    """All tools."""

    def offered(self, names: str) -> list[OfferedTool]:
        """The tools of these groups, or of these names, separated by commas. Raises Invalid."""

    def answer(
        self, caller: Caller, session_id: uuid.UUID, name: str, arguments: Any
    ) -> CallAnswer:
        """Call a tool in a session, with the caller's rights."""


def names_of(tools: Iterable[dict[str, Any]]) -> set[str]:
    """The names of a request's tools, in any provider's form; of what is none of them, none."""
    given = (one.get("function") or one for one in tools)
    named = (one.get("name") for one in given if isinstance(one, dict))
    return {name for name in named if isinstance(name, str)}


def has_recall(tools: Iterable[dict[str, Any]]) -> bool:
    """Whether one of a request's tools is our `recall`, whatever a client puts before its name."""
    return any(map(_RECALL.search, names_of(tools)))


_registered: list[Toolbox] = []


def register(toolbox: Toolbox) -> None:
    """Let these be the tools."""
    _registered[:] = [toolbox]


def offered(names: str) -> list[OfferedTool]:
    """The tools of these groups and names; none for an empty text. Raises Invalid."""
    return _registered[0].offered(names) if names.strip(", ") else []


def answer(
    caller: Caller, session_id: uuid.UUID, name: str, arguments: Any
) -> CallAnswer:
    """Call a tool in a session, with the caller's rights."""
    return _registered[0].answer(caller, session_id, name, arguments)
