"""Request and response schemas of snapshots."""

from typing import Any

from pydantic import BaseModel, Field

from operations.edits.schemas import HeadIn
from operations.log.presentation import ActorOut

from .selectors import MAX_NAME_LENGTH, NamedPoint


class SnapshotIn(HeadIn):
    """A name for the session's current point."""

    name: str = Field(
        max_length=MAX_NAME_LENGTH, description="Printable characters, without a slash."
    )


class SnapshotOut(BaseModel):
    """A named point of a session."""

    name: str
    head: int = Field(description="Number of the last entry of the log at that point.")
    message_count: int = Field(
        description="How many originals there were at that point."
    )
    actor: ActorOut
    created_at: str


class SnapshotList(BaseModel):
    """The snapshots of a session, the newest first."""

    items: list[SnapshotOut]


def present_snapshot(snapshot: NamedPoint) -> dict[str, Any]:
    """A snapshot as the API returns it."""
    return {
        "name": snapshot.name,
        "head": snapshot.head,
        "message_count": snapshot.message_count,
        "actor": {"id": snapshot.actor, "name": snapshot.actor_name},
        "created_at": snapshot.created_at.isoformat(),
    }
