"""Request and response schemas of scratchpads and state."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from contextstudio.accounts.shape import RequestBody

from .scratchpads import Scratchpad
from .states import Versioned


class ScratchpadIn(RequestBody):
    """New content for the scratchpad."""

    content: str
    """Markdown."""
    action: Literal["update", "append"] = "update"
    """Whether to replace the content or to add to its end."""
    expected_version: int | None = Field(None, ge=0)
    """Refuse (409) if the scratchpad has another version."""


class ScratchpadOut(BaseModel):
    """A version of the scratchpad."""

    content: str
    version: int
    actor: str
    created_at: str | None


class ScratchpadsOut(BaseModel):
    """All versions of the scratchpad, newest first."""

    items: list[ScratchpadOut]


class StateIn(RequestBody):
    """A new STATE block."""

    content: str
    """The block's text."""


class StateOut(BaseModel):
    """A version of STATE."""

    version: int
    text: str
    goal: str
    context: str
    resolved: str
    technical_anchors: str
    key: str | None
    """Key of the response that it comes from; null if it was set by hand."""
    actor: str
    created_at: str | None
    in_force: bool
    """Whether it is the one that is sent."""


class StatesOut(BaseModel):
    """The STATE in force, and all versions, oldest first."""

    state: StateOut | None
    versions: list[StateOut]
    objective_suggested: str
    """The goal in STATE, if the session has no objective; otherwise empty."""


def present_scratchpad(found: Scratchpad) -> dict[str, Any]:
    return {
        "content": found.content,
        "version": found.number,
        "actor": found.actor_name,
        "created_at": found.created_at.isoformat() if found.created_at else None,
    }


def present_state(found: Versioned) -> dict[str, Any]:
    return {
        "version": found.number,
        **found.state._asdict(),
        "key": found.key,
        "actor": found.actor,
        "created_at": found.created_at.isoformat() if found.created_at else None,
        "in_force": found.in_force,
    }
