"""The index in PostgreSQL: folded texts as letters only, with trigrams if pg_trgm is installed.

For each run of texts that were added together it also stores which characters and pairs of
neighbours they hold, since one or two characters make no trigram.

pg_trgm treats anything but letters and digits as a gap between words, and pads words with blanks:
punctuation is in no trigram, nor are characters across it. With a letter in place of every such
character a text is one word to it, and any three characters are a trigram. A text that contains a
stand-in itself yields a candidate too many, never one too few.
"""

import string
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import chain
from operator import itemgetter

from .reading import AT_ONCE, MAX_LENGTH, MIN_LENGTH, TAIL, Piece, Reading, ids

NEWEST = 1000
"""How many texts are read for one or two characters before their runs are looked up."""
MAX_RUNS = 32
"""The most runs of texts that are read at once; it begins with one."""
_ADD_RUN = "INSERT INTO {runs}(first, last, pairs) VALUES(%s, %s, %s)"
_STAND_IN, _COUNT = 0x0780, 38
"""Thaana: letters of two bytes without capitals, in a script that few texts use."""
_OFTEN = "\n " + string.punctuation
_KEPT = 0x10000


class _StandIns(dict[int, int]):
    """Map of code point to its stand-in, cached for the characters of most scripts."""

    def __missing__(self, code: int) -> int:
        letter = code if chr(code).isalnum() else _STAND_IN + code % _COUNT
        if code < _KEPT:
            self[code] = letter
        return letter


_stand_ins = _StandIns({ord(one): _STAND_IN + at for at, one in enumerate(_OFTEN)})


def letters(text: str) -> str:
    """A text of the same length with a letter for each character that is not alphanumeric."""
    return text.translate(_stand_ins)


def pairs(texts: Iterable[str]) -> str:
    """The pairs of neighbours in some texts of letters, each once, separated by blanks."""
    found: set[str] = set()
    for text in texts:
        found.update(map(str.__add__, text, text[1:]))
    return " ".join(sorted(found))


class PostgresqlWords(Reading):
    """An index of texts in PostgreSQL."""

    def has_tables(self) -> bool:
        """Whether this database has the table of texts, with or without an index."""
        return True

    def held(self, above: int, last: int) -> set[int]:
        """Which of the texts with ids between two are indexed already."""
        statement = "SELECT {key} FROM {texts} WHERE {key} > %s AND {key} <= %s"
        return set(ids(self.run(statement, [above, last])))

    def cut(self, texts: Sequence[tuple[int, str]]) -> Iterator[list[Piece]]:
        """Divide texts into steps: a single one, as nobody waits."""
        yield [Piece(text_id, 0, text) for text_id, text in texts]

    def add(self, pieces: Sequence[Piece]) -> None:
        """Add folded texts in the order of their ids."""
        if not pieces:
            return
        rows = [(one.text_id, letters(one.text)) for one in pieces]
        self.run_each(
            "INSERT INTO {texts}({key}, folded) VALUES(%s, %s)"
            " ON CONFLICT ({key}) DO UPDATE SET folded = excluded.folded",
            rows,
        )
        self.run(_ADD_RUN, [rows[0][0], rows[-1][0], pairs(text for _, text in rows)])

    def empty(self) -> None:
        """Remove all texts."""
        self.run("DELETE FROM {texts}")
        self.run("DELETE FROM {runs}")

    def forget(self, erased: Iterable[int]) -> None:
        """Remove texts; `rewrite` then removes them from their runs.

        PostgreSQL's own vacuum removes their words from the file.
        """
        gone = list(erased)
        self.run("DELETE FROM {texts} WHERE {key} = ANY(%s)", [gone])
        self.run(
            "UPDATE {runs} SET is_stale = true WHERE EXISTS"
            " (SELECT 1 FROM unnest(%s::bigint[]) one WHERE one BETWEEN first AND last)",
            [gone],
        )

    def begin_to_clear(self) -> None:
        """Does nothing: `forget` has marked what `rewrite` goes through."""

    def rewrite(self) -> bool:
        """Rebuild a run that lost texts; returns whether there may be more to do."""
        stale = self.run(
            "DELETE FROM {runs} WHERE id ="
            " (SELECT min(id) FROM {runs} WHERE is_stale) RETURNING first, last"
        )
        if not stale:
            return False
        left = self.run(
            "SELECT folded FROM {texts} WHERE {key} BETWEEN %s AND %s ORDER BY {key}",
            stale[0],
        )
        if left:
            self.run(_ADD_RUN, [*stale[0], pairs(text for (text,) in left)])
        return True

    def begin_to_merge(self) -> None:
        """Move pending entries into the trigram index; otherwise each search would read them."""
        self.run(
            "SELECT gin_clean_pending_list(indexrelid) FROM pg_index WHERE indexrelid ="
            " to_regclass('{texts}_trigrams')"
        )

    def candidates(self, query: str, before: int) -> Iterator[int]:
        """The tail, and the indexed texts that may hold a folded query, highest id first.

        Both come from one statement: sending one takes PostgreSQL as long as answering it.
        """
        if len(query) < MIN_LENGTH:
            yield from self.with_tail(self.newest(query, before), before)
            return
        holds, values = condition(query)
        named = (
            f"SELECT {{key}} FROM {{texts}} WHERE {holds}"  # noqa: S608  # ours
            " AND {key} < %s ORDER BY {key} DESC LIMIT %s"
        )
        rows = self.run(
            f"({TAIL}) UNION ALL SELECT *, NULL FROM ({named}) named",  # noqa: S608  # ours
            [before, AT_ONCE, *values, before, AT_ONCE],
        )
        rows.sort(key=itemgetter(0), reverse=True)
        tail = [row for row in rows if row[1] is not None]
        first = ids(row for row in rows if row[1] is None)
        yield from merge(
            self.tail_from(tail), self.pages_from(first, named, values), reverse=True
        )

    def newest(self, query: str, before: int) -> Iterator[int]:
        """Ids of texts that may hold one or two characters, below `before`, highest first."""
        # The newest texts are read, then runs that hold the characters, ever more at once.
        words = letters(query)
        [(below, found)] = self.run(
            "SELECT min({key}), array_agg({key} ORDER BY {key} DESC)"
            " FILTER (WHERE strpos(folded, %s) > 0) FROM (SELECT {key}, folded FROM"
            " {texts} WHERE {key} < %s ORDER BY {key} DESC LIMIT %s) newest",
            [words, before, NEWEST],
        )
        yield from found or ()
        runs = [] if below is None else self._runs(words, below)
        at, count = 0, 1
        while at < len(runs):
            some = runs[at : at + count]
            ranges = " OR ".join(["{key} BETWEEN %s AND %s"] * len(some))
            yield from ids(
                self.run(
                    f"SELECT {{key}} FROM {{texts}} WHERE ({ranges})"  # noqa: S608  # ours
                    " AND strpos(folded, %s) > 0 ORDER BY {key} DESC",
                    [*chain.from_iterable(some), words],
                )
            )
            at, count = at + count, min(2 * count, MAX_RUNS)

    def next_writer(self) -> int:
        """The number of a new transaction, later than all current writers.

        `pg_snapshot_xmax` is only later than those that have ended, and may be one still running.
        """
        return ids(self.run("SELECT pg_current_xact_id()::text::bigint"))[0]

    def all_ended_before(self, writer: int) -> bool:
        """Whether every transaction that began to write before `writer` has ended."""
        # xmin is the oldest transaction still running, so everything below it has ended.
        oldest = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
        return ids(self.run(oldest))[0] >= writer

    def _runs(self, words: str, below: int) -> list[tuple[int, int]]:
        """Ranges of ids (inclusive) in which texts may hold one or two characters.

        They descend and are merged so as not to overlap: late texts form a run among others.
        """
        found = self.run(
            "SELECT first, least(last, %s) FROM {runs}"
            " WHERE strpos(pairs, %s) > 0 AND first < %s ORDER BY last DESC",
            [below - 1, words, below],
        )
        apart: list[tuple[int, int]] = []
        for first, last in found:
            if apart and last >= apart[-1][0]:
                first, last = min(first, apart[-1][0]), apart.pop()[1]
            apart.append((first, last))
        return apart


def condition(query: str) -> tuple[str, list[str]]:
    """The condition and its values: the lookup in the index, and a check of the texts it finds.

    The index is asked for every third trigram, in order: looking all of them up takes longer than
    reading the few texts that hold these and not the query.
    """
    words = letters(query[:MAX_LENGTH])
    if len(words) < MIN_LENGTH:
        return "strpos(folded, %s) > 0", [words]
    last = len(words) // MIN_LENGTH * MIN_LENGTH
    pieces = [
        words[at : at + MIN_LENGTH] for at in range(0, last - MIN_LENGTH, MIN_LENGTH)
    ]
    pieces.append(words[last - MIN_LENGTH :])
    return "folded LIKE %s AND strpos(folded, %s) > 0", [f"%{'%'.join(pieces)}%", words]
