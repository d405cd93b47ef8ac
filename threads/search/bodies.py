"""The word index of messages: the whole text of every body."""

import uuid
from collections.abc import Iterator, Sequence

from django.db import connection

from contextstudio.database.steps import chunks
from threads.domain.body import decode_parts
from threads.domain.text import fold, whole_text
from threads.models import Body, Message, SearchMark, Session

from .word_index import WordIndex, stored
from .word_index.postgresql import condition
from .word_index.reading import Tables, ids

MAX_MATCHES = 5000
"""If more bodies than this match a query, a session is searched by reading it."""


def _read(keys: Sequence[int]) -> Iterator[tuple[int, str]]:
    found = Body.objects.filter(pk__in=keys).order_by("pk").values_list("pk", "content")
    for id_, content in found.iterator(chunk_size=50):
        yield id_, fold(whole_text(decode_parts(bytes(content))))


BODIES = WordIndex(
    Tables(
        source="threads_body",
        texts="threads_bodytext",
        runs="threads_bodyrun",
        mark="threads_searchmark",
        key="body_id",
    ),
    SearchMark,
    _read,
)


def in_session(session: Session, folded_query: str) -> list[int] | None:
    """Indexes of the messages that may hold a folded query; None if any may."""
    if not BODIES.database.has_tables():
        return None
    messages = Message.objects.filter(session=session)
    later = messages.filter(body__gt=BODIES.database.through())
    tail = set(later.values_list("index", flat=True))
    here = _joined if connection.vendor == "postgresql" else _looked_up
    found = here(session.pk, stored(folded_query))
    return None if found is None else sorted(tail.union(found))


def _joined(session_id: uuid.UUID, query: str) -> list[int]:
    """Search the texts of a session's messages in PostgreSQL."""
    holds, words = condition(query)
    rows = BODIES.postgresql.run(
        'SELECT m."index" FROM threads_message m'  # noqa: S608  # ours
        f" JOIN {{texts}} t ON t.body_id = m.body_id AND {holds}"
        ' WHERE m.session_id = %s ORDER BY m."index"',
        [*words, session_id],
    )
    return ids(rows)


def _looked_up(session_id: uuid.UUID, query: str) -> list[int] | None:
    """Search all texts in SQLite, then keep those of the session; None if too many match.

    The index doesn't know sessions: if very many bodies match a query, reading the session is
    quicker.
    """
    found = BODIES.sqlite.all_holding(query, MAX_MATCHES)
    if found is None:
        return None
    indexes: list[int] = []
    for some in chunks(found):
        places = ",".join(["%s"] * len(some))
        rows = BODIES.sqlite.run(
            'SELECT "index" FROM threads_message'  # noqa: S608  # placeholders only
            f" WHERE session_id = %s AND body_id IN ({places})",
            [session_id.hex, *some],
        )
        indexes += ids(rows)
    return indexes
