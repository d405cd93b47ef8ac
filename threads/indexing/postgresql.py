"""The index in PostgreSQL: folded texts in a table, with trigrams where pg_trgm is there."""

import re
import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection

LONGEST_PHRASE = 64
"""Characters of a query that the index is asked for; the rest is left to who makes sure."""
_A_TRIGRAM = re.compile(r"[^\W_]{3}")
"""Without one, an index of trigrams has to be read whole: slower than the table."""


def is_there() -> bool:
    """Whether this database has the table of texts, be it with an index or without."""
    return True


def add(texts: Sequence[tuple[int, str]]) -> None:
    """Put folded texts in under the ids of their bodies."""
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO threads_bodytext(body_id, folded) VALUES(%s, %s)"
            " ON CONFLICT (body_id) DO UPDATE SET folded = excluded.folded",
            texts,
        )


def empty() -> None:
    """Take everything out."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM threads_bodytext")


def held(above: int, last: int) -> set[int]:
    """Which bodies are in already, of those with these ids."""
    return set(
        _ids(
            "SELECT body_id FROM threads_bodytext WHERE body_id > %s AND body_id <= %s",
            [above, last],
        )
    )


def forget(ids: Iterable[int]) -> None:
    """Take bodies out; PostgreSQL's own vacuum removes what they said from the file."""
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM threads_bodytext WHERE body_id = ANY(%s)", [list(ids)]
        )


def begin_to_clear() -> None:
    """Nothing: the vacuum comes by itself."""


def clear() -> bool:
    """Nothing is left to do."""
    return False


def newest(query: str, before: int, count: int) -> list[int] | None:
    """Ids of bodies that may hold a folded query, below `before`, highest first."""
    condition, words = _condition(query)
    return _ids(
        f"SELECT body_id FROM threads_bodytext WHERE {condition}"  # noqa: S608  # ours
        " AND body_id < %s ORDER BY body_id DESC LIMIT %s",
        [words, before, count],
    )


def in_session(session_id: uuid.UUID, query: str, count: int) -> list[int] | None:
    """Indexes of a session's messages that may hold a folded query."""
    condition, words = _condition(query)
    return _ids(
        'SELECT m."index" FROM threads_message m'  # noqa: S608  # ours
        f" JOIN threads_bodytext t ON t.body_id = m.body_id AND {condition}"
        ' WHERE m.session_id = %s ORDER BY m."index"',
        [words, session_id],
    )


def next_writer() -> int:
    """A transaction behind all that write already: a number is drawn for it.

    `pg_snapshot_xmax` stands behind those that have ended, and may be one that is still at it.
    """
    return _ids("SELECT pg_current_xact_id()::text::bigint", [])[0]


def all_ended_before(writer: int) -> bool:
    """Whether every transaction that began to write before this one has ended."""
    oldest = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
    return _ids(oldest, [])[0] >= writer


def _condition(query: str) -> tuple[str, str]:
    """What the index can answer, or what makes the database read the texts."""
    words = query[:LONGEST_PHRASE]
    if not _A_TRIGRAM.search(words):
        return "strpos(folded, %s) > 0", words
    escaped = re.sub(r"([\\%_])", r"\\\1", words)
    return "folded LIKE %s", f"%{escaped}%"


def _ids(statement: str, values: Sequence[Any]) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return [id_ for (id_,) in cursor.fetchall()]
