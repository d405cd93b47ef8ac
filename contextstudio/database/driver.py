"""Runs statements directly on the driver, for what every request queries and stores.

Django's cursor adds more time than SQLite takes for most of these statements. It is used
nevertheless if somebody watches the statements, if a transaction can only be rolled back, and if a
write is its own transaction, which waits for its turn.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.sqlite3.base import FORMAT_QMARK_REGEX

Values = Sequence[Any]


class Statement(NamedTuple):
    """A statement in the form of Django's cursor, and in the driver's own."""

    sql: str
    driver_sql: str


def prepare(sql: str) -> Statement:
    """A statement with `%s` as placeholders."""
    own = sql
    if connections[DEFAULT_DB_ALIAS].vendor == "sqlite":
        own = FORMAT_QMARK_REGEX.sub("?", sql).replace("%%", "%")
    return Statement(sql, own)


def fetch(statement: Statement, values: Values, connection: Any) -> list[Any]:
    """All rows of a query, as the driver returns them."""
    found: list[Any]
    if _needs_django(connection):
        with connection.cursor() as cursor:
            cursor.execute(statement.sql, values)
            found = cursor.fetchall()
        return found
    connection.ensure_connection()
    with connection.wrap_database_errors:
        if connection.vendor == "sqlite":
            found = connection.connection.execute(
                statement.driver_sql, values
            ).fetchall()
            return found
        with connection.create_cursor() as cursor:
            cursor.execute(statement.driver_sql, values)
            found = cursor.fetchall()
    return found


def write(statement: Statement, rows: Sequence[Values]) -> int:
    """Run a statement for each set of values; returns how many rows it wrote."""
    connection = connections[DEFAULT_DB_ALIAS]
    if _needs_django(connection) or not connection.in_atomic_block:
        with connection.cursor() as cursor:
            cursor.executemany(statement.sql, rows)
            return int(cursor.rowcount)
    with connection.wrap_database_errors:
        if connection.vendor == "sqlite":
            return int(
                connection.connection.executemany(statement.driver_sql, rows).rowcount
            )
        with connection.create_cursor() as cursor:
            cursor.executemany(statement.driver_sql, rows)
            return int(cursor.rowcount)


def _needs_django(connection: Any) -> bool:
    return bool(
        connection.needs_rollback
        or connection.execute_wrappers
        or connection.queries_logged
    )
