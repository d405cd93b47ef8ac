"""The embedded executor: threads that run due jobs, in the serving process or in `work`."""

import logging
import threading
from datetime import timedelta

from django.db import Error, connection
from django.utils import timezone

from contextstudio.database.outages import log_fault

from . import housekeeping, queue
from .runner import run
from .waking import work_waits

logger = logging.getLogger(__name__)

_SECONDS_BETWEEN_SWEEPS = 2
_SECONDS_TO_STOP = 10
_BETWEEN_CLEANINGS = timedelta(hours=1)


class Workers:
    """A few threads that run jobs until they are stopped.

    Each looks for work when woken, and every two seconds for jobs that are due or abandoned.
    """

    def __init__(self, count: int = 2) -> None:
        self._stopping = threading.Event()
        self._cleaned = timezone.now() - _BETWEEN_CLEANINGS
        self._threads = [
            threading.Thread(
                target=self._work,
                args=(number == 0,),
                name=f"jobs {number}",
                daemon=True,
            )
            for number in range(count)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Take no more jobs; running ones stop at their next report and are requeued."""
        self._stopping.set()
        work_waits.set()
        for thread in self._threads:
            if thread.is_alive():  # with Celery none was started
                thread.join(_SECONDS_TO_STOP)

    def _work(self, cleans: bool) -> None:
        try:
            while not self._stopping.is_set():
                if cleans and timezone.now() - self._cleaned >= _BETWEEN_CLEANINGS:
                    self._cleaned = timezone.now()
                    housekeeping.try_to_clean()
                if not self._take_one():
                    work_waits.wait(_SECONDS_BETWEEN_SWEEPS)
                    work_waits.clear()
        finally:
            connection.close()

    def _take_one(self) -> bool:
        try:
            job = queue.claim()
            if job is not None:
                run(job, stopping=self._stopping.is_set)
            return job is not None
        except Error as error:
            log_fault(logger, "The database can't be asked for jobs", error)
        except Exception:  # the job's lease expires, and this thread continues
            logger.exception("A run of a job could not be written.")
        connection.close()
        return False
