"""A word index: finds the texts that may hold a query, newest first.

It is never written while texts are recorded. `catch_up` adds new texts; up to the mark's `through`
every text is indexed, and later ones (the tail) are read by each search. So results are complete at
any time, and appending costs the same with and without an index. Texts are folded by `str.casefold`
in Python on both databases, with U+FFFD for what neither can store (NUL, lone surrogates). Callers
check each candidate, so the index may find a little too much.

`threads.search.bodies` has the index of messages; other apps register theirs, and one job brings
all of them up to date.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby

from django.db import connection, transaction

from contextstudio.database.steps import in_short_transactions
from threads.models import WordMark

from .postgresql import PostgresqlWords
from .reading import Piece, Tables
from .sqlite import SqliteWords

AT_ONCE = 500
"""How many texts are read at once."""
_MAX_AT_ONCE = 2 << 20
"""How many characters of texts are read at once."""
WORTH_A_JOB = 1000
"""How many texts in the tail are worth a job."""
_END = "\n\n"
"""Added to every text, so that its last characters begin a trigram too."""
_ABOVE = 1 << 62


def stored(folded: str) -> str:
    """A folded text in the form that the index stores, for texts and queries alike."""
    if folded.isascii() and "\0" not in folded:
        return folded
    clean = folded.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return clean.replace("\0", "\ufffd")


class WordIndex:
    """An index over the texts of one table.

    `read` yields texts by id, folded and in the order of their ids.
    """

    def __init__(
        self,
        tables: Tables,
        marks: type[WordMark],
        read: Callable[[Sequence[int]], Iterator[tuple[int, str]]],
    ) -> None:
        self.sqlite, self.postgresql = SqliteWords(tables), PostgresqlWords(tables)
        self._marks, self._read = marks, read

    @property
    def database(self) -> SqliteWords | PostgresqlWords:
        """The implementation for the current database."""
        return self.postgresql if connection.vendor == "postgresql" else self.sqlite

    def candidates(self, folded_query: str, before: int | None = None) -> Iterator[int]:
        """Ids of texts that may hold a folded query, below `before`, highest first.

        All texts of the tail are included, since none of them is indexed yet.
        """
        top = _ABOVE if before is None else before
        for id_, _ in groupby(self.database.candidates(stored(folded_query), top)):
            yield id_

    def is_worth_a_job(self) -> bool:
        """Whether enough texts came since the last `catch_up` to be worth another."""
        return (
            self.database.has_tables()
            and self.database.last() - self.database.through() >= WORTH_A_JOB
        )

    def is_behind(self) -> bool:
        """Whether there is anything to add or to clear."""
        if not self.database.has_tables():
            return False
        mark = self._marks._default_manager.first() or self._marks()
        return mark.through < self.database.last() or mark.forgotten > 0

    def catch_up(self) -> Iterator[int]:
        """Add new texts in small transactions; yields how many after each.

        Ids are drawn before they are committed. So the mark moves only once every transaction that
        may have drawn an id below it has ended, and what these wrote is indexed.
        """
        database = self.database
        if not database.has_tables():
            return
        with transaction.atomic():
            self._mark()
        last, writer = self.database.last(), database.next_writer()
        yield from self._add_missing(last)
        if database.all_ended_before(writer):
            yield from self._add_missing(last)
            with transaction.atomic():
                mark = self._mark()
                mark.through = max(mark.through, last)
                mark.save(update_fields=["through"])
        with transaction.atomic():
            database.begin_to_merge()
        yield from self._rewrite()
        yield from self._clear()

    def forget(self, ids: Iterable[int]) -> None:
        """Remove erased texts from the index, in the caller's transaction."""
        if gone := list(ids):
            if not self.database.has_tables():
                return
            mark = self._mark()
            self.database.forget(gone)
            mark.forgotten += len(gone)
            mark.save(update_fields=["forgotten"])

    def _add_missing(self, last: int) -> Iterator[int]:
        """Add missing texts up to an id: read and folded without a lock, written in steps."""
        at = self.database.through()
        while at < last:
            ids = self.database.following(at, last, AT_ONCE)
            if not ids:
                return
            missing = set(ids) - self.database.held(at, ids[-1])
            before, at = at, ids[-1]
            texts, size = [], 0
            for id_, text in self._read(sorted(missing)):
                texts.append((id_, stored(text) + _END))
                size += len(text)
                if size >= _MAX_AT_ONCE:
                    at = id_
                    break
            yield from self._write(texts, before, at)

    def _write(
        self, texts: Sequence[tuple[int, str]], above: int, last: int
    ) -> Iterator[int]:
        """Write texts with ids between two; those erased meanwhile are left out."""
        wanted: set[int] = set()
        put_in: list[int] = []

        def begin() -> None:
            # The mark's row lock lets only one process put texts in at a time.
            self._mark()
            wanted.clear()
            wanted.update(
                self.database.present(above, last) - self.database.held(above, last)
            )

        def add(pieces: Sequence[Piece]) -> None:
            self.database.add([one for one in pieces if one.text_id in wanted])
            put_in.extend(one.text_id for one in pieces if not one.number)

        steps = (partial(add, pieces) for pieces in self.database.cut(texts))
        for _ in in_short_transactions(steps, begin=begin):
            yield len(put_in)
            put_in.clear()

    def _clear(self) -> Iterator[int]:
        """Remove deleted words from the database file, in small transactions."""
        mark = self._marks._default_manager.first()
        if mark is None or not mark.forgotten:
            return
        with transaction.atomic():
            self._mark()
            self.database.begin_to_clear()
        yield from self._rewrite()
        with transaction.atomic():
            locked = self._mark()
            locked.forgotten = max(0, locked.forgotten - mark.forgotten)
            locked.save(update_fields=["forgotten"])

    def _rewrite(self) -> Iterator[int]:
        """Rewrite what must be rewritten, in small transactions."""
        more = True
        while more:
            with transaction.atomic():
                self._mark()
                more = self.database.rewrite()
            yield 0

    def _mark(self) -> WordMark:
        """The mark, locked until the transaction ends; if there is none, the index starts empty."""
        _, is_new = self._marks._default_manager.get_or_create(pk=1)
        if is_new:
            self.database.empty()
        return self._marks._default_manager.select_for_update().get(pk=1)


_indexes: list[WordIndex] = []


def register(index: WordIndex) -> None:
    """Register an index, which the job then keeps up to date."""
    if index not in _indexes:
        _indexes.append(index)


def registered() -> Sequence[WordIndex]:
    """All registered indexes."""
    return tuple(_indexes)
