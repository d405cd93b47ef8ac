"""What the API answers of the log: its entries, and the operations that it makes."""

import uuid
from typing import Any, Literal

from pydantic import BaseModel


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
