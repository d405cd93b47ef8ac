"""`manage.py work`: runs jobs without a web server, beside one or instead of Celery."""

import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.jobs.workers import Workers


class Command(BaseCommand):
    """Runs the embedded executor until it is told to stop."""

    help = "Run jobs from the queue until Ctrl+C or SIGTERM."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--threads",
            type=int,
            default=2,
            help="how many jobs to run at once; by default %(default)s",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Run jobs. Raises Invalid if there is no thread to run them."""
        if options["threads"] < 1:
            raise Invalid("--threads must be at least 1.", at=["threads"])
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        workers = Workers(options["threads"])
        workers.start()
        self.stdout.write("Waiting for jobs.")
        self.stdout.flush()
        stop.wait()
        workers.stop()
