"""What both databases are asked alike: plain statements, for a model's query costs more."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from django.db import connection

AT_ONCE = 500
"""Ids that are asked for at once."""
SHORTEST = 3
"""Characters that make a trigram; what is shorter is found in another way."""
LONGEST = 64
"""Characters of a query that the index is asked for; the rest is left to who makes sure."""
_THROUGH = "SELECT COALESCE(MAX(through), 0) FROM threads_searchmark"


class Piece(NamedTuple):
    """A folded text, or one of the pieces that a long one is put in as."""

    body: int
    number: int
    text: str


def run(statement: str, values: Sequence[Any] = ()) -> list[Any]:
    """The rows that a statement finds; none of one that only writes."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall() if cursor.description else []


def ids(statement: str, values: Sequence[Any] = ()) -> list[int]:
    """The first column of what a statement finds."""
    return [row[0] for row in run(statement, values)]


def pages(statement: str, values: Sequence[Any], below: int) -> Iterator[int]:
    """Ids that a statement finds, the highest first, so many at a time.

    Its last two values are the id below which it looks, and how many it may find.
    """
    while True:
        found = ids(statement, [*values, below, AT_ONCE])
        yield from found
        if len(found) < AT_ONCE:
            return
        below = found[-1]


def bodies(above: int, last: int) -> set[int]:
    """Which bodies there are, of those with these ids."""
    statement = "SELECT id FROM threads_body WHERE id > %s AND id <= %s"
    return set(ids(statement, [above, last]))


def through() -> int:
    """The body up to which all are in the index, or were never stored."""
    return ids(_THROUGH)[0]


def tail(below: int) -> Iterator[int]:
    """Ids of the bodies that came since the index was caught up, the highest first.

    How far the index has come is read once, with the first of them: who asks the index behind
    this misses nothing that is put in meanwhile.
    """
    found = run(
        f"SELECT id, ({_THROUGH}) FROM threads_body WHERE id > ({_THROUGH})"  # noqa: S608  # ours
        " AND id < %s ORDER BY id DESC LIMIT %s",
        [below, AT_ONCE],
    )
    yield from (id_ for id_, _ in found)
    if len(found) == AT_ONCE:
        below, above = found[-1]
        later = (
            "SELECT id FROM threads_body WHERE id > %s AND id < %s"
            " ORDER BY id DESC LIMIT %s"
        )
        yield from pages(later, [above], below)


def indexed(below: int) -> Iterator[int]:
    """Ids of the bodies that are in the index, the highest first."""
    earlier = "SELECT id FROM threads_body WHERE id < %s ORDER BY id DESC LIMIT %s"
    return pages(earlier, [], min(below, through() + 1))
