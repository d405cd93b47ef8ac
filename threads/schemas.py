"""What the API takes and answers of sessions and messages, for validation and its reference."""

import uuid
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Title = Annotated[str, Field(description="Kept on one line of 300 characters.")]
Name = Annotated[str, Field(pattern=r"^[^\x00-\x1f]*$")]
"""A word that a column takes."""
MessageData = Annotated[
    dict[str, Any], Field(description="A message as OpenAI chat or Anthropic sends it.")
]


class Taken(BaseModel):
    """A request's body: unknown members are refused."""

    model_config = ConfigDict(extra="forbid")


class NewSessionIn(Taken):
    """A session to make; `system` becomes original 0."""

    title: Title = ""
    project: str | None = None
    external_id: Name | None = Field(None, min_length=1, max_length=255)
    parsing_strategy: Literal["openai", "anthropic", "gemini", "gemini_gca"] = "openai"
    model: Name = Field("", max_length=128)
    system: str | None = None
    messages: list[MessageData] = []


class SessionPatch(Taken):
    """What to change of a session; what is absent stays."""

    title: Title | None = None
    objective: str | None = Field(None, max_length=500)
    model: Name | None = Field(None, max_length=128)


class MessagesIn(Taken):
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


class ImportedSession(BaseModel):
    """A session that a file came to."""

    id: uuid.UUID
    title: str
    message_count: int
    format: str


class ImportWarning(BaseModel):
    """A part of a file that was not read as it stands; `line` counts from 1."""

    code: str
    detail: str
    line: int | None


class ImportOut(BaseModel):
    """What an import came to."""

    sessions: list[ImportedSession]
    warnings: list[ImportWarning]
    import_id: uuid.UUID


class ImportedFile(BaseModel):
    """A file of an import, or one conversation in it."""

    name: str
    size: int
    sha256: str
    format: str
    outcome: str
    session_id: uuid.UUID | None
    session_title: str | None
    report: dict[str, Any]


class ImportRow(BaseModel):
    """An import; `report` counts what was found, and what it became."""

    id: uuid.UUID
    project: str
    name: str
    size: int
    sha256: str
    created_by: str
    created_at: str
    report: dict[str, Any]


class ImportPage(BaseModel):
    """Some imports, newest first."""

    items: list[ImportRow]
    next_cursor: str | None


class ImportReport(ImportRow):
    """An import with some of its files."""

    files: list[ImportedFile]
    next_cursor: str | None


class JobStarted(BaseModel):
    """The job that goes on with the work: ask `GET /api/jobs/{job_id}`."""

    job_id: uuid.UUID


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


class SearchExcerpt(BaseModel):
    """Around the first place of a match: `text[start:end]`, in code points, is what matched."""

    text: str
    start: int
    end: int


class SearchMatch(BaseModel):
    """A message that holds what was searched."""

    session_id: uuid.UUID
    project: str
    title: str
    key: str
    index: int
    role: str
    excerpt: SearchExcerpt


class FoundTitle(BaseModel):
    """A session whose title holds what was searched."""

    session_id: uuid.UUID
    project: str
    title: str


class SearchPage(BaseModel):
    """Some matches, the newest text first."""

    items: list[SearchMatch]
    titles: list[FoundTitle]
    next_cursor: str | None
