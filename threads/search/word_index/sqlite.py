"""The index in SQLite: FTS5 with trigrams, which keeps no text of its own.

A row is a text, or a piece of a long one, so that no transaction has to put in more than a piece:
its id is that of the text and, in the lowest bits, the number of the piece. Pieces overlap by
what the index is asked for, and are put in from the last to the first: a text is in once the
first piece is.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice

from django.db import connection

from .reading import LONGEST, SHORTEST, Piece, Reading, ids

NEWEST = 200
"""Texts that are read for one or two characters before the index is asked: most are found so."""
MOST_TERMS = 200
MOST_TEXTS = 20_000
"""Trigrams that begin with a query of one or two characters, and texts that hold these, beyond
which it is too common for the index: counting them takes longer than reading."""
FEW = 40
"""Texts with a piece of a query that are handed on without asking for the whole of it."""
MANY = 1000
"""Texts with a query from which on they are asked for from the newest on."""
BITS = 10
"""Of a row's id, for the number of a piece."""
PIECE = 1 << 14
"""Characters of a piece: 5 ms of work. Of a text too long for so many pieces each is longer."""
STEP = 1 << 13
"""Characters of short texts that are put in between two looks at the clock."""
_LAST = (1 << BITS) - 1
_HIGHEST = 1 << (62 - BITS)
_PIECE, _PIECES = 6, 3
_MERGED_PAGES = 100
_MERGE = "INSERT INTO {texts}({texts}, rank) VALUES('merge', %s)"
_MATCHING = "SELECT rowid FROM {texts} WHERE {texts} MATCH %s AND rowid < %s"


class SqliteWords(Reading):
    """An index of texts in SQLite."""

    def is_there(self) -> bool:
        found = self.run("SELECT 1 FROM sqlite_master WHERE name = '{texts}'")
        return bool(found)

    def held(self, above: int, last: int) -> set[int]:
        """Which texts are in already, with all their pieces, of those with these ids."""
        statement = (
            f"SELECT rowid >> {BITS}"  # noqa: S608  # ours
            " FROM {texts} WHERE rowid > %s AND rowid <= %s"
            f" AND rowid & {_LAST} = 0"
        )
        found = self.run(statement, [above << BITS | _LAST, last << BITS])
        return set(ids(found))

    def cut(self, texts: Sequence[tuple[int, str]]) -> Iterator[list[Piece]]:
        """Texts by their ids, in steps: several short ones, or a piece of a long one."""
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
        """Put pieces of folded texts in."""
        self.run_each(
            "INSERT OR REPLACE INTO {texts}(rowid, folded) VALUES(%s, %s)",
            [(one.text_id << BITS | one.number, one.text) for one in pieces],
        )

    def empty(self) -> None:
        """Take all texts out."""
        self.run("INSERT INTO {texts}({texts}) VALUES('delete-all')")

    def forget(self, erased: Iterable[int]) -> None:
        """Take texts out; `rewrite` then removes what they said from the file."""
        self.run_each(
            "DELETE FROM {texts} WHERE rowid >= %s AND rowid <= %s",
            [(one << BITS, one << BITS | _LAST) for one in erased],
        )

    def begin_to_clear(self) -> None:
        """Have the next calls of `rewrite` go through the whole index."""
        self.run(_MERGE, [-_MERGED_PAGES])

    def begin_to_merge(self) -> None:
        """Have the next calls of `rewrite` make one segment of any two of a size.

        A search looks each trigram up in every segment, and FTS5 by itself leaves three of a size.
        """
        self.run("INSERT INTO {texts}({texts}, rank) VALUES('usermerge', 2)")

    def rewrite(self) -> bool:
        """Rewrite a part of the index, without what was taken out; whether there is more to do."""
        [before] = ids(self.run("SELECT total_changes()"))
        self.run(_MERGE, [_MERGED_PAGES])
        # FTS5 documents this test: a merge that had nothing to do changes fewer than two rows.
        return ids(self.run("SELECT total_changes()"))[0] - before >= 2

    def candidates(self, query: str, before: int) -> Iterator[int]:
        """The tail, and what `newest` gives."""
        found = self.newest(query, before) if self.is_there() else ()
        return self.with_tail(found, before)

    def newest(self, query: str, before: int) -> Iterator[int]:
        """Ids of texts that may hold a folded query, below `before`, the highest first."""
        if len(query) < SHORTEST:
            # The newest texts unseen, then those that the index names; all where it can't say.
            first = list(islice(self.indexed(before), NEWEST))
            yield from first
            if len(first) == NEWEST:
                match = self._match(query)
                if match is None:
                    yield from self.indexed(first[-1])
                elif match:
                    yield from self._from_newest(match, first[-1])
            return
        whole = query[:LONGEST]
        # Of a long query the beginnings first: where one is rare, the others need not be looked up.
        last = min(len(whole) - _PIECE, _PIECES * _PIECE)
        pieces = [(whole[at : at + _PIECE], FEW) for at in range(0, last, _PIECE)]
        for words, most in [*pieces, (whole, MANY)]:
            found = self._all_matching(_quoted(words), before, most)
            if found is not None:
                yield from reversed(found)
                return
        yield from self._from_newest(_quoted(whole), before)

    def all_holding(self, query: str, most: int) -> list[int] | None:
        """Ids of all texts that may hold a folded query; None if there are more than so many."""
        match = self._match(query)
        if match is None:
            return None
        return self._all_matching(match, 1 << 62, most) if match else []

    def next_writer(self) -> int:
        """One writer at a time: what is seen is final."""
        return 0

    def all_ended_before(self, writer: int) -> bool:
        """Always: see `next_writer`."""
        return True

    def _all_matching(self, match: str, before: int, most: int) -> list[int] | None:
        """Ids below one of all texts that match, ascending; None if there are more than so many.

        In this order FTS5 answers in half the time.
        """
        found = ids(
            self.run(
                f"{_MATCHING} ORDER BY rowid LIMIT %s",
                [match, _row(before), most + 1],
            )
        )
        return None if len(found) > most else list(_texts(found))

    def _from_newest(self, match: str, before: int) -> Iterator[int]:
        """Ids below one of all texts that match, the highest first."""
        newest = f"{_MATCHING} ORDER BY rowid DESC LIMIT %s"
        return _texts(self.pages(newest, [match], _row(before)))

    def _match(self, query: str) -> str | None:
        """The query in the language of FTS5; empty where no text holds it, None if too common."""
        if len(query) >= SHORTEST:
            return _quoted(query[:LONGEST])
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
            for term, count in cursor:  # each is counted when it is come to
                terms.append(term)
                texts += count
                if len(terms) > MOST_TERMS or texts > MOST_TEXTS:
                    return None
        return " OR ".join(map(_quoted, terms))


def _pieces(text_id: int, text: str) -> Iterator[Piece]:
    """A text in pieces, from the last to the first."""
    if len(text) <= PIECE:
        yield Piece(text_id, 0, text)
        return
    length = max(PIECE, -(-len(text) >> BITS))
    starts = range(0, len(text), length)
    for number in reversed(range(len(starts))):
        start = starts[number]
        yield Piece(text_id, number, text[start : start + length + LONGEST])


def _row(text_id: int) -> int:
    """The first row of a text; ids that none can have are cut to what SQLite counts to."""
    return min(text_id, _HIGHEST) << BITS


def _texts(rows: Iterable[int]) -> Iterator[int]:
    """The texts of rows, each once."""
    return (text_id for text_id, _ in groupby(row >> BITS for row in rows))


def _quoted(words: str) -> str:
    return '"' + words.replace('"', '""') + '"'
