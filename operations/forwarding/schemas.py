"""What `apply` takes and answers."""

import uuid
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from contextstudio.accounts.shape import RequestBody
from operations.context.schemas import IssueOut, StepOut
from operations.edits.arguments import TagName
from threads.sessions.presentation import MessageData


class ApplyIn(RequestBody):
    """The request that a client is about to send."""

    messages: list[MessageData]
    format: Literal["openai", "anthropic"] = "openai"
    system: str | list[dict[str, Any]] | None = None
    tools: list[dict[str, Any]] | None = None
    model: str | None = None
    active_tags: list[TagName] | None = None
    append: bool = True


class SuspendedOut(BaseModel):
    """An operation that had nothing to act on in the request."""

    id: uuid.UUID
    reason: str


class ApplyTokens(BaseModel):
    """Tokens of what came in, and of what goes out."""

    before: int
    after: int


class ApplyOut(BaseModel):
    """The messages to send in place of those given."""

    messages: list[dict[str, Any]]
    system: Annotated[Any, Field(description="As it was given, or as changed.")] = None
    applied: list[uuid.UUID]
    suspended: list[SuspendedOut]
    issues: list[IssueOut]
    steps: list[StepOut]
    tokens: ApplyTokens
    session_id: uuid.UUID
