"""How the database is emptied after a test that has transactions of its own."""

from collections.abc import Sequence

import pytest
from django.core.management.commands import flush
from django.db import connection

MADE_BY_MIGRATIONS = frozenset({"auth_permission", "django_content_type"})
"""Tables whose rows no test changes."""


def empty_by_deleting(patch: pytest.MonkeyPatch) -> None:
    """Have what such a test leaves deleted row by row.

    Django truncates, which takes PostgreSQL half a second for our tables whatever they hold, and
    then makes the same content types and permissions anew.
    """

    def statements(
        _style: object, tables: Sequence[str], **_options: bool
    ) -> list[str]:
        return [
            f"DELETE FROM {connection.ops.quote_name(table)}"
            for table in tables
            if table not in MADE_BY_MIGRATIONS
        ]

    patch.setattr(connection.ops, "sql_flush", statements)
    patch.setattr(flush, "emit_post_migrate_signal", lambda *_, **__: None)
