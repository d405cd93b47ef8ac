"""`manage.py sign_in_link`: a fresh one-time way in."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from contextstudio.accounts import services
from contextstudio.accounts.domain.errors import NotFound
from contextstudio.accounts.models import User


class Command(BaseCommand):
    """Prints the path of a new link; the person's earlier links stop working."""

    help = (
        "Print the path of a one-time sign-in link, to be put behind the server's address. "
        "Without --user it is the owner's, who is made where there is none yet."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user", metavar="NAME")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the path. Raises NotFound."""
        if options["user"] is None:
            user, _ = services.prepare_first_use()
        else:
            user = _named(options["user"])
        self.stdout.write(path_of_link(user))


def _named(username: str) -> User:
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise NotFound(f"There is no user {username}.")
    return user


def path_of_link(user: User) -> str:
    """`/sign-in/<token>` for a person."""
    return f"/sign-in/{services.create_sign_in_link(user)}"
