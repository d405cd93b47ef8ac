"""The index in SQLite: FTS5 with trigrams, without a copy of the texts.

A row is a text, or a piece of a long one, so that no transaction has to add more than a piece. Its
id is that of the text and, in the lowest bits, the number of the piece. Pieces overlap by the
longest query put to the index, and are added from the last to the first: a text is indexed once its
first piece is.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice

from django.db import connection

from .reading import MAX_LENGTH, MIN_LENGTH, Piece, Reading, ids

NEWEST = 200
"""How many texts are read for one or two characters before the index is asked; this finds most."""
MAX_TERMS = 200
MAX_TEXTS = 20_000
"""Limits for a query of one or two characters: how many trigrams may begin with it, and how many
texts may hold these. Beyond them it is too common for the index: counting takes longer than
reading."""
FEW = 40
"""If no more texts than this hold a piece of a query, they are returned without further checks."""
MANY = 1000
"""If more texts than this hold a query, they are fetched from the newest on."""
BITS = 10
"""Bits of a row's id for the number of the piece."""
PIECE = 1 << 14
"""Characters of a piece: 5 ms of work. Pieces are longer if a text would need too many."""
STEP = 1 << 13
"""Characters of short texts that are added between two looks at the clock."""
_LAST = (1 << BITS) - 1
_HIGHEST = 1 << (62 - BITS)
_PIECE, _PIECES = 6, 3
_MERGED_PAGES = 100
_MERGE = "INSERT INTO {texts}({texts}, rank) VALUES('merge', %s)"
_MATCHING = "SELECT rowid FROM {texts} WHERE {texts} MATCH %s AND rowid < %s"


class SqliteWords(Reading):
    """An index of texts in SQLite."""

    def has_tables(self) -> bool:
        found = self.run("SELECT 1 FROM sqlite_master WHERE name = '{texts}'")
        return bool(found)

    def held(self, above: int, last: int) -> set[int]:
        """Which of the texts with ids between two are indexed already, with all their pieces."""
        statement = (
            f"SELECT rowid >> {BITS}"  # noqa: S608  # ours
            " FROM {texts} WHERE rowid > %s AND rowid <= %s"
            f" AND rowid & {_LAST} = 0"
        )
        found = self.run(statement, [above << BITS | _LAST, last << BITS])
        return set(ids(found))

    def cut(self, texts: Sequence[tuple[int, str]]) -> Iterator[list[Piece]]:
        """Divide texts into steps: several short ones, or a piece of a long one."""
        step: list[Piece] = []
        size = 0
        for text_id, text in texts:
            for piece in _pieces(text_id, text):
                step.append(piece)
                size += len(piece.text)
                if size >= STEP:
                    yield step
                    step, size = [], 0
        if step:
            yield step

    def add(self, pieces: Sequence[Piece]) -> None:
        """Add pieces of folded texts."""
        self.run_each(
            "INSERT OR REPLACE INTO {texts}(rowid, folded) VALUES(%s, %s)",
            [(one.text_id << BITS | one.number, one.text) for one in pieces],
        )

    def empty(self) -> None:
        """Remove all texts."""
        self.run("INSERT INTO {texts}({texts}) VALUES('delete-all')")

    def forget(self, erased: Iterable[int]) -> None:
        """Remove texts; `rewrite` then removes their words from the file."""
        self.run_each(
            "DELETE FROM {texts} WHERE rowid >= %s AND rowid <= %s",
            [(one << BITS, one << BITS | _LAST) for one in erased],
        )

    def begin_to_clear(self) -> None:
        """Make the next calls of `rewrite` go through the whole index."""
        self.run(_MERGE, [-_MERGED_PAGES])

    def begin_to_merge(self) -> None:
        """Make the next calls of `rewrite` merge any two segments of a size.

        A search looks up each trigram in every segment, and FTS5 by itself leaves three of a size.
        """
        self.run("INSERT INTO {texts}({texts}, rank) VALUES('usermerge', 2)")

    def rewrite(self) -> bool:
        """Rewrite a part of the index without removed texts; returns whether more is to do."""
        [before] = ids(self.run("SELECT total_changes()"))
        self.run(_MERGE, [_MERGED_PAGES])
        # FTS5 documents this test: a merge that had nothing to do changes fewer than two rows.
        return ids(self.run("SELECT total_changes()"))[0] - before >= 2

    def candidates(self, query: str, before: int) -> Iterator[int]:
        """The tail, and the results of `newest`."""
        found = self.newest(query, before) if self.has_tables() else ()
        return self.with_tail(found, before)

    def newest(self, query: str, before: int) -> Iterator[int]:
        """Ids of texts that may hold a folded query, below `before`, highest first."""
        if len(query) < MIN_LENGTH:
            # The newest texts unchecked, then those the index names; all if it can't tell.
            first = list(islice(self.indexed(before), NEWEST))
            yield from first
            if len(first) == NEWEST:
                match = self._match(query)
                if match is None:
                    yield from self.indexed(first[-1])
                elif match:
                    yield from self._from_newest(match, first[-1])
            return
        whole = query[:MAX_LENGTH]
        # A long query's beginnings first: if one is rare, the rest need not be looked up.
        last = min(len(whole) - _PIECE, _PIECES * _PIECE)
        pieces = [(whole[at : at + _PIECE], FEW) for at in range(0, last, _PIECE)]
        for words, most in [*pieces, (whole, MANY)]:
            found = self._all_matching(_quoted(words), before, most)
            if found is not None:
                yield from reversed(found)
                return
        yield from self._from_newest(_quoted(whole), before)

    def all_holding(self, query: str, most: int) -> list[int] | None:
        """Ids of all texts that may hold a folded query; None if there are more than `most`."""
        match = self._match(query)
        if match is None:
            return None
        return self._all_matching(match, 1 << 62, most) if match else []

    def next_writer(self) -> int:
        """SQLite has one writer at a time: what is visible is final."""
        return 0

    def all_ended_before(self, writer: int) -> bool:
        """Always: see `next_writer`."""
        return True

    def _all_matching(self, match: str, before: int, most: int) -> list[int] | None:
        """Ids below `before` of all matching texts, ascending; None if there are more than `most`.

        FTS5 answers in half the time in this order.
        """
        found = ids(
            self.run(
                f"{_MATCHING} ORDER BY rowid LIMIT %s",
                [match, _row(before), most + 1],
            )
        )
        return None if len(found) > most else list(_texts(found))

    def _from_newest(self, match: str, before: int) -> Iterator[int]:
        """Ids below `before` of all matching texts, highest first."""
        newest = f"{_MATCHING} ORDER BY rowid DESC LIMIT %s"
        return _texts(self.pages(newest, [match], _row(before)))

    def _match(self, query: str) -> str | None:
        """The query in FTS5's syntax; empty if no text holds it, None if it is too common."""
        if len(query) >= MIN_LENGTH:
            return _quoted(query[:MAX_LENGTH])
        terms: list[str] = []
        texts = 0
        statement = (
            "SELECT term, doc FROM {texts}_terms WHERE term >= %s AND term <= %s"
        )
        with connection.cursor() as cursor:
            cursor.execute(
                statement.format(**self._names), [query, query + 3 * "\U0010ffff"]
            )
            # The virtual table counts lazily, so leaving the loop early saves the rest of the work.
            for term, count in cursor:  # counted as it is reached
                terms.append(term)
                texts += count
                if len(terms) > MAX_TERMS or texts > MAX_TEXTS:
                    return None
        return " OR ".join(map(_quoted, terms))


def _pieces(text_id: int, text: str) -> Iterator[Piece]:
    """Divide a text into pieces, from the last to the first."""
    if len(text) <= PIECE:
        yield Piece(text_id, 0, text)
        return
    length = max(PIECE, -(-len(text) >> BITS))
    starts = range(0, len(text), length)
    for number in reversed(range(len(starts))):
        start = starts[number]
        yield Piece(text_id, number, text[start : start + length + MAX_LENGTH])


def _row(text_id: int) -> int:
    """The first row of a text; ids beyond any text's are cut to what SQLite can count to."""
    return min(text_id, _HIGHEST) << BITS


def _texts(rows: Iterable[int]) -> Iterator[int]:
    """The text ids of rows, each once."""
    return (text_id for text_id, _ in groupby(row >> BITS for row in rows))


def _quoted(words: str) -> str:
    return '"' + words.replace('"', '""') + '"'
