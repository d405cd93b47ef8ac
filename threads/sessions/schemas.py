"""What the API takes and answers of sessions and messages, for validation and its reference."""

import uuid
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from contextstudio.accounts.shape import RequestBody

Title = Annotated[str, Field(description="Kept on one line of 300 characters.")]
Name = Annotated[str, Field(pattern=r"^[^\x00-\x1f]*$")]
"""A word that a column takes."""
MessageData = Annotated[
    dict[str, Any], Field(description="A message as OpenAI chat or Anthropic sends it.")
]


class NewSessionIn(RequestBody):
    """A session to make; `system` becomes original 0."""

    title: Title = ""
    project: str | None = None
    external_id: Name | None = Field(None, min_length=1, max_length=255)
    parsing_strategy: Literal["openai", "anthropic", "gemini", "gemini_gca"] = "openai"
    model: Name = Field("", max_length=128)
    system: str | None = None
    messages: list[MessageData] = []


class SessionPatch(RequestBody):
    """What to change of a session; what is absent stays."""

    title: Title | None = None
    objective: str | None = Field(None, max_length=500)
    model: Name | None = Field(None, max_length=128)


class MessagesIn(RequestBody):
    """Messages to append, if the session still has as many as the caller knows of."""

    messages: list[MessageData] = Field(min_length=1)
    expected_count: int | None = Field(None, ge=0)


class SessionOut(BaseModel):
    """A session without its messages."""

    id: uuid.UUID
    project: str
    title: str
    external_id: str | None
    format: str
    parsing_strategy: str
    model: str
    objective: str
    message_count: int
    head: int
    tokens: int
    encoding: str
    created_at: str
    updated_at: str


class SessionPage(BaseModel):
    """Some sessions, newest change first."""

    items: list[SessionOut]
    next_cursor: str | None


class MessageOut(BaseModel):
    """A message in the public form."""

    key: str
    id: uuid.UUID
    short_id: str
    index: int
    role: str
    content: str | list[dict[str, Any]] | None
    parts: list[dict[str, Any]]
    tool_calls: list[dict[str, Any]] = []
    tool_call_id: str | None = None
    tool_results: list[dict[str, Any]]
    parsing_strategy: str
    group_id: int
    status: str
    tags: list[str]
    tokens: int
    weight: int | None
    created_at: str | None


class MessageList(BaseModel):
    """Some messages of a session."""

    items: list[MessageOut]
