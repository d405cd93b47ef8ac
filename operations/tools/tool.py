"""What every tool of an agent is, the one table of them, and calling them.

Every door is a translation of the table. `register` adds a tool; apps that stand on this one
register theirs when Django starts.
"""

import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import DomainError, NotFound, problem
from contextstudio.accounts.idempotency import RecordedResponse, digest, once
from contextstudio.accounts.responses import dump
from contextstudio.accounts.shape import wrong_shape
from operations.log.transaction import refuse_stale
from threads.models import Session
from threads.store.selectors import get_session


class Tool(BaseModel, ABC):
    """A call of a tool: its arguments, checked. Unknown ones are refused."""

    model_config = ConfigDict(extra="forbid")

    name: ClassVar[str]
    reads_only: ClassVar[bool] = False
    """Whether it changes nothing: clients may then call it without asking anybody."""
    is_permanent: ClassVar[bool] = False
    """Whether it destroys what can't be had back."""

    project: str | None = Field(
        None, description="Slug of the project, where it must be said."
    )
    idempotency_key: str | None = Field(
        None,
        max_length=255,
        description="A repeat with the same key answers the same again.",
    )
    expected_head: int | None = Field(
        None, ge=0, description="Refuse (409) if the log has grown beyond this entry."
    )

    @abstractmethod
    def call(self, caller: Caller) -> Any:
        """Do it; the answer, as JSON takes it. Raises DomainError."""


class SessionTool(Tool):
    """A tool that is about one session."""

    session_id: uuid.UUID = Field(description="The session's id, a UUID.")

    def open_session(self, caller: Caller) -> Session:
        """The session, at the head that the caller knows of. Raises NotFound, Conflict."""
        session = get_session(caller, self.session_id)
        refuse_stale(session, self.expected_head)
        return session


_tools: dict[str, type[Tool]] = {}
TOOLS: Mapping[str, type[Tool]] = MappingProxyType(_tools)
"""Every tool by its name, in the order in which they were registered."""


def register(tools: Iterable[type[Tool]]) -> None:
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

    def answer() -> RecordedResponse:
        return RecordedResponse(200, dump(call.call(caller)), "application/json")

    def answer_or_refusal() -> RecordedResponse:
        try:
            return answer()
        except DomainError as error:
            body = dump(problem(error))
            return RecordedResponse(error.status, body, "application/problem+json")

    if call.idempotency_key is None:
        return answer()
    words = dump(call.model_dump(exclude={"idempotency_key"}))
    return once(
        caller.actor,
        call.idempotency_key,
        digest([call.name.encode(), words]),
        answer_or_refusal,
    )
