"""Snapshots of the database as files, and databases made from such files.

SQLite: the pages, by its own online backup; in WAL mode writers continue meanwhile. PostgreSQL:
every table as COPY writes it, in one repeatable-read transaction, which blocks nobody either.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor

from contextstudio.accounts.domain.errors import Conflict
from contextstudio.database.statement_timeout import without_statement_timeout

_FILE = "contextstudio.sqlite3"
_COPY = ".copy"
_HASHES = (
    "SELECT sha256 FROM threads_blob UNION SELECT sha256 FROM threads_source"
    " UNION SELECT sha256 FROM threads_import"
)
_MIGRATIONS = "SELECT app, name FROM django_migrations ORDER BY id"
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseSnapshot:
    """The database at one moment."""

    files: list[Path]
    rows: dict[str, int]
    migrations: dict[str, list[str]]
    named: set[str]
    """The SHA-256 hashes of all files that it names."""


def take_snapshot(folder: Path) -> DatabaseSnapshot:
    """Write the current database into a folder."""
    return _take_sqlite(folder) if settings.ON_SQLITE else _take_postgresql(folder)


def refuse_if_empty() -> None:
    """Raise Conflict if there are no tables yet."""
    if not connection.introspection.table_names():
        raise Conflict(
            f"The database {_name()} is empty: there is nothing to back up.",
            code="empty",
        )


def refuse_unless_empty() -> None:
    """Raise Conflict if there are tables already: a backup overwrites nothing."""
    if connection.introspection.table_names():
        raise Conflict(
            f"The database {_name()} is not empty. A backup is restored to a new one: name it by "
            "CONTEXTSTUDIO_DATA_DIR, or by DATABASE_URL.",
            code="not_empty",
        )


def restore_snapshot(folder: Path, migrations: dict[str, list[str]]) -> None:
    """Create the database from a snapshot's files, and migrate it to this version."""
    if settings.ON_SQLITE:
        connection.close()
        name = connection.settings_dict["NAME"]
        # A database without tables already has pages, and can't take pages of another size: those
        # of an earlier version are smaller.
        os.truncate(name, 0)
        with (
            closing(sqlite3.connect(folder / _FILE)) as source,
            closing(sqlite3.connect(name)) as target,
        ):
            source.backup(target)
    else:
        _put_back_postgresql(folder, migrations)
    call_command("migrate", interactive=False, verbosity=0)


def _take_sqlite(folder: Path) -> DatabaseSnapshot:
    path = folder / _FILE
    with (
        closing(sqlite3.connect(connection.settings_dict["NAME"])) as source,
        closing(sqlite3.connect(path)) as target,
    ):
        source.backup(target)
        target.execute("PRAGMA journal_mode=DELETE")
        tables = connection.introspection.table_names()
        return DatabaseSnapshot(
            files=[path],
            rows={name: _count(target, name) for name in tables},
            migrations=_by_app(target.execute(_MIGRATIONS)),
            named={name for (name,) in target.execute(_HASHES) if name},
        )


def _take_postgresql(folder: Path) -> DatabaseSnapshot:
    files, rows = [], {}
    with _slow_transaction() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        for table in sorted(connection.introspection.table_names()):
            path = folder / f"{table}{_COPY}"
            with (
                path.open("wb") as file,
                cursor.cursor.copy(f"COPY {_columns(cursor, table)} TO STDOUT") as copy,
            ):
                for piece in copy:
                    file.write(piece)
            rows[table] = _count(cursor, table)
            files.append(path)
        cursor.execute(_MIGRATIONS)
        migrations = _by_app(cursor.fetchall())
        cursor.execute(_HASHES)
        named = {name for (name,) in cursor.fetchall() if name}
    return DatabaseSnapshot(files=files, rows=rows, migrations=migrations, named=named)


def _put_back_postgresql(folder: Path, migrations: dict[str, list[str]]) -> None:
    """Create the tables as they were at the time of the backup, and fill them: all or nothing."""
    with _slow_transaction() as cursor:
        executor = MigrationExecutor(connection)
        executor.migrate(_last_of_each_app(executor, migrations))
        tables = connection.introspection.table_names()
        quoted = ", ".join(map(connection.ops.quote_name, tables))
        cursor.execute(f"TRUNCATE {quoted}")  # rows that migrations created
        # Migrations check constraints at once, but tables are filled in no particular order.
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        for path in sorted(folder.glob(f"*{_COPY}")):
            into = _columns(cursor, path.name.removesuffix(_COPY))
            with (
                path.open("rb") as file,
                cursor.cursor.copy(f"COPY {into} FROM STDIN") as copy,
            ):
                while piece := file.read(_CHUNK):
                    copy.write(piece)
        for table in tables:
            _advance_sequences(cursor, table)


def _last_of_each_app(
    executor: MigrationExecutor, migrations: dict[str, list[str]]
) -> list[tuple[str, str]]:
    """The migrations that no other one of the same app depends on."""
    nodes = executor.loader.graph.node_map
    done = {(app, name) for app, names in migrations.items() for name in names}
    return [
        (app, name)
        for app, name in sorted(done & nodes.keys())
        if not any(
            child.key[0] == app and child.key in done
            for child in nodes[app, name].children
        )
    ]


@contextmanager
def _slow_transaction() -> Iterator[Any]:
    """A transaction whose statements may take long."""
    with (
        without_statement_timeout(),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        yield cursor


def _columns(cursor: Any, table: str) -> str:
    """`table (column, …)` for COPY: by name, as a migrated table may have another column order."""
    description = connection.introspection.get_table_description(cursor, table)
    columns = ", ".join(connection.ops.quote_name(one.name) for one in description)
    return f"{connection.ops.quote_name(table)} ({columns})"


def _advance_sequences(cursor: Any, table: str) -> None:
    """Let a table's sequences continue after the highest number in use."""
    quoted = connection.ops.quote_name(table)
    for sequence in connection.introspection.get_sequences(cursor, table):
        column = connection.ops.quote_name(sequence["column"])
        cursor.execute(f"SELECT max({column}) FROM {quoted}")  # noqa: S608
        if (last := cursor.fetchone()[0]) is not None:
            cursor.execute(
                "SELECT setval(pg_get_serial_sequence(%s, %s), %s)",
                [quoted, sequence["column"], last],
            )


def _name() -> str:
    return str(connection.settings_dict["NAME"])


def _count(cursor: Any, table: str) -> int:
    found = cursor.execute(
        f"SELECT count(*) FROM {connection.ops.quote_name(table)}"  # noqa: S608
    )
    return int((found or cursor).fetchone()[0])


def _by_app(rows: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for app, name in rows:
        found.setdefault(app, []).append(name)
    return found
