"""Writing many rows at once, past Django's models: COPY on PostgreSQL, wide INSERTs on SQLite.

Rows come as columns of equal length, of what the tables take; `threads.store.recording` makes them.
They are written in the caller's transaction, and what the database refuses is raised as Django
raises it (IntegrityError, DataError). In SQLite most of the time would go into binding values,
so that a value that is the same in all rows of a statement is bound once.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import Any, NamedTuple

import orjson
from django.db import (
    DEFAULT_DB_ALIAS,
    DatabaseError,
    IntegrityError,
    connection,
    connections,
    transaction,
)
from django.utils import timezone

from contextstudio.database import driver
from threads.domain.batch import Alike, Column, Events, alike, times
from threads.models import Session

MESSAGE_COLUMNS = (
    "index",
    "uuid",
    "body_id",
    "tokens",
    "group_id",
    "role",
    "status",
    "weight",
    "usage",
    "name",
    "model",
    "external_id",
    "created_at",
    "records",
    "short_id",
)
"""What differs from message to message, as `insert_messages` is given it.

`uuid` as 32 hex digits, `usage` and `records` as JSON text, `created_at` as `moments` gives it.
"""
EVENT_COLUMNS = ("before_index", "type", "record", "created_at")
BODY_COLUMNS = ("digest", "canonical", "content", "token_counts")

_SIZES = (256, 128, 64, 32, 16)
"""Rows of one INSERT in SQLite, which takes 32,766 values in a statement. The last one takes what
is left, so that the driver meets few statements and knows them: to parse one anew takes as long as
to run it."""
_LOOK_UP = (
    "WITH RECURSIVE run(at) AS"
    " (SELECT 1 UNION ALL SELECT at + 2048 FROM run WHERE at + 2048 <= length(?1)),"
    " step(further) AS"
    " (SELECT 0 UNION ALL SELECT further + 32 FROM step WHERE further < 2016)"
    " SELECT body.digest, body.id, body.token_counts FROM run CROSS JOIN step"
    " CROSS JOIN threads_body AS body"
    " ON body.project_id = ?2 AND body.digest = substr(?1, run.at + step.further, 32)"
)
"""Bodies by digests that lie one behind the other in one value. It is cut in runs of 64, for a
step of a recursion takes as long as to look one up."""
_COUNTERS = (
    "UPDATE threads_session SET message_count = %s, original_tokens = %s, updated_at = %s"
    " WHERE id = %s"
)
_STAGE = (
    "CREATE TEMPORARY TABLE IF NOT EXISTS staged_body"
    " (digest bytea, canonical bytea, content bytea, token_counts jsonb) ON COMMIT DELETE ROWS"
)
_FROM_STAGE = (
    "INSERT INTO threads_body (project_id, digest, canonical, content, token_counts)"
    " SELECT %s, digest, canonical, content, token_counts FROM staged_body"
    " ON CONFLICT DO NOTHING RETURNING digest, id"
)


class StoredBody(NamedTuple):
    """A body that is stored: its id, and its token counts as JSON text."""

    id: int
    token_counts: str


def insert_messages(
    session: Session, source_id: int | None, columns: Sequence[Column]
) -> Sequence[int]:
    """Write messages of one session; `columns` are those of `MESSAGE_COLUMNS`.

    The answer is the places of those that are not written, because the session has their short
    id. PostgreSQL then writes none: COPY passes over nothing.
    """
    same = {
        "session_id": session.pk.hex,
        "source_id": source_id,
        "parsing_strategy": session.parsing_strategy,
    }
    if connection.vendor != "postgresql":
        # Without a savepoint, for which every page that is changed would be kept as it was.
        unless = ' WHERE true ON CONFLICT ("session_id", "short_id") DO NOTHING'
        done = _insert("threads_message", same, MESSAGE_COLUMNS, columns, unless)
        if sum(one.rowcount for one in done) == len(columns[0]):
            return ()
        found = _execute(
            'SELECT uuid FROM threads_message WHERE session_id = ? AND "index" >= ?',
            (session.pk.hex, columns[0][0]),  # their indexes ascend
        )
        written = {uuid for (uuid,) in found}
        return [at for at, uuid in enumerate(columns[1]) if uuid not in written]
    try:
        with transaction.atomic():
            _copy("threads_message", same, MESSAGE_COLUMNS, columns)
    except IntegrityError as error:
        if "short_id" not in str(error):
            raise
        return range(len(columns[0]))
    return ()


def insert_events(session: Session, source_id: int, events: Events) -> None:
    if not events.types:
        return
    columns = [*events[:-1], moments(events.created, len(events.types))]
    same = {"session_id": session.pk.hex, "source_id": source_id}
    insert_rows("threads_event", same, EVENT_COLUMNS, columns)


def insert_rows(
    table: str,
    same: Mapping[str, Any],
    names: Sequence[str],
    columns: Sequence[Column],
) -> None:
    """Write rows of any table, of columns as the database takes them; `same` is that of all."""
    write = _copy if connection.vendor == "postgresql" else _insert
    write(table, same, names, columns)


def insert_bodies(
    project_id: int, columns: Sequence[Sequence[Any]]
) -> dict[bytes, int]:
    """Store bodies; `columns` are those of `BODY_COLUMNS`. The answer is their ids by digest.

    A body that another transaction has stored in the meantime is not in the answer; in SQLite
    none is then, which tells only how many it has written.
    """
    if connection.vendor != "postgresql":
        same = {"project_id": project_id}
        unless = ' WHERE true ON CONFLICT ("project_id", "digest") DO NOTHING'
        done = _insert("threads_body", same, BODY_COLUMNS, columns, unless)
        if sum(one.rowcount for one in done) < len(columns[0]):
            return {}
        # SQLite counts them up within a statement.
        ids = chain.from_iterable(
            range(one.lastrowid - one.rowcount + 1, one.lastrowid + 1) for one in done
        )
        return dict(zip(columns[0], ids, strict=True))
    with connection.cursor() as cursor:
        # COPY has no ON CONFLICT: bodies go through a temporary table, so that one which another
        # transaction has just stored is passed over instead of refusing the whole batch.
        cursor.execute(_STAGE)
        cursor.execute("DELETE FROM staged_body")
        _copy("staged_body", {}, BODY_COLUMNS, columns)
        cursor.execute(_FROM_STAGE, [project_id])
        return {bytes(digest): id_ for digest, id_ in cursor.fetchall()}


def find_bodies(project_id: int, digests: Iterable[bytes]) -> dict[bytes, StoredBody]:
    """The bodies of a project with these digests; they stay until the transaction ends."""
    wanted = list(digests)
    if connection.vendor != "postgresql":
        rows = _execute(_LOOK_UP, (b"".join(wanted), project_id)).fetchall()
    else:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT digest, id, token_counts::text FROM threads_body"
                # KEY SHARE keeps an erasing transaction from removing them before they are used.
                " WHERE project_id = %s AND digest = ANY(%s) FOR KEY SHARE",
                [project_id, wanted],
            )
            rows = cursor.fetchall()
    return {bytes(digest): StoredBody(id_, counts) for digest, id_, counts in rows}


def update_counters(session: Session) -> None:
    """Save how many messages a session has, their tokens and that it has changed now."""
    session.updated_at = timezone.now()
    counters = session.message_count, session.original_tokens
    [updated_at] = moments(times([session.updated_at]), 1)
    if not driver.write(_counters(), [[*counters, updated_at, session.pk.hex]]):
        raise DatabaseError("The session is gone.")


@cache
def _counters() -> driver.Statement:
    return driver.statement(_COUNTERS)


def moments(listed: bytes | None, count: int) -> list[str | None]:
    """So many times as a column takes them, of what `batch.times` gave."""
    if listed is None:
        return [None] * count
    if connection.vendor != "postgresql":  # as Django writes them
        listed = listed.replace(b"T", b" ").replace(b"+00:00", b"")
    found: list[str | None] = orjson.loads(listed)
    return found


def _copy(
    table: str,
    same: Mapping[str, Any],
    names: Sequence[str],
    columns: Sequence[Column],
) -> None:
    fixed, varying = _apart(same, names, columns)
    listed = ", ".join(f'"{name}"' for name in (*fixed, *varying))
    values = tuple(fixed.values())
    with (
        connection.cursor() as cursor,
        connection.wrap_database_errors,
        cursor.cursor.copy(f"COPY {table} ({listed}) FROM STDIN") as copy,
    ):
        for row in zip(*varying.values(), strict=True):
            copy.write_row(values + row)


def _apart(
    same: Mapping[str, Any], names: Sequence[str], columns: Sequence[Column]
) -> tuple[dict[str, Any], dict[str, Sequence[Any]]]:
    """The columns in which all rows have one value, and the others; the first is one of these."""
    fixed, varying = dict(same), {names[0]: columns[0]}
    for name, values in zip(names[1:], columns[1:], strict=True):
        column = values if isinstance(values, Alike) else alike(values)
        if isinstance(column, Alike):
            fixed[name] = column.value
        else:
            varying[name] = column
    return fixed, varying


def _insert(
    table: str,
    same: Mapping[str, Any],
    names: Sequence[str],
    columns: Sequence[Column],
    unless: str = "",
) -> list[Any]:
    """Write rows; the answer is the driver's of each statement: its `lastrowid`, `rowcount`."""
    fixed, varying = _apart(same, names, columns)
    start, done = 0, []
    for count in _sizes(len(columns[0])):
        bound = [*fixed.values(), *[None] * (count * len(varying))]
        for place, values in enumerate(varying.values(), len(fixed)):
            bound[place :: len(varying)] = values[start : start + count]
        statement = _insertion(table, tuple(fixed), tuple(varying), count, unless)
        done.append(_execute(statement, bound))
        start += count
    return done


def _sizes(total: int) -> Iterator[int]:
    """The rows of each statement that together write so many."""
    for size in _SIZES:
        while total >= size:
            yield size
            total -= size
    if total:
        yield total


@lru_cache(maxsize=256)
def _insertion(
    table: str,
    fixed: tuple[str, ...],
    varying: tuple[str, ...],
    count: int,
    unless: str,
) -> str:
    """An INSERT whose fixed columns are bound once; all names are this module's own.

    One that fails leaves the rows before: its transaction is rolled back. For a statement that
    takes them back itself SQLite would keep a copy of every page.
    """
    names = ", ".join(f'"{column}"' for column in (*fixed, *varying))
    row = f"({', '.join('?' * len(varying))})"
    given = [*"?" * len(fixed), *(f"column{n + 1}" for n in range(len(varying)))]
    return (
        f"INSERT OR FAIL INTO {table} ({names}) SELECT {', '.join(given)}"  # noqa: S608
        f" FROM (VALUES {', '.join([row] * count)}){unless}"
    )


def _execute(statement: str, values: Sequence[Any]) -> Any:
    """Run a statement by the driver: Django's cursor would search it for placeholders."""
    own = connections[DEFAULT_DB_ALIAS]  # once: `connection` looks for it each time
    own.ensure_connection()
    with own.wrap_database_errors:
        return own.connection.execute(statement, values)
