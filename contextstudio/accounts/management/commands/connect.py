"""`manage.py connect`: prints the settings with which a client works through this server."""

import io
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser

from contextstudio.accounts import services
from contextstudio.accounts.domain.connecting import (
    CLIENTS,
    Connection,
    connection,
    connections,
)
from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.server_address import address_of, load_address


class Command(BaseCommand):
    """Prints settings with a new key, created as by `create_key`."""

    help = (
        "Create a key, and print what to set in a client (Claude Code, Codex, an SDK …) so that "
        "its requests go through this server."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--project",
            default=services.FIRST_PROJECT,
            metavar="SLUG",
            help="the project that the key is for; by default %(default)s",
        )
        parser.add_argument(
            "--client", choices=CLIENTS, help="print the settings of this client only"
        )
        parser.add_argument(
            "--url",
            help="the address at which clients reach the server, if it differs",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the settings. Raises NotFound or Invalid."""
        client, url = options["client"], options["url"] or _url()
        if not url.startswith(("http://", "https://")):
            raise Invalid("--url begins with https:// or http://.", at=["url"])
        printed = io.StringIO()
        named = {"project": options["project"], "name": client or "connect"}
        call_command("create_key", **named, stdout=printed)
        key = printed.getvalue().strip()
        found = [connection(client, url, key)] if client else connections(url, key)
        self.stdout.write("\n\n".join("\n".join(_lines(one)) for one in found))


def _url() -> str:
    """The address of `serve`, whether or not it runs, as this machine reaches it."""
    running = load_address(settings.DATA_DIR)
    return running or address_of(settings.HOST, settings.PORT)


def _lines(one: Connection) -> Iterator[str]:
    """The settings as text, with explanations as shell comments."""
    through = f", with the key of the upstream {one.provider}" if one.provider else ""
    yield f"# {one.title}{through}"
    for block in one.blocks:
        if block.place != "Shell":
            yield f"# {block.place}:"
        yield block.text
    if one.note:
        yield f"# {one.note}"
