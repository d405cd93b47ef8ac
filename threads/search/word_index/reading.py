"""Queries that both databases share, as plain statements: a model's query costs more."""

from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from typing import Any, NamedTuple

from django.db import connection

AT_ONCE = 500
"""How many ids are fetched at once."""
MIN_LENGTH = 3
"""The length of a trigram; shorter queries are answered in another way."""
MAX_LENGTH = 64
"""How many characters of a query the index is asked for; the caller checks the rest."""
_THROUGH = "COALESCE((SELECT through FROM {mark} WHERE id = 1), 0)"
TAIL = (
    f"SELECT id, {_THROUGH}"  # noqa: S608  # the braces take names of ours
    f" FROM {{source}} WHERE id > {_THROUGH} AND id < %s ORDER BY id DESC LIMIT %s"
)
"""Texts recorded since the index was last brought up to date, each with the mark's `through`."""
_REST_OF_TAIL = (
    "SELECT id FROM {source} WHERE id > %s AND id < %s ORDER BY id DESC LIMIT %s"
)


class Piece(NamedTuple):
    """A folded text, or one of the pieces that a long text is stored as."""

    text_id: int
    number: int
    text: str


class Tables(NamedTuple):
    """The names of the tables of one index, and of the table its texts come from."""

    source: str
    texts: str
    runs: str
    mark: str
    key: str
    """The column that holds a text's id, in `texts` and in tables that refer to a text."""


def ids(rows: Iterable[Sequence[Any]]) -> list[int]:
    """The first column of rows."""
    return [row[0] for row in rows]


class Reading:
    """Reads the source table of an index, and how far the index has come.

    Statements contain the names of `Tables` in braces.
    """

    def __init__(self, tables: Tables) -> None:
        self._names = tables._asdict()

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """Run a statement; returns its rows, or none if it only writes."""
        with connection.cursor() as cursor:
            cursor.execute(statement.format(**self._names), values)
            return cursor.fetchall() if cursor.description else []

    def run_each(self, statement: str, values: Sequence[Sequence[Any]]) -> None:
        """Run a writing statement once for each row of values."""
        with connection.cursor() as cursor:
            cursor.executemany(statement.format(**self._names), values)

    def pages(self, statement: str, values: Sequence[Any], below: int) -> Iterator[int]:
        """Ids that a statement finds, highest first, in pages.

        Its last two values are the id below which it looks, and the page size.
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
        """A first page of ids, then what the statement finds below them."""
        yield from first
        if len(first) == AT_ONCE:
            yield from self.pages(statement, values, first[-1])

    def last(self) -> int:
        """The highest id of a text."""
        return ids(self.run("SELECT COALESCE(MAX(id), 0) FROM {source}"))[0]

    def present(self, above: int, last: int) -> set[int]:
        """Which texts exist with ids between two."""
        statement = "SELECT id FROM {source} WHERE id > %s AND id <= %s"
        return set(ids(self.run(statement, [above, last])))

    def following(self, above: int, last: int, count: int) -> list[int]:
        """The first ids of texts after one."""
        statement = (
            "SELECT id FROM {source} WHERE id > %s AND id <= %s ORDER BY id LIMIT %s"
        )
        return ids(self.run(statement, [above, last, count]))

    def through(self) -> int:
        """The id up to which all texts are indexed or were never stored."""
        return ids(self.run(f"SELECT {_THROUGH}"))[0]

    def tail(self, below: int) -> Iterator[int]:
        """Ids of the texts recorded since the index was brought up to date, highest first.

        How far the index has come is read once, with the first page: a caller that queries the
        index afterwards misses nothing that is indexed meanwhile.
        """
        yield from self.tail_from(self.run(TAIL, [below, AT_ONCE]))

    def tail_from(self, rows: Sequence[Sequence[Any]]) -> Iterator[int]:
        """The ids of the tail, given the first rows of `TAIL`."""
        above = rows[0][1] if rows else 0
        yield from self.pages_from(ids(rows), _REST_OF_TAIL, [above])

    def with_tail(self, found: Iterable[int], below: int) -> Iterator[int]:
        """The tail merged with what the index finds.

        The index is queried after the tail: what leaves the tail meanwhile is indexed by then. Such
        ids come twice.
        """
        return merge(self.tail(below), found, reverse=True)

    def indexed(self, below: int) -> Iterator[int]:
        """Ids of the indexed texts, highest first."""
        earlier = "SELECT id FROM {source} WHERE id < %s ORDER BY id DESC LIMIT %s"
        return self.pages(earlier, [], min(below, self.through() + 1))
