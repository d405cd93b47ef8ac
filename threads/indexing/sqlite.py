"""The index in SQLite: FTS5 with trigrams, which keeps no text of its own."""

import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection

MOST_TERMS = 200
"""Trigrams that begin with a query of one or two characters, beyond which it is too common."""
LONGEST_PHRASE = 64
"""Characters of a query that the index is asked for; the rest is left to who makes sure."""
_MERGED_PAGES = 500


def is_there() -> bool:
    """Whether this database has the index."""
    return bool(_all("SELECT 1 FROM sqlite_master WHERE name = 'threads_bodytext'", []))


def add(texts: Sequence[tuple[int, str]]) -> None:
    """Put folded texts in under the ids of their bodies."""
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT OR REPLACE INTO threads_bodytext(rowid, folded) VALUES(%s, %s)",
            texts,
        )


def empty() -> None:
    """Take everything out."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO threads_bodytext(threads_bodytext) VALUES('delete-all')"
        )


def held(above: int, last: int) -> set[int]:
    """Which bodies are in already, of those with these ids."""
    return set(
        _ids(
            "SELECT rowid FROM threads_bodytext WHERE rowid > %s AND rowid <= %s",
            [above, last],
        )
    )


def forget(ids: Iterable[int]) -> None:
    """Take bodies out; `clear` then removes what they said from the file."""
    with connection.cursor() as cursor:
        cursor.executemany(
            "DELETE FROM threads_bodytext WHERE rowid = %s", [(one,) for one in ids]
        )


def clear() -> bool:
    """Rewrite a part of the index without what was taken out; whether there is more to do."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT total_changes()")
        before = cursor.fetchone()[0]
        cursor.execute(
            "INSERT INTO threads_bodytext(threads_bodytext, rank) VALUES('merge', %s)",
            [_MERGED_PAGES],
        )
        cursor.execute("SELECT total_changes()")
        return bool(cursor.fetchone()[0] - before >= 2)


def begin_to_clear() -> None:
    """Have the next calls of `clear` go through the whole index."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO threads_bodytext(threads_bodytext, rank) VALUES('merge', %s)",
            [-_MERGED_PAGES],
        )


def newest(query: str, before: int, count: int) -> list[int] | None:
    """Ids of bodies that may hold a folded query, below `before`, highest first.

    None where the index can't say: the query is short and common.
    """
    match = _match(query)
    if match is None:
        return None
    if not match:
        return []
    return _ids(
        "SELECT rowid FROM threads_bodytext WHERE threads_bodytext MATCH %s"
        " AND rowid < %s ORDER BY rowid DESC LIMIT %s",
        [match, before, count],
    )


def in_session(session_id: uuid.UUID, query: str, count: int) -> list[int] | None:
    """Indexes of a session's messages that may hold a folded query; None where unsure.

    The index knows nothing of sessions: of a query that more than `count` bodies hold it is
    quicker to read the session.
    """
    found = newest(query, 1 << 62, count + 1)
    if found is None or len(found) > count:
        return None
    indexes: list[int] = []
    for start in range(0, len(found), 500):
        some = found[start : start + 500]
        places = ",".join(["%s"] * len(some))
        indexes += _ids(
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


def _match(query: str) -> str | None:
    """The query in the language of FTS5; empty where no text can hold it."""
    if len(query) >= 3:
        return _quoted(query[:LONGEST_PHRASE])
    terms = [
        term
        for (term,) in _all(
            "SELECT term FROM threads_bodytext_terms WHERE term >= %s AND term <= %s"
            " LIMIT %s",
            [query, query + 3 * "\U0010ffff", MOST_TERMS + 1],
        )
    ]
    return None if len(terms) > MOST_TERMS else " OR ".join(map(_quoted, terms))


def _quoted(words: str) -> str:
    return '"' + words.replace('"', '""') + '"'


def _ids(statement: str, values: Sequence[Any]) -> list[int]:
    return [id_ for (id_,) in _all(statement, values)]


def _all(statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())
