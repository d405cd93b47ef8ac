"""What both databases are asked alike: plain statements, for a model's query costs more."""

from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from typing import Any, NamedTuple

from django.db import connection

AT_ONCE = 500
"""Ids that are asked for at once."""
SHORTEST = 3
"""Characters that make a trigram; what is shorter is found in another way."""
LONGEST = 64
"""Characters of a query that the index is asked for; the rest is left to who makes sure."""
_THROUGH = "COALESCE((SELECT through FROM {mark} WHERE id = 1), 0)"
TAIL = (
    f"SELECT id, {_THROUGH}"  # noqa: S608  # names of ours come into the braces
    f" FROM {{source}} WHERE id > {_THROUGH} AND id < %s ORDER BY id DESC LIMIT %s"
)
"""What came since the index was caught up, each with how far the index has come."""
_REST_OF_TAIL = (
    "SELECT id FROM {source} WHERE id > %s AND id < %s ORDER BY id DESC LIMIT %s"
)


class Piece(NamedTuple):
    """A folded text, or one of the pieces that a long one is put in as."""

    text_id: int
    number: int
    text: str


class Tables(NamedTuple):
    """The tables of one index, and the one that its texts come from."""

    source: str
    texts: str
    runs: str
    mark: str
    key: str
    """The column of `texts` and of what names a text that holds its id."""


def ids(rows: Iterable[Sequence[Any]]) -> list[int]:
    """The first column of what a statement found."""
    return [row[0] for row in rows]


class Reading:
    """Where the texts of an index come from, and how far it has come.

    Its statements have the names of `Tables` in braces.
    """

    def __init__(self, tables: Tables) -> None:
        self._names = tables._asdict()

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """The rows that a statement finds; none of one that only writes."""
        with connection.cursor() as cursor:
            cursor.execute(statement.format(**self._names), values)
            return cursor.fetchall() if cursor.description else []

    def run_each(self, statement: str, values: Sequence[Sequence[Any]]) -> None:
        """Run a statement that writes once for each of these."""
        with connection.cursor() as cursor:
            cursor.executemany(statement.format(**self._names), values)

    def pages(self, statement: str, values: Sequence[Any], below: int) -> Iterator[int]:
        """Ids that a statement finds, the highest first, so many at a time.

        Its last two values are the id below which it looks, and how many it may find.
        """
        while True:
            found = ids(self.run(statement, [*values, below, AT_ONCE]))
            yield from found
            if len(found) < AT_ONCE:
                return
            below = found[-1]

    def pages_from(
        self, first: Sequence[int], statement: str, values: Sequence[Any]
    ) -> Iterator[int]:
        """A first page of ids, and what such a statement finds below them."""
        yield from first
        if len(first) == AT_ONCE:
            yield from self.pages(statement, values, first[-1])

    def last(self) -> int:
        """The highest id of a text that there is."""
        return ids(self.run("SELECT COALESCE(MAX(id), 0) FROM {source}"))[0]

    def present(self, above: int, last: int) -> set[int]:
        """Which texts there are, of those with these ids."""
        statement = "SELECT id FROM {source} WHERE id > %s AND id <= %s"
        return set(ids(self.run(statement, [above, last])))

    def following(self, above: int, last: int, count: int) -> list[int]:
        """The first ids of texts behind one."""
        statement = (
            "SELECT id FROM {source} WHERE id > %s AND id <= %s ORDER BY id LIMIT %s"
        )
        return ids(self.run(statement, [above, last, count]))

    def through(self) -> int:
        """The id up to which all are in the index, or were never stored."""
        return ids(self.run(f"SELECT {_THROUGH}"))[0]

    def tail(self, below: int) -> Iterator[int]:
        """Ids of the texts that came since the index was caught up, the highest first.

        How far the index has come is read once, with the first of them: who asks the index behind
        this misses nothing that is put in meanwhile.
        """
        yield from self.tail_from(self.run(TAIL, [below, AT_ONCE]))

    def tail_from(self, rows: Sequence[Sequence[Any]]) -> Iterator[int]:
        """The ids of that, given what `TAIL` found first."""
        above = rows[0][1] if rows else 0
        yield from self.pages_from(ids(rows), _REST_OF_TAIL, [above])

    def with_tail(self, found: Iterable[int], below: int) -> Iterator[int]:
        """What the index finds, asked behind the tail: what leaves that meanwhile is in by then.

        What leaves it comes twice.
        """
        return merge(self.tail(below), found, reverse=True)

    def indexed(self, below: int) -> Iterator[int]:
        """Ids of the texts that are in the index, the highest first."""
        earlier = "SELECT id FROM {source} WHERE id < %s ORDER BY id DESC LIMIT %s"
        return self.pages(earlier, [], min(below, self.through() + 1))
