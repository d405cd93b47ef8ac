"""Statements that are run by the driver itself, for what is asked and kept with every request.

Django's cursor takes longer on the way to the driver and back than SQLite takes for most of these
statements. It is asked all the same where somebody watches its statements, where a transaction
may only be rolled back, and where a write is a transaction of its own, which waits for its turn.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.sqlite3.base import FORMAT_QMARK_REGEX

Values = Sequence[Any]


class Statement(NamedTuple):
    """A statement as Django's cursor takes it, and as the driver does."""

    sql: str
    own: str


def statement(sql: str) -> Statement:
    """A statement with `%s` where its values go."""
    own = sql
    if connections[DEFAULT_DB_ALIAS].vendor == "sqlite":
        own = FORMAT_QMARK_REGEX.sub("?", sql).replace("%%", "%")
    return Statement(sql, own)


def fetch(asked: Statement, values: Values, connection: Any) -> list[Any]:
    """All rows that a query finds, as the driver gives them."""
    found: list[Any]
    if _needs_django(connection):
        with connection.cursor() as cursor:
            cursor.execute(asked.sql, values)
            found = cursor.fetchall()
        return found
    connection.ensure_connection()
    with connection.wrap_database_errors:
        if connection.vendor == "sqlite":
            found = connection.connection.execute(asked.own, values).fetchall()
            return found
        with connection.create_cursor() as cursor:
            cursor.execute(asked.own, values)
            found = cursor.fetchall()
    return found


def write(told: Statement, rows: Sequence[Values]) -> int:
    """Run a statement for each of these values; the answer is how many rows it wrote."""
    connection = connections[DEFAULT_DB_ALIAS]
    if _needs_django(connection) or not connection.in_atomic_block:
        with connection.cursor() as cursor:
            cursor.executemany(told.sql, rows)
            return int(cursor.rowcount)
    with connection.wrap_database_errors:
        if connection.vendor == "sqlite":
            return int(connection.connection.executemany(told.own, rows).rowcount)
        with connection.create_cursor() as cursor:
            cursor.executemany(told.own, rows)
            return int(cursor.rowcount)


def _needs_django(connection: Any) -> bool:
    return bool(
        connection.needs_rollback
        or connection.execute_wrappers
        or connection.queries_logged
    )
