"""What the API takes and answers of threads and operations."""

import uuid
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from threads.schemas import MessageData

from .arguments import AnyEdit, Tag
from .context_schemas import IssueOut, StepOut

View = Literal["annotated", "effective", "original"]


class Taken(BaseModel):
    """A request's body: unknown members are refused."""

    model_config = ConfigDict(extra="forbid")


class ToggleIn(Taken):
    """On or off."""

    active: bool
    expected_head: int | None = Field(None, ge=0)


class HeadIn(Taken):
    """The entry that the caller knows to be the last."""

    expected_head: int | None = Field(None, ge=0)


class ToolList(BaseModel):
    """Tools as a provider's request lists them."""

    tools: list[dict[str, Any]]


class BundleIn(Taken):
    """Edits to record as one."""

    title: str = Field("", max_length=300)
    operations: list[AnyEdit] = Field(min_length=1, max_length=1000)
    expected_head: int | None = Field(None, ge=0)


class LensIn(Taken):
    """The tags of a lens."""

    tags: list[Tag]


class ApplyIn(Taken):
    """The request that a client is about to send."""

    messages: list[MessageData]
    format: Literal["openai", "anthropic"] = "openai"
    system: str | list[dict[str, Any]] | None = None
    tools: list[dict[str, Any]] | None = None
    model: str | None = None
    active_tags: list[Tag] | None = None
    append: bool = True


class ActorOut(BaseModel):
    """Whom the log names."""

    id: str
    name: str


class ConditionOut(BaseModel):
    """When an operation applies."""

    tags: list[str]
    objectives: list[str]
    match: Literal["all", "any", "none"]


class OperationOut(BaseModel):
    """An operation, lightly."""

    id: uuid.UUID
    key: str
    type: str
    title: str
    status: str
    staged: bool
    """Whether its author collects it with others, to commit them together."""
    reason: str
    hidden_by: str | None
    condition: ConditionOut | None
    bundle_id: uuid.UUID | None
    actor: ActorOut
    created_at: str
    reverted_at: str | None


class OperationList(BaseModel):
    """The operations of a session, in the order of the log."""

    operations: list[OperationOut]


class TokensOut(BaseModel):
    """Tokens of the originals, and of what the model sees."""

    original: int
    effective: int


class ThreadOut(BaseModel):
    """A window into a thread."""

    session_id: uuid.UUID
    head: int
    message_count: int
    total: int
    nodes: list[dict[str, Any]]
    operations: list[OperationOut]
    active_tags: list[str]
    tokens: TokensOut


class WarningOut(BaseModel):
    """Something the caller should know of what was recorded."""

    code: str
    detail: str


class ChangedOut(BaseModel):
    """Another operation that fares otherwise now."""

    key: str
    id: uuid.UUID
    type: str
    before: str
    status: str
    reason: str


class SwitchOut(BaseModel):
    """What switching, taking back or reviewing came to."""

    success: bool
    head: int
    warnings: list[WarningOut]
    changed: list[ChangedOut]


class ResolvedOut(BaseModel):
    """What an edit names: the range of its originals, and its keys."""

    first: int | None
    last: int | None
    count: int
    keys: list[str]


class OneRecorded(BaseModel):
    """An edit that was recorded."""

    operation_id: uuid.UUID
    key: str
    type: str
    resolved: ResolvedOut
    status: str
    reason: str


class RecordedOut(SwitchOut, OneRecorded):
    """What recording one edit came to."""


class BundleOut(SwitchOut):
    """What recording a bundle came to."""

    bundle_id: uuid.UUID
    operations: list[OneRecorded]


class EntryOut(BaseModel):
    """An entry of the log, as it was recorded."""

    number: int
    key: str
    id: uuid.UUID
    type: str
    entry: dict[str, Any]
    proposed: bool
    staged: bool
    bundle_id: uuid.UUID | None
    actor: ActorOut
    created_at: str


class LogPage(BaseModel):
    """Some entries of a log."""

    items: list[EntryOut]
    next_cursor: str | None


class LensOut(BaseModel):
    """A named set of active tags."""

    name: str
    tags: list[str]


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
