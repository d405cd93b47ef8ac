"""`manage.py tools_page`: the reference of the agent's tools, as docs/tools.md has it."""

from typing import Any

from django.core.management.base import BaseCommand

from operations.tools import TOOLS
from operations.tools.schemas import tools_page


class Command(BaseCommand):
    """Prints the page."""

    help = "Print the reference of the agent's tools in Markdown."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(tools_page(TOOLS.values()), ending="")
