"""`manage.py watch`: follows a folder of transcripts live."""

import signal
import threading
from pathlib import Path
from typing import Any

import watchfiles
from django.core.management.base import BaseCommand, CommandParser

from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.selectors import caller_of_user, project_named
from contextstudio.accounts.services import owner_of
from threads.imports.watching import Watcher

TICK_MS = 500
"""How often to check whether a file has stopped changing."""
DEBOUNCE_MS = 400


class Command(BaseCommand):
    """Imports what is there, then whatever is written, until it is stopped."""

    help = (
        "Import the transcripts in a folder, and whatever an agent writes there later, "
        "until Ctrl+C."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", metavar="FOLDER", type=Path)
        parser.add_argument(
            "--project",
            default="demo",
            metavar="SLUG",
            help="the project to import into; by default %(default)s",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Watch the folder. Raises NotFound, or Invalid if it is not, or no longer, a folder."""
        folder = options["folder"].expanduser().resolve()
        if not folder.is_dir():
            raise Invalid(f"{folder} is not a folder.")
        project = project_named(options["project"])
        watcher = Watcher(
            caller=caller_of_user(owner_of(project)),
            project=project,
            folder=folder,
            tell=self._tell,
        )
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        heard = watchfiles.watch(
            watcher.folder,
            stop_event=stop,
            rust_timeout=TICK_MS,
            step=50,
            debounce=DEBOUNCE_MS,
            yield_on_timeout=True,
            raise_interrupt=False,
        )
        # The watch is active from the first tick on: no later change can be missed.
        next(heard, None)
        watcher.begin()
        self._tell(f"Watching {watcher.folder}; Ctrl+C ends it.")
        for changes in heard:
            watcher.changed(Path(path) for _, path in changes)
            watcher.import_quiet()
            if not watcher.folder.is_dir():
                watcher.end()
                raise Invalid(f"The folder {watcher.folder} no longer exists.")
        watcher.end()

    def _tell(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
