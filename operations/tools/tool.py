"""What every tool of an agent is: a model of arguments that knows what to do with them."""

import uuid
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from contextstudio.accounts.domain.caller import Caller
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
