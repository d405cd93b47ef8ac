"""`manage.py tool`: one of the agent's tools, called from the shell as a project's owner."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from contextstudio.accounts.domain.errors import DomainError, Invalid
from contextstudio.accounts.selectors import caller_of_user, project_named
from contextstudio.accounts.services import owner_of
from operations.tools import call_once, read_call


class Command(BaseCommand):
    """Calls a tool and prints what it answers."""

    help = "Call one of the agent's tools with JSON arguments and print its answer."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", help="the tool's name")
        parser.add_argument("arguments", metavar="JSON", help="a JSON object")
        parser.add_argument(
            "--project",
            default="demo",
            metavar="SLUG",
            help="the project whose owner makes the call; by default %(default)s",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            arguments = json.loads(options["arguments"])
        except ValueError as error:
            raise Invalid(
                f"The arguments are not JSON: {error}.", at=["arguments"]
            ) from error
        if not isinstance(arguments, dict):
            raise Invalid("The arguments must be a JSON object.", at=["arguments"])
        project = project_named(arguments.get("project") or options["project"])
        caller = caller_of_user(owner_of(project))
        answer = call_once(caller, read_call(options["name"], arguments))
        if answer.status >= 400:
            refusal = json.loads(answer.body)
            raise DomainError(refusal["detail"], at=refusal["at"], code=refusal["code"])
        self.stdout.write(answer.body.decode())
