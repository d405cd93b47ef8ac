"""The index in SQLite: FTS5 with trigrams, which keeps no text of its own."""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from django.db import connection

from threads.store.selectors import chunks

from .reading import LONGEST, SHORTEST, ids, indexed, pages, run

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
KEY = "rowid"
_PIECE, _PIECES = 6, 3
_MERGED_PAGES = 500
_MERGE = "INSERT INTO threads_bodytext(threads_bodytext, rank) VALUES('merge', %s)"
_MATCHING = (
    "SELECT rowid FROM threads_bodytext WHERE threads_bodytext MATCH %s AND rowid < %s"
)
_NEWEST_MATCHING = f"{_MATCHING} ORDER BY rowid DESC LIMIT %s"


def is_there() -> bool:
    return bool(ids("SELECT 1 FROM sqlite_master WHERE name = 'threads_bodytext'"))


def add(texts: Sequence[tuple[int, str]]) -> None:
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT OR REPLACE INTO threads_bodytext(rowid, folded) VALUES(%s, %s)",
            texts,
        )


def empty() -> None:
    run("INSERT INTO threads_bodytext(threads_bodytext) VALUES('delete-all')")


def forget(bodies: Iterable[int]) -> None:
    """Take bodies out; `clear` then removes what they said from the file."""
    with connection.cursor() as cursor:
        cursor.executemany(
            "DELETE FROM threads_bodytext WHERE rowid = %s", [(one,) for one in bodies]
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
                yield from pages(_NEWEST_MATCHING, [match], first[-1])
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
    yield from pages(_NEWEST_MATCHING, [_quoted(whole)], before)


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
    found = ids(f"{_MATCHING} ORDER BY rowid LIMIT %s", [match, before, most + 1])
    return found if len(found) <= most else None


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
