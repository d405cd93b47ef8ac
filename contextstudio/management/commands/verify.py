"""`manage.py verify`: checks whether a backup, or this installation, is complete."""

from itertools import islice
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from contextstudio.backup import archive, checks
from contextstudio.database.statement_timeout import without_statement_timeout
from contextstudio.database.versions import is_newer

_MAX_LISTED = 20


class Command(BaseCommand):
    help = (
        "Check that a backup is complete and undamaged. Without FILE, check this installation: "
        "its database, the text of every message, and every file."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path, nargs="?")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print that all is well. Raises BrokenBackup or CommandError if it isn't."""
        if options["file"]:
            manifest = archive.verify(options["file"])
            self.stdout.write(
                f"The backup is complete: {len(manifest.members):,} files, "
                f"made {manifest.created_at}."
            )
            return
        executor = MigrationExecutor(connection)
        loader = executor.loader
        is_older = bool(executor.migration_plan(loader.graph.leaf_nodes()))
        if is_older or is_newer(loader.applied_migrations or ()):
            raise CommandError(
                "The database is empty, or was made by another version of ContextStudio."
            )
        with without_statement_timeout():
            found = list(islice(checks.faults(), _MAX_LISTED + 1))
        if found:
            more = "\n…" if len(found) > _MAX_LISTED else ""
            raise CommandError("\n".join(found[:_MAX_LISTED]) + more)
        self.stdout.write("This installation is complete and undamaged.")
