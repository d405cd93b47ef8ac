"""`manage.py create_key`: a key for an agent, printed alone so that a shell can catch it."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from contextstudio.accounts import services
from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.selectors import project_named


class Command(BaseCommand):
    """Makes a key that acts for the project's owner."""

    help = "Make an API key for a project and print it. It is never shown again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        known = ",".join(Right)
        parser.add_argument("--scopes", default="read,propose,edit", metavar=known)
        parser.add_argument("--name", default="")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the key. Raises NotFound or Invalid."""
        project = project_named(options["project"])
        words = [word.strip() for word in options["scopes"].split(",")]
        for word in words:
            if word not in list(Right):
                known = ", ".join(Right)
                raise Invalid(f"{word!r} is not a scope; the scopes are {known}.")
        made = services.create_key(
            services.owner_of(project),
            project,
            name=options["name"],
            scopes=frozenset(map(Right, words)),
        )
        self.stdout.write(made.text)
