"""What the API answers of a thread."""

import uuid
from typing import Any

from pydantic import BaseModel

from operations.log.schemas import OperationOut


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
