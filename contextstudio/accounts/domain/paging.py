"""Keyset paging: a cursor names the last item of a page, so nothing is skipped or repeated."""

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from .errors import Invalid

DEFAULT_LIMIT = 100
MAX_LIMIT = 500

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """A page of a list, and the cursor of the next page if there is one."""

    items: Sequence[Item]
    next_cursor: str | None


def clamp(limit: int | None) -> int:
    """The size of a page: 100 by default, clamped to 1 to 500, never refused."""
    return DEFAULT_LIMIT if limit is None else max(1, min(limit, MAX_LIMIT))


def page(
    items: Sequence[Item], limit: int, position: Callable[[Item], Any]
) -> Page[Item]:
    """The page of `items`, which were queried with one more than `limit`.

    `position` returns an item's sort key, as JSON.
    """
    if len(items) <= limit:
        return Page(items, None)
    kept = items[:limit]
    return Page(kept, encode_cursor(position(kept[-1])))


def encode_cursor(position: Any) -> str:
    """Encode a position as an opaque string for the caller to send back."""
    return base64.urlsafe_b64encode(json.dumps(position).encode()).decode().rstrip("=")


def decode_cursor(cursor: str, length: int) -> list[Any]:
    """The position of `length` members in a cursor. Raises Invalid for anything else."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        position = json.loads(base64.urlsafe_b64decode(padded.encode()))
    except (binascii.Error, UnicodeError, ValueError, RecursionError) as error:
        raise Invalid("This is not a valid cursor.", at=["cursor"]) from error
    if not isinstance(position, list) or len(position) != length:
        raise Invalid("This cursor does not belong to this list.", at=["cursor"])
    return position
