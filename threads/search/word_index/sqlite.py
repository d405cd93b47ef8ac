"""The index in SQLite: FTS5 with trigrams, which keeps no text of its own.

A row is a text, or a piece of a long one, so that no transaction has to put in more than a piece:
its id is that of the body and, in the lowest bits, the number of the piece. Pieces overlap by
what the index is asked for, and are put in from the last to the first: a body is in once the
first piece is.
"""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice

from django.db import connection

from threads.store.selectors import chunks

from .reading import LONGEST, SHORTEST, Piece, ids, indexed, pages, run

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
_MERGE = "INSERT INTO threads_bodytext(threads_bodytext, rank) VALUES('merge', %s)"
_MATCHING = (
    "SELECT rowid FROM threads_bodytext WHERE threads_bodytext MATCH %s AND rowid < %s"
)
_NEWEST_MATCHING = f"{_MATCHING} ORDER BY rowid DESC LIMIT %s"


def is_there() -> bool:
    return bool(ids("SELECT 1 FROM sqlite_master WHERE name = 'threads_bodytext'"))


def held(above: int, last: int) -> set[int]:
    """Which bodies are in already, with all their pieces, of those with these ids."""
    statement = (
        f"SELECT rowid >> {BITS} FROM threads_bodytext"  # noqa: S608  # ours
        f" WHERE rowid > %s AND rowid <= %s AND rowid & {_LAST} = 0"
    )
    return set(ids(statement, [above << BITS | _LAST, last << BITS]))


def cut(texts: Sequence[tuple[int, str]]) -> Iterator[list[Piece]]:
    """Texts by the ids of their bodies, in steps: several short ones, or a piece of a long one."""
    step: list[Piece] = []
    size = 0
    for body, text in texts:
        for piece in _pieces(body, text):
            step.append(piece)
            size += len(piece.text)
            if size >= STEP:
                yield step
                step, size = [], 0
    if step:
        yield step


def _pieces(body: int, text: str) -> Iterator[Piece]:
    """A text in pieces, from the last to the first."""
    if len(text) <= PIECE:
        yield Piece(body, 0, text)
        return
    length = max(PIECE, -(-len(text) >> BITS))
    starts = range(0, len(text), length)
    for number in reversed(range(len(starts))):
        start = starts[number]
        yield Piece(body, number, text[start : start + length + LONGEST])


def add(pieces: Sequence[Piece]) -> None:
    """Put pieces of folded texts in."""
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT OR REPLACE INTO threads_bodytext(rowid, folded) VALUES(%s, %s)",
            [(one.body << BITS | one.number, one.text) for one in pieces],
        )


def empty() -> None:
    run("INSERT INTO threads_bodytext(threads_bodytext) VALUES('delete-all')")


def forget(bodies: Iterable[int]) -> None:
    """Take bodies out; `clear` then removes what they said from the file."""
    with connection.cursor() as cursor:
        cursor.executemany(
            "DELETE FROM threads_bodytext WHERE rowid >= %s AND rowid <= %s",
            [(one << BITS, one << BITS | _LAST) for one in bodies],
        )


def clear() -> bool:
    """Rewrite a part of the index without what was taken out; whether there is more to do."""
    [before] = ids("SELECT total_changes()")
    run(_MERGE, [_MERGED_PAGES])
    # FTS5 documents this test: a merge that had nothing to do changes fewer than two rows.
    return ids("SELECT total_changes()")[0] - before >= 2


def begin_to_clear() -> None:
    """Have the next calls of `clear` go through the whole index."""
    run(_MERGE, [-_MERGED_PAGES])


def flush_pending() -> None:
    """Nothing: what was put in is merged as it comes."""


def newest(query: str, before: int) -> Iterator[int]:
    """Ids of bodies that may hold a folded query, below `before`, the highest first."""
    if len(query) < SHORTEST:
        # The newest texts unseen, then those that the index names; all where it can't say.
        first = list(islice(indexed(before), NEWEST))
        yield from first
        if len(first) == NEWEST:
            match = _match(query)
            if match is None:
                yield from indexed(first[-1])
            elif match:
                yield from _from_newest(match, first[-1])
        return
    whole = query[:LONGEST]
    # Of a long query the beginnings first: where one is rare, the others need not be looked up.
    last = min(len(whole) - _PIECE, _PIECES * _PIECE)
    pieces = [(whole[at : at + _PIECE], FEW) for at in range(0, last, _PIECE)]
    for words, most in [*pieces, (whole, MANY)]:
        found = _all_matching(_quoted(words), before, most)
        if found is not None:
            yield from reversed(found)
            return
    yield from _from_newest(_quoted(whole), before)


def in_session(session_id: uuid.UUID, query: str, count: int) -> list[int] | None:
    """Indexes of a session's messages that may hold a folded query; None where unsure.

    The index knows nothing of sessions: of a query that more than `count` bodies hold it is
    quicker to read the session.
    """
    match = _match(query)
    if match is None:
        return None
    found = _all_matching(match, 1 << 62, count) if match else []
    if found is None:
        return None
    indexes: list[int] = []
    for some in chunks(found):
        places = ",".join(["%s"] * len(some))
        indexes += ids(
            'SELECT "index" FROM threads_message'  # noqa: S608  # placeholders only
            f" WHERE session_id = %s AND body_id IN ({places})",
            [session_id.hex, *some],
        )
    return sorted(indexes)


def next_writer() -> int:
    """One writer at a time: what is seen is final."""
    return 0


def all_ended_before(writer: int) -> bool:
    """Always: see `next_writer`."""
    return True


def _all_matching(match: str, before: int, most: int) -> list[int] | None:
    """Ids below one of all texts that match, ascending; None if there are more than so many.

    In this order FTS5 answers in half the time.
    """
    found = ids(f"{_MATCHING} ORDER BY rowid LIMIT %s", [match, _row(before), most + 1])
    return None if len(found) > most else list(_bodies(found))


def _from_newest(match: str, before: int) -> Iterator[int]:
    """Ids below one of all texts that match, the highest first."""
    return _bodies(pages(_NEWEST_MATCHING, [match], _row(before)))


def _row(body: int) -> int:
    """The first row of a body; ids that none can have are cut to what SQLite counts to."""
    return min(body, _HIGHEST) << BITS


def _bodies(rows: Iterable[int]) -> Iterator[int]:
    """The bodies of rows, each once."""
    return (body for body, _ in groupby(row >> BITS for row in rows))


def _match(query: str) -> str | None:
    """The query in the language of FTS5; empty where no text holds it, None if too common."""
    if len(query) >= SHORTEST:
        return _quoted(query[:LONGEST])
    terms: list[str] = []
    texts = 0
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT term, doc FROM threads_bodytext_terms WHERE term >= %s AND term <= %s",
            [query, query + 3 * "\U0010ffff"],
        )
        # The virtual table counts lazily, so leaving the loop early saves the rest of the work.
        for term, count in cursor:  # each is counted when it is come to
            terms.append(term)
            texts += count
            if len(terms) > MOST_TERMS or texts > MOST_TEXTS:
                return None
    return " OR ".join(map(_quoted, terms))


def _quoted(words: str) -> str:
    return '"' + words.replace('"', '""') + '"'
