"""`manage.py create_project`: creates a project and its owner's membership."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from contextstudio.accounts import services
from contextstudio.accounts.selectors import caller_of_user, user_named


class Command(BaseCommand):
    """Creates a project on behalf of its owner."""

    help = "Create a project. Projects share nothing with one another."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="letters, digits, - and _")
        parser.add_argument("--name", default="", help="by default the slug")
        parser.add_argument(
            "--owner",
            default=services.FIRST_USER,
            metavar="NAME",
            help="the username of its owner; by default %(default)s",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the project's slug. Raises NotFound, Invalid or Conflict."""
        project = services.create_project(
            caller_of_user(user_named(options["owner"])),
            slug=options["slug"],
            name=options["name"] or options["slug"],
        )
        self.stdout.write(project.slug)
