"""The one table of tools, and calling them: every door is a translation of this.

`register` adds a tool; apps that stand on this one register theirs when Django starts.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import DomainError, NotFound, problem
from contextstudio.accounts.idempotency import RecordedResponse, digest, once
from contextstudio.accounts.responses import dump
from contextstudio.accounts.shape import wrong_shape

from .tool import Tool

_tools: dict[str, type[Tool]] = {}
TOOLS: Mapping[str, type[Tool]] = MappingProxyType(_tools)
"""Every tool by its name, in the order in which they were registered."""


def register(tools: Iterable[type[Tool]]) -> None:
    """Add tools to the table."""
    _tools.update((tool.name, tool) for tool in tools)


def read_call(name: str, arguments: Any) -> Tool:
    """A call of the tool with this name. Raises NotFound, or Invalid with the places."""
    tool = _tools.get(name)
    if tool is None:
        raise NotFound(f"There is no tool {name}.", at=["name"])
    try:
        return tool.model_validate(arguments)
    except ValidationError as error:
        raise wrong_shape(error.errors()) from error


def call_once(caller: Caller, call: Tool) -> RecordedResponse:
    """The answer of a call; one with an idempotency key that was used before gets it again.

    Raises DomainError only where there is no such key: else a refusal is an answer too.
    """
    if call.idempotency_key is None:
        return _answered(call.call(caller))
    words = dump(call.model_dump(exclude={"idempotency_key"}))
    return once(
        caller.actor,
        call.idempotency_key,
        digest([call.name.encode(), words]),
        lambda: _answer(caller, call),
    )


def _answer(caller: Caller, call: Tool) -> RecordedResponse:
    try:
        return _answered(call.call(caller))
    except DomainError as error:
        return RecordedResponse(
            error.status, dump(problem(error)), "application/problem+json"
        )


def _answered(answer: Any) -> RecordedResponse:
    return RecordedResponse(200, dump(answer), "application/json")
