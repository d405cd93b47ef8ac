"""`manage.py backup`: writes everything into one file, while the server keeps running."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from contextstudio import backup


class Command(BaseCommand):
    help = (
        "Write the database, the files and the secret key into one new file. "
        "The server may keep running. Keep the file as safe as the server."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        """Print what was written. Raises Conflict if the file exists."""
        path: Path = options["file"]
        taken = backup.back_up(path)
        made = taken.manifest
        self.stdout.write(
            f"{path}: {made.rows['threads_session']:,} sessions,"
            f" {made.rows['threads_message']:,} messages,"
            f" {made.rows['operations_logentry']:,} log entries,"
            f" {made.blobs:,} files; {taken.size / 1e6:,.1f} MB."
        )
        for sha256 in made.missing:
            self.stderr.write(f"The file {sha256} was already missing.")
