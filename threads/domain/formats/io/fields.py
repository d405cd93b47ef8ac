"""Reads members of foreign JSON by type; a value of another type counts as absent."""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from contextstudio.accounts.domain.errors import Invalid, Place
from threads.domain.part import JSON

MILLISECONDS_FROM = 1e11
"""A number above this is milliseconds since 1970: as seconds it would be the year 5138."""


_MAX_COUNT = 1 << 53
_SINCE_1970 = re.compile(r"1\d{9}(?:\d{3})?(?:\.\d{1,9})?", re.ASCII)
"""Seconds or milliseconds as text, in 2001 to 2033 only: other digits may be a date."""


def text(record: JSON, *names: str) -> str:
    """The first of these members that is a non-empty string, else an empty string."""
    if isinstance(record, dict):
        for name in names:
            value = record.get(name)
            if value and isinstance(value, str):
                return value
    return ""


def word(record: JSON, *names: str, limit: int = 128) -> str:
    """The first of these members that is a name: printable text of at most `limit` characters.

    For values that become keys of database rows; anything else reads as an empty string.
    """
    if isinstance(record, dict):
        for name in names:
            if found := as_word(record.get(name), limit):
                return found
    return ""


def as_word(value: JSON, limit: int = 128) -> str:
    """The value if it is a name as in `word`, else an empty string."""
    if type(value) is str and 0 < len(value) <= limit and value.isprintable():
        return value
    return ""


def mapping(value: JSON, name: str | None = None) -> dict[str, Any]:
    """The object itself, or its member `name`; an empty object if it isn't one."""
    if name is not None:
        value = mapping(value).get(name)
    return value if isinstance(value, dict) else {}


def items(value: JSON, name: str) -> list[Any]:
    """The member if it is a list, else an empty list."""
    found = mapping(value).get(name)
    return found if isinstance(found, list) else []


def count(record: JSON, *names: str) -> int:
    """The first of these members that is a whole number from 0 to 2^53, else 0."""
    if isinstance(record, dict):
        for name in names:
            value = record.get(name)
            if type(value) is int and 0 <= value <= _MAX_COUNT:
                return value
    return 0


def as_count(value: JSON) -> int:
    """The value if it is a number as in `count`, else 0."""
    return value if type(value) is int and 0 <= value <= _MAX_COUNT else 0


def moment(value: JSON) -> datetime | None:
    """A time from RFC 3339 text, or from seconds or milliseconds since 1970, also as text.

    A time without a zone is taken as UTC.
    """
    try:
        if isinstance(value, str):
            if value[:1] == "1" and _SINCE_1970.fullmatch(value):
                return moment(float(value))
            found = datetime.fromisoformat(value)
            return found if found.tzinfo else found.replace(tzinfo=UTC)
        if type(value) in (int, float) and value > 0:  # `true` is not a time
            seconds = value / 1000 if value > MILLISECONDS_FROM else value
            return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def require(value: JSON, kind: type, words: str, at: Sequence[str | int]) -> Any:
    """The value. Raises Invalid at its place if it isn't of this type."""
    if not isinstance(value, kind):
        raise Invalid(f"Expected {words} here.", at=at)
    return value


def spell(at: Place) -> str:
    """A place in readable form: `messages[3].content[0].type`."""
    return "".join(
        f"[{step}]" if isinstance(step, int) else f".{step}" for step in at
    ).lstrip(".")


def one_line(text_: str, limit: int = 80) -> str:
    """Text as a title: its first words on one line, cut with an ellipsis."""
    line = " ".join(text_[: 4 * limit].split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def first(values: Iterable[str]) -> str:
    """The first value that is not empty, else an empty string."""
    return next((value for value in values if value), "")
