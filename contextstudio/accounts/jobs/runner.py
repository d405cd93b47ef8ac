"""One run of a claimed job, from its handler's first line to the row's end."""

import logging
import threading
from collections.abc import Callable
from datetime import timedelta
from types import TracebackType

from django.conf import settings
from django.db import DatabaseError, connection

from contextstudio.accounts.domain.errors import DomainError
from contextstudio.accounts.domain.problem import problem
from contextstudio.accounts.models import Job

from . import queue
from .context import Cancelled, JobContext, LeaseLost, Stopping
from .registry import kind_of

logger = logging.getLogger(__name__)


def run(job: Job, *, stopping: Callable[[], bool] = lambda: False) -> None:
    """Do a claimed job and write how it ended. Raises DatabaseError where that can't be written.

    A refusal (DomainError) is the job's outcome and isn't tried again; anything else is, a few
    times, each time later.
    """
    context = JobContext(job, stopping=stopping)
    try:
        with _Heartbeat(job):
            result = kind_of(job.kind).handler(context, **job.arguments)
        if not queue.finish(job, result, context.effects):
            raise LeaseLost
    except LeaseLost:
        logger.warning(
            "Job %s is another worker's by now; this run has no effect.", job.pk
        )
    except Cancelled:
        queue.cancelled(job)
    except Stopping:
        queue.put_back(job, counts=False)
    except DomainError as refusal:
        queue.fail(job, refusal.message, result=problem(refusal))
    except Exception as fault:
        logger.exception("Job %s (%s) stopped.", job.pk, job.kind)
        _try_again(job, fault)


def _try_again(job: Job, fault: Exception) -> None:
    if job.attempts < queue.MOST_ATTEMPTS:
        queue.put_back(job, delay=timedelta(seconds=2**job.attempts))
        return
    queue.fail(
        job,
        f"This job stopped {job.attempts} times with an unexpected {type(fault).__name__}; "
        "the server's log has the details.",
    )


class _Heartbeat:
    """Renews the lease of a job while its handler runs, from a thread of its own."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._over = threading.Event()
        self._thread = threading.Thread(
            target=self._beat, name=f"lease of {job.pk}", daemon=True
        )

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def _beat(self) -> None:
        try:
            while not self._over.wait(settings.JOB_LEASE_SECONDS / 3):
                self._renew()
        finally:
            connection.close()

    def _renew(self) -> None:
        try:
            if not queue.renew(self.job):
                self._over.set()
        except DatabaseError:
            logger.warning(
                "The lease of job %s could not be renewed.", self.job.pk, exc_info=True
            )
