"""Bulk writes that bypass Django's models: COPY on PostgreSQL, wide INSERTs on SQLite.

Rows are given as columns of equal length, with values as the tables take them;
`threads.store.recording` makes them. They are written in the caller's transaction, and database
errors are raised as Django raises them (IntegrityError, DataError). In SQLite most of the time
would go into binding values, so a value that is the same in all rows of a statement is bound once.
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
from threads.domain.batch import Column, ConstantColumn, Events, compact_column, times
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
"""The columns that differ between messages, as `insert_messages` takes them.

`uuid` is 32 hex digits, `usage` and `records` are JSON text, `created_at` is as from `moments`."""
EVENT_COLUMNS = ("before_index", "type", "record", "created_at")
BODY_COLUMNS = ("digest", "canonical", "content", "token_counts")

_SIZES = (256, 128, 64, 32, 16)
"""Rows per INSERT in SQLite, which allows 32,766 values in a statement. The last statement takes
the rest, so that the driver sees few different statements and caches them: parsing one takes as
long as running it."""
_LOOK_UP = (
    "WITH RECURSIVE run(at) AS"
    " (SELECT 1 UNION ALL SELECT at + 2048 FROM run WHERE at + 2048 <= length(?1)),"
    " step(further) AS"
    " (SELECT 0 UNION ALL SELECT further + 32 FROM step WHERE further < 2016)"
    " SELECT body.digest, body.id, body.token_counts FROM run CROSS JOIN step"
    " CROSS JOIN threads_body AS body"
    " ON body.project_id = ?2 AND body.digest = substr(?1, run.at + step.further, 32)"
)
"""Finds bodies by digests that are concatenated in one value. It is cut into runs of 64, since a
step of a recursion takes as long as a lookup."""
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
    """A stored body: its id, and its token counts as JSON text."""

    id: int
    token_counts: str


def insert_messages(
    session: Session, source_id: int | None, columns: Sequence[Column]
) -> Sequence[int]:
    """Insert messages of one session; `columns` are those of `MESSAGE_COLUMNS`.

    Returns the places of messages not inserted because the session has their short id. PostgreSQL
    then inserts none: COPY can't skip rows.
    """
    same = {
        "session_id": session.pk.hex,
        "source_id": source_id,
        "parsing_strategy": session.parsing_strategy,
    }
    if connection.vendor != "postgresql":
        # Without a savepoint, for which SQLite would keep a copy of every page that changes.
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
    """Insert rows into any table, from columns of database values; `same` is shared by all rows."""
    write = _copy if connection.vendor == "postgresql" else _insert
    write(table, same, names, columns)


def insert_bodies(
    project_id: int, columns: Sequence[Sequence[Any]]
) -> dict[bytes, int]:
    """Insert bodies; `columns` are those of `BODY_COLUMNS`. Returns their ids by digest.

    Bodies that another transaction has stored meanwhile are left out. In SQLite the result is then
    empty, since SQLite only tells how many rows it has inserted.
    """
    if connection.vendor != "postgresql":
        same = {"project_id": project_id}
        unless = ' WHERE true ON CONFLICT ("project_id", "digest") DO NOTHING'
        done = _insert("threads_body", same, BODY_COLUMNS, columns, unless)
        if sum(one.rowcount for one in done) < len(columns[0]):
            return {}
        # SQLite assigns consecutive ids within a statement.
        ids = chain.from_iterable(
            range(one.lastrowid - one.rowcount + 1, one.lastrowid + 1) for one in done
        )
        return dict(zip(columns[0], ids, strict=True))
    with connection.cursor() as cursor:
        # COPY has no ON CONFLICT, so bodies go through a temporary table: a body that another
        # transaction has just stored is then skipped instead of failing the whole batch.
        cursor.execute(_STAGE)
        cursor.execute("DELETE FROM staged_body")
        _copy("staged_body", {}, BODY_COLUMNS, columns)
        cursor.execute(_FROM_STAGE, [project_id])
        return {bytes(digest): id_ for digest, id_ in cursor.fetchall()}


def find_bodies(project_id: int, digests: Iterable[bytes]) -> dict[bytes, StoredBody]:
    """The bodies of a project with these digests; they can't be deleted before the commit."""
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
    """Save a session's number of messages, its tokens and the time of the change."""
    session.updated_at = timezone.now()
    counters = session.message_count, session.original_tokens
    [updated_at] = moments(times([session.updated_at]), 1)
    if not driver.write(_counters(), [[*counters, updated_at, session.pk.hex]]):
        raise DatabaseError("The session is gone.")


@cache
def _counters() -> driver.Statement:
    return driver.prepare(_COUNTERS)


def moments(listed: bytes | None, count: int) -> list[str | None]:
    """`count` times from the result of `batch.times`, as the column takes them."""
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
    fixed, varying = _split_columns(same, names, columns)
    listed = ", ".join(f'"{name}"' for name in (*fixed, *varying))
    values = tuple(fixed.values())
    with (
        connection.cursor() as cursor,
        connection.wrap_database_errors,
        cursor.cursor.copy(f"COPY {table} ({listed}) FROM STDIN") as copy,
    ):
        for row in zip(*varying.values(), strict=True):
            copy.write_row(values + row)


def _split_columns(
    same: Mapping[str, Any], names: Sequence[str], columns: Sequence[Column]
) -> tuple[dict[str, Any], dict[str, Sequence[Any]]]:
    """Split columns into those with one value for all rows, and the others, with the first."""
    fixed, varying = dict(same), {names[0]: columns[0]}
    for name, values in zip(names[1:], columns[1:], strict=True):
        column = (
            values if isinstance(values, ConstantColumn) else compact_column(values)
        )
        if isinstance(column, ConstantColumn):
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
    """Insert rows; returns the driver's cursor of each statement, for `lastrowid`, `rowcount`."""
    fixed, varying = _split_columns(same, names, columns)
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
    """The number of rows of each statement, to insert `total` rows."""
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

    If it fails, the rows before the failure stay until the transaction is rolled back. For a
    statement that undoes them itself, SQLite would keep a copy of every page.
    """
    names = ", ".join(f'"{column}"' for column in (*fixed, *varying))
    row = f"({', '.join('?' * len(varying))})"
    given = [*"?" * len(fixed), *(f"column{n + 1}" for n in range(len(varying)))]
    return (
        f"INSERT OR FAIL INTO {table} ({names}) SELECT {', '.join(given)}"  # noqa: S608
        f" FROM (VALUES {', '.join([row] * count)}){unless}"
    )


def _execute(statement: str, values: Sequence[Any]) -> Any:
    """Run a statement through the driver: Django's cursor would search it for placeholders."""
    own = connections[DEFAULT_DB_ALIAS]  # once: `connection` looks it up on each access
    own.ensure_connection()
    with own.wrap_database_errors:
        return own.connection.execute(statement, values)
