"""`manage.py create_key`: creates a key for an agent; prints only the key, for use in scripts."""

from datetime import datetime, timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from contextstudio.accounts import services
from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.keys.services import create_key
from contextstudio.accounts.selectors import project_named


class Command(BaseCommand):
    """Creates a key that acts for the project's owner."""

    help = "Create an API key for a project and print it. It can't be shown again."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--project",
            required=True,
            metavar="SLUG",
            help="the project that the key is for",
        )
        known = ",".join(Right)
        parser.add_argument(
            "--scopes",
            default="read,propose,edit",
            metavar=known,
            help="what the key may do; by default %(default)s",
        )
        parser.add_argument("--name", default="", help="a name to know the key by")
        parser.add_argument(
            "--days", type=int, help="days until it expires; by default it never does"
        )
        parser.add_argument(
            "--requests-per-minute",
            type=int,
            help="how many requests it may send per minute; by default the server's limit",
        )
        parser.add_argument(
            "--recalls",
            default="",
            metavar="SLUG,…",
            help="other projects whose memos it may find and whose messages it may recall",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the key. Raises NotFound or Invalid."""
        project = project_named(options["project"])
        words = [word.strip() for word in options["scopes"].split(",")]
        for word in words:
            if word not in list(Right):
                known = ", ".join(Right)
                raise Invalid(f"{word!r} is not a scope; the scopes are {known}.")
        further = [slug.strip() for slug in options["recalls"].split(",")]
        days = options["days"]
        made = create_key(
            services.owner_of(project),
            project,
            name=options["name"],
            scopes=frozenset(map(Right, words)),
            recalls=[project_named(slug) for slug in further if slug],
            expires_at=None if days is None else _days_from_now(days),
            requests_per_minute=options["requests_per_minute"],
        )
        self.stdout.write(made.text)


def _days_from_now(days: int) -> datetime:
    try:
        return timezone.now() + timedelta(days=days)
    except OverflowError as error:
        raise Invalid("A key can't last that many days.") from error
