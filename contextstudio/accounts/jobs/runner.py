"""Runs a claimed job: the context given to its handler, and how the row ends."""

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import Error, connection

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import DomainError, Unavailable, problem
from contextstudio.accounts.models import Job, Project
from contextstudio.accounts.selectors import caller_of_actor, require
from contextstudio.database.outages import is_outage, log_fault
from contextstudio.memory import return_free_memory

from . import queue
from .kinds import kind_of

logger = logging.getLogger(__name__)

_SECONDS_BETWEEN_REPORTS = 0.5
_FIRST_PAUSE_SECONDS = 5
"""The first delay of a job whose resource is busy; each further delay is twice as long."""


class Interrupted(Exception):  # not an error; it only stops the work
    """The work should stop here; handlers let this exception pass."""


class Cancelled(Interrupted):
    """The job was cancelled."""


class LeaseLost(Interrupted):
    """Another worker has the job now."""


class Stopping(Interrupted):
    """The server is stopping; another worker restarts the job."""


class RetryLater(Exception):  # not an error either
    """What the job needs is busy: the row waits, without occupying a worker."""

    def __init__(self, sentence: str, seconds: float | None = None) -> None:
        super().__init__(sentence)
        self.sentence, self.seconds = sentence, seconds


class JobContext:
    """One run of a job."""

    def __init__(
        self, job: Job, *, stopping: Callable[[], bool] = lambda: False
    ) -> None:
        self.job = job
        self.effects: list[Callable[[], object]] = []
        self._stopping = stopping
        self._reported = float("-inf")
        self._depth = len(connection.atomic_blocks)

    @property
    def job_id(self) -> uuid.UUID:
        """The id of the job; the same in every attempt."""
        return self.job.pk

    @property
    def project(self) -> Project:
        """The project that the job works in. Raises LookupError for a job that has none."""
        if self.job.project is None:
            raise LookupError("This job has no project.")
        return self.job.project

    @property
    def caller(self) -> Caller:
        """Who asked for the work, with their current rights: check again before an effect."""
        return caller_of_actor(self.job.actor)

    def require_right(self) -> None:
        """Raise Forbidden if whoever asked for the job lacks the right to it by now."""
        right = kind_of(self.job.kind).right
        if right is not None and self.job.project_id is not None:
            require(self.caller, right, self.job.project_id)

    def progress(self, done: int, *, total: int | None = None, unit: str = "") -> None:
        """Report progress; ends the run if the job is no longer wanted.

        Cheap enough for every step: most calls write nothing. Raises Interrupted, or Forbidden if
        whoever asked for the job has lost the right to it.
        """
        if self._stopping():
            raise Stopping
        # Within the work's own transaction the job's row would stay locked until that ends: the
        # lease could not be renewed, and nobody could see the progress.
        if len(connection.atomic_blocks) > self._depth:
            return
        now = time.monotonic()
        if now - self._reported < _SECONDS_BETWEEN_REPORTS and done != total:
            return
        self._reported = now
        cancel = queue.report(self.job, done=done, total=total, unit=unit)
        if cancel is None:
            raise LeaseLost
        if cancel:
            raise Cancelled
        self.require_right()

    def note(self, **facts: Any) -> None:
        """Store facts for the next run, and for observers; None removes one.

        They are committed at once. Raises LeaseLost.
        """
        notes = {**self.job.notes, **facts}
        self.job.notes = {name: it for name, it in notes.items() if it is not None}
        if not queue.note(self.job, self.job.notes):
            raise LeaseLost

    def pay(self, what: str) -> None:
        """Announce a payment. If the run ends before `paid`, a person is asked.

        Raises Forbidden if whoever asked for the job has lost the right to it.
        """
        self.require_right()
        self.note(**{queue.PAYING: what})

    def paid(self, **facts: Any) -> None:
        """Record that a payment succeeded or was certainly not charged, with facts to store."""
        self.note(**{queue.PAYING: None}, **facts)

    def on_finish(self, effect: Callable[[], object]) -> None:
        """Register an effect for the transaction that marks the job done."""
        self.effects.append(effect)


def run(job: Job, *, stopping: Callable[[], bool] = lambda: False) -> None:
    """Run a claimed job and write how it ended. Raises django.db.Error if that can't be written.

    A refusal (DomainError) is the job's outcome and isn't retried. Any other exception is, a few
    times, with growing delays. Outages and busy resources don't count against it, nor do restarts.
    """
    context = JobContext(job, stopping=stopping)
    try:
        with _renewed_lease(job), _cleanup(job):
            if job.cancel_requested:
                raise Cancelled
            context.require_right()
            result = kind_of(job.kind).handler(context, **job.arguments)
        if not queue.finish(job, result, context.effects):
            raise LeaseLost
    except LeaseLost:
        logger.warning("Job %s is now another worker's; this run is void.", job.pk)
    except Cancelled:
        queue.cancel(job)
    except Stopping:
        queue.requeue(job, counts=False)
    except Unavailable:
        queue.interrupt(job)
    except RetryLater as later:
        _try_later(job, later)
    except DomainError as refusal:
        queue.fail(job, refusal.message, result=problem(refusal))
    except Exception as fault:  # noqa: BLE001  # whatever it is, the job's end is written
        log_fault(logger, f"Job {job.pk} ({job.kind}) stopped", fault)
        _try_again(job, fault)
    finally:
        return_free_memory()


@contextmanager
def _cleanup(job: Job) -> Iterator[None]:
    """Remove what this and earlier runs have left, if the job will not be done."""
    try:
        yield
    except Unavailable:  # it will be run again
        raise
    except (Cancelled, DomainError):
        clean_up = kind_of(job.kind).clean_up
        if clean_up is not None:
            clean_up(job.pk)
        raise


def _try_again(job: Job, fault: Exception) -> None:
    if is_outage(fault):
        queue.interrupt(job)
    elif job.attempts < queue.MAX_ATTEMPTS:
        queue.requeue(job, delay=timedelta(seconds=2**job.attempts))
    else:
        queue.fail(
            job,
            f"This job stopped {job.attempts} times with an unexpected "
            f"{type(fault).__name__}; the server's log has the details.",
        )


def _try_later(job: Job, later: RetryLater) -> None:
    if job.attempts >= queue.MAX_ATTEMPTS:
        sentence = f"{later.sentence} It was tried {job.attempts} times."
        queue.fail(job, sentence)
        return
    usual = _FIRST_PAUSE_SECONDS * 2 ** (job.attempts - 1)
    seconds = min(max(usual, later.seconds or 0), queue.MAX_DELAY_SECONDS)
    queue.requeue(job, delay=timedelta(seconds=seconds), error=later.sentence)


@contextmanager
def _renewed_lease(job: Job) -> Iterator[None]:
    """Renew the lease of a job from a separate thread while its handler runs."""
    over = threading.Event()

    def renew() -> None:
        usual = pause = settings.JOB_LEASE_SECONDS / 3
        try:
            while not over.wait(pause):
                try:
                    if not queue.renew(job):
                        return
                    pause = usual
                except Error as error:
                    pause = min(1, usual)
                    what = f"The lease of job {job.pk} could not be renewed"
                    log_fault(logger, what, error)
                    connection.close()
        finally:
            connection.close()

    thread = threading.Thread(target=renew, name=f"lease of {job.pk}", daemon=True)
    queue.running_here.add(job.pk)
    thread.start()
    try:
        yield
    finally:
        queue.running_here.discard(job.pk)
        over.set()
        thread.join()
