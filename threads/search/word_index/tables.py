"""Creates the tables of an index, for migrations.

Without FTS5 (SQLite before 3.43) or without the right to create the extension pg_trgm, search still
works but reads every text. The log says so, and docs/search.md says how to add the index later.
"""

import logging
from typing import Any

from django.db import DatabaseError, transaction

from .reading import Tables

logger = logging.getLogger("threads.search")

_SQLITE = (
    "CREATE VIRTUAL TABLE {texts} USING fts5(folded, content='',"
    " contentless_delete=1, tokenize='trigram case_sensitive 1')",
    "CREATE VIRTUAL TABLE {texts}_terms USING fts5vocab({texts}, row)",
)
_POSTGRESQL = (
    "CREATE TABLE {texts} ({key} bigint PRIMARY KEY, folded text NOT NULL)",
    "CREATE TABLE {runs} (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    " first bigint NOT NULL, last bigint NOT NULL, pairs text NOT NULL,"
    " is_stale boolean NOT NULL DEFAULT false)",
    "ALTER TABLE {runs} ALTER COLUMN pairs SET STORAGE EXTERNAL",
    "ALTER TABLE {runs} ALTER COLUMN pairs SET STATISTICS 0",
)
_TRIGRAMS = (
    "CREATE EXTENSION IF NOT EXISTS pg_trgm",
    "CREATE INDEX {texts}_trigrams ON {texts} USING gin (folded gin_trgm_ops)",
)


def create(editor: Any, tables: Tables) -> None:
    """Create the tables, and the index if the database can."""
    wanted, without = (
        _SQLITE,
        "This SQLite has no FTS5 with deletable contentless tables",
    )
    if editor.connection.vendor == "postgresql":
        _run(editor, _POSTGRESQL, tables)
        wanted, without = _TRIGRAMS, "This role can't create the extension pg_trgm"
    try:
        with transaction.atomic(using=editor.connection.alias):
            _run(editor, wanted, tables)
    except DatabaseError as error:
        logger.warning(
            "%s: %s. Search will read every text (docs/search.md).", without, error
        )


def remove(editor: Any, tables: Tables) -> None:
    """Drop the tables."""
    names = ("{texts}_terms", "{texts}", "{runs}")
    _run(editor, [f"DROP TABLE IF EXISTS {name}" for name in names], tables)


def _run(editor: Any, statements: Any, tables: Tables) -> None:
    with editor.connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement.format(**tables._asdict()))
