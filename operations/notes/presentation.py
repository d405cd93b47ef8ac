"""Scratchpads and STATE in the words of the public contract."""

from typing import Any

from .scratchpads import Scratchpad
from .states import Versioned


def present_scratchpad(found: Scratchpad) -> dict[str, Any]:
    """A version of the scratchpad."""
    moment = found.created_at
    return {
        "content": found.content,
        "version": found.number,
        "actor": found.actor_name,
        "created_at": moment.isoformat() if moment else None,
    }


def present_state(found: Versioned) -> dict[str, Any]:
    """A version of STATE."""
    return {
        "version": found.number,
        **found.state._asdict(),
        "key": found.key,
        "actor": found.actor,
        "created_at": found.created_at.isoformat() if found.created_at else None,
        "in_force": found.in_force,
    }
