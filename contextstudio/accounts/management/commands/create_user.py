"""`manage.py create_user`: creates a person with a role, and prints their sign-in link."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from contextstudio.accounts import services
from contextstudio.accounts.domain.rights import ProjectRole
from contextstudio.accounts.selectors import caller_of_user, project_named
from contextstudio.accounts.sign_in.links import create_sign_in_link


class Command(BaseCommand):
    """Creates a person, on behalf of the project's owner."""

    help = (
        "Create a user, give them a role in a project and print the path of their "
        "sign-in link. They set a password with: manage.py changepassword NAME."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument(
            "--display-name", default="", help="by default the username"
        )
        parser.add_argument(
            "--project", metavar="SLUG", help="a project to add them to"
        )
        parser.add_argument(
            "--role",
            choices=[role.value for role in ProjectRole],
            default="viewer",
            help="their role in the project; by default %(default)s",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the path of the link. Raises NotFound or Conflict."""
        project = project_named(options["project"]) if options["project"] else None
        # Looked up first: without an owner, no user without a project must be created.
        owner = caller_of_user(services.owner_of(project)) if project else None
        name = options["display_name"]
        user = services.create_user(options["username"], display_name=name)
        if project is not None and owner is not None:
            services.set_member(owner, project, user, ProjectRole(options["role"]))
        self.stdout.write(f"/sign-in/{create_sign_in_link(user)}")
