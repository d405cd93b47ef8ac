"""`manage.py sign_in_link`: prints a new one-time sign-in link."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from contextstudio.accounts import services
from contextstudio.accounts.selectors import user_named
from contextstudio.accounts.sign_in.links import create_sign_in_link


class Command(BaseCommand):
    """Prints the path of a new link; the person's earlier links stop working."""

    help = (
        "Print the path of a one-time sign-in link, to append to the server's address. "
        "Without --user it signs in the owner, who is created if there is none yet."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--user", metavar="NAME", help="the username of the person to sign in"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the path. Raises NotFound."""
        if options["user"] is None:
            user, _ = services.prepare_first_use()
        else:
            user = user_named(options["user"])
        self.stdout.write(f"/sign-in/{create_sign_in_link(user)}")
