"""The agent's tools as the proxy offers them to a model and answers their calls.

They are defined above this room; whoever has them registers them when Django starts.
"""

import re
import uuid
from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

from contextstudio.accounts.domain.caller import Caller

RECALL = "recall"
"""The tool that returns what a reference names."""
_RECALL = re.compile(rf"(?:^|[^A-Za-z]){RECALL}$")
"""Clients prefix a tool's name with that of its server."""


class OfferedTool(NamedTuple):
    """A tool as described to a model; it acts on the session of the conversation."""

    name: str
    description: str
    parameters: dict[str, Any]
    brief: str
    """The description for providers that accept less."""

    @property
    def function(self) -> dict[str, Any]:
        """The tool in the form of OpenAI's APIs."""
        named = {"name": self.name, "description": self.brief}
        return {**named, "parameters": self.parameters}


class CallAnswer(NamedTuple):
    """The result of a call as JSON: its answer, or a problem document."""

    text: str
    is_error: bool = False


class Toolbox(Protocol):
    """The table of tools."""

    def offered_tools(self, names: str) -> list[OfferedTool]:
        """The tools of these groups, or of these names, separated by commas. Raises Invalid."""

    def answer(
        self, caller: Caller, session_id: uuid.UUID, name: str, arguments: Any
    ) -> CallAnswer:
        """Call a tool in a session, with the caller's rights."""


def names_of(tools: Iterable[dict[str, Any]]) -> set[str]:
    """The names of a request's tools, in any provider's form; malformed tools are skipped."""
    given = (one.get("function") or one for one in tools)
    named = (one.get("name") for one in given if isinstance(one, dict))
    return {name for name in named if isinstance(name, str)}


def has_recall(tools: Iterable[dict[str, Any]]) -> bool:
    """Whether one of a request's tools is our `recall`, with any prefix that a client adds."""
    return any(map(_RECALL.search, names_of(tools)))


_registered: list[Toolbox] = []


def register(toolbox: Toolbox) -> None:
    """Register the table of tools, replacing an earlier one."""
    _registered[:] = [toolbox]


def offered_tools(names: str) -> list[OfferedTool]:
    """The tools of these groups or names; none for an empty text. Raises Invalid."""
    return _registered[0].offered_tools(names) if names.strip(", ") else []


def answer(
    caller: Caller, session_id: uuid.UUID, name: str, arguments: Any
) -> CallAnswer:
    """Call a tool in a session, with the caller's rights."""
    return _registered[0].answer(caller, session_id, name, arguments)
