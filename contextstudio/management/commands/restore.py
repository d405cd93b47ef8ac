"""`manage.py restore`: creates an installation from a backup, where there is none."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from contextstudio import backup


class Command(BaseCommand):
    help = (
        "Restore a backup to a new installation and migrate it to this version. "
        "The database must be empty, and no server may use it."
    )
    requires_migrations_checks = False
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        """Print what was restored. Raises BrokenBackup or Conflict, and then changes nothing."""
        restored = backup.restore(options["file"])
        made = restored.manifest
        self.stdout.write(
            f"Restored the backup of {made.created_at}:"
            f" {made.rows['threads_session']:,} sessions,"
            f" {made.rows['threads_message']:,} messages, {made.blobs:,} files."
        )
        if not restored.same_key:
            self.stderr.write(
                "SECRET_KEY is not the one of the backup: API keys, sign-in links and"
                " browsers that are signed in there are not valid here."
            )
