"""Empties the database after a test that has its own transactions."""

from collections.abc import Sequence

import pytest
from django.core.management.commands import flush
from django.db import connection

MADE_BY_MIGRATIONS = frozenset({"auth_permission", "django_content_type"})
"""Tables whose rows no test changes."""


def empty_by_deleting(patch: pytest.MonkeyPatch) -> None:
    """Delete what such a test leaves row by row.

    Django truncates instead, which takes PostgreSQL half a second for our tables whatever they
    hold, and then recreates the same content types and permissions.
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
