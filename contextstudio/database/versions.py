"""Whether a database belongs to this version, which its migrations tell."""

from collections.abc import Iterable

from django.db.migrations.loader import MigrationLoader


def is_newer(migrations: Iterable[tuple[str, str]]) -> bool:
    """Whether any of these is not in this version; a newer one may also have more apps."""
    return not set(migrations) <= set(MigrationLoader(None).disk_migrations or ())
