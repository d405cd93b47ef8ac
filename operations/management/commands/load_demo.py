"""`manage.py load_demo`: the demonstration session, as the first start loads it."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from contextstudio.accounts.domain.errors import NotFound
from contextstudio.accounts.models import Project
from contextstudio.accounts.services import FIRST_PROJECT
from operations.demonstration.loading import load_demonstration


class Command(BaseCommand):
    """Loads it once; a project that had it keeps it as it is, or without it."""

    help = "Load the demonstration session into a project that has never had it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--project",
            metavar="SLUG",
            default=FIRST_PROJECT,
            help="the project to load it into; by default %(default)s",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise NotFound(f"There is no project {options['project']}.")
        session = load_demonstration(project)
        if options["verbosity"]:
            done = (
                f"Loaded session {session.pk}." if session else "It was loaded before."
            )
            self.stdout.write(done)
