"""Request and response schemas of the tray's API."""

import uuid
from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from contextstudio.accounts.shape import RequestBody
from operations.edits.schemas import BundleOut, present_bundle

from .services import Inserted, Tray


class TrayIn(RequestBody):
    """A reference to add to the tray, as `recall` takes it."""

    ref_id: str = Field(min_length=1, max_length=500)


class TrayItemOut(BaseModel):
    """An item in a tray."""

    id: uuid.UUID
    ref_id: str
    added_at: datetime
    readable: bool
    """Whether it can still be read, and so can be inserted."""
    summary: str
    tokens: int
    """How many tokens inserting it would add."""


class TrayOut(BaseModel):
    """The caller's tray, its items in the order in which they were added."""

    items: list[TrayItemOut]
    tokens: int
    """How many tokens inserting all of it would add."""


class TrayInsertedOut(BundleOut):
    """The result of inserting a tray."""

    entries: int
    """How many items were inserted."""
    left: int
    """How many items stayed in the tray, because they can no longer be read."""


def present_tray(tray: Tray) -> dict[str, Any]:
    items = [
        {
            "id": str(one.item.pk),
            "ref_id": one.item.ref_id,
            "added_at": one.item.added_at,
            "readable": one.recalled is not None,
            "summary": one.recalled.answer["summary"] if one.recalled else "",
            "tokens": one.tokens,
        }
        for one in tray.items
    ]
    return {"items": items, "tokens": tray.tokens}


def present_inserted(found: Inserted) -> dict[str, Any]:
    recorded = present_bundle(found.transaction)
    return {**recorded, "entries": found.entries, "left": found.left}
