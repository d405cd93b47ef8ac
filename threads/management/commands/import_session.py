"""`manage.py import_session`: imports transcripts from disk as the project's owner."""

import uuid
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.responses import outage
from contextstudio.accounts.selectors import caller_of_user, project_named
from contextstudio.accounts.services import owner_of
from threads import imports
from threads.imports import cleaning
from threads.imports.reports import shown_import
from threads.imports.upload import Keep, keep_folder, keep_upload


class Command(BaseCommand):
    """Imports in batches that become visible together; if it fails, what was begun is removed."""

    help = "Import a transcript, an archive or a folder, and print the ids of its sessions."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path)
        parser.add_argument(
            "--project",
            default="demo",
            metavar="SLUG",
            help="the project to import into; by default %(default)s",
        )
        parser.add_argument(
            "--format",
            default="auto",
            metavar="F",
            help="the format of the files; by default it is detected",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the sessions. Raises NotFound or Invalid."""
        path: Path = options["file"]
        project = project_named(options["project"])
        caller = caller_of_user(owner_of(project))
        format_ = options["format"]
        try:
            if path.is_dir():
                name = path.resolve().name
                upload = keep_folder(_files(path), name=name, format=format_)
            else:
                with path.open("rb") as stream:
                    upload = keep_upload(stream, name=path.name, format=format_)
        except OSError as error:
            unreadable = Invalid(f"{path} can't be read: {error.strerror}.")
            raise outage(error) or unreadable from error
        imported = imports.import_without_job(
            caller, project, upload, stage=uuid.uuid4(), progress=lambda *_: None
        )
        for warning in imported.warnings:
            line = f"line {warning.line}: " if warning.line else ""
            self.stderr.write(f"{line}{warning.message}")
        if more := shown_import(imported.row).more_warnings:
            self.stderr.write(f"And {more:,} more like these.")
        for session in imported.sessions:
            self.stdout.write(str(session.pk))


def _files(folder: Path) -> Iterator[tuple[str, Keep]]:
    """The files below a folder; links are not followed."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield path.relative_to(folder).as_posix(), partial(_store, path)


def _store(path: Path) -> tuple[str, int]:
    with path.open("rb") as stream:
        return cleaning.store(stream)
