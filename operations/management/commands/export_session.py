"""`manage.py export_session`: a session as a file on standard output."""

import sys
import uuid
from contextlib import suppress
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from contextstudio.accounts.domain.errors import NotFound
from operations.exports.services import write_export
from threads.models import Session


class Command(BaseCommand):
    """Writes the originals, or what the model would see."""

    help = "Write a session to standard output in a given format."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("id", metavar="ID", help="the session's id, a UUID")
        parser.add_argument(
            "--format",
            required=True,
            metavar="F",
            help="such as contextstudio, openai, anthropic or markdown",
        )
        parser.add_argument(
            "--view",
            default="original",
            choices=["original", "effective"],
            help="the originals, or what the model would see; by default %(default)s",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the file. Raises NotFound or Invalid."""
        session = _session(options["id"])
        output = getattr(self.stdout, "buffer", None) or sys.stdout.buffer
        for piece in write_export(
            session, format=options["format"], view=options["view"]
        ):
            output.write(piece)
        output.flush()


def _session(name: str) -> Session:
    """A session by what stands for its id. Raises NotFound, for what is no UUID too."""
    sessions = Session.objects.filter(deleted_at=None, staged_by=None)
    with suppress(ValueError):
        if session := sessions.filter(pk=uuid.UUID(name)).first():
            return session
    raise NotFound("There is no such session.", at=["id"])
