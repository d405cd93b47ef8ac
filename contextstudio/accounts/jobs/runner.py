"""One run of a claimed job: what its handler is given, and how the row ends."""

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
from contextstudio.database.outages import is_outage
from contextstudio.memory import give_back

from . import queue
from .kinds import kind_of

logger = logging.getLogger(__name__)

_SECONDS_BETWEEN_REPORTS = 0.5
_FIRST_PAUSE_SECONDS = 5
"""After which a job is tried again that came too early; the next pause is twice as long."""


class Interrupted(Exception):  # no fault of the handler; it only stops the work
    """The work should end here; the handler lets it pass."""


class Cancelled(Interrupted):
    """Somebody no longer wants the job."""


class LeaseLost(Interrupted):
    """Another worker has the job by now."""


class Stopping(Interrupted):
    """The server stops; another worker starts the job again."""


class Later(Exception):  # no fault of the handler either
    """What the job needs is busy: the row waits, and no worker does."""

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
        """Who asked for the work, with the rights that they have now: ask anew before an effect."""
        return caller_of_actor(self.job.actor)

    def refuse_without_right(self) -> None:
        """Raise Forbidden where who asked may not have such work done, or not any more."""
        right = kind_of(self.job.kind).right
        if right is not None and self.job.project_id is not None:
            require(self.caller, right, self.job.project_id)

    def progress(self, done: int, *, total: int | None = None, unit: str = "") -> None:
        """Say how far the work is; ends the run where it is not wanted any more.

        Cheap enough for every step: most calls write nothing. Raises Interrupted, or Forbidden
        where who asked has lost the right to it.
        """
        if self._stopping():
            raise Stopping
        # In a transaction of the work's own the job's row would be locked until it ends, and the
        # lease could not be renewed; nor could anybody see it.
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
        self.refuse_without_right()

    def note(self, **facts: Any) -> None:
        """Keep facts for the next run, and for who looks on; None takes one away.

        They are committed at once. Raises LeaseLost.
        """
        notes = {**self.job.notes, **facts}
        self.job.notes = {name: it for name, it in notes.items() if it is not None}
        if not queue.note(self.job, self.job.notes):
            raise LeaseLost

    def pay(self, what: str) -> None:
        """Say what is about to be paid for. If the run ends before `paid`, a person is asked.

        Raises Forbidden where who asked has lost the right to it.
        """
        self.refuse_without_right()
        self.note(**{queue.PAYING: what})

    def paid(self, **facts: Any) -> None:
        """Say that what was paid for came, or surely wasn't charged, with facts to keep of it."""
        self.note(**{queue.PAYING: None}, **facts)

    def on_finish(self, effect: Callable[[], object]) -> None:
        """Let this happen in the transaction that marks the job done: then, or not at all."""
        self.effects.append(effect)


def run(job: Job, *, stopping: Callable[[], bool] = lambda: False) -> None:
    """Do a claimed job and write how it ended. Raises django.db.Error where that can't be written.

    A refusal (DomainError) is the job's outcome and isn't tried again; anything else is, a few
    times, each time later. What was away or busy is as little its fault as a restart.
    """
    context = JobContext(job, stopping=stopping)
    try:
        with _renewed_lease(job), _taken_back(job):
            if job.cancel_requested:
                raise Cancelled
            context.refuse_without_right()
            result = kind_of(job.kind).handler(context, **job.arguments)
        if not queue.finish(job, result, context.effects):
            raise LeaseLost
    except LeaseLost:
        logger.warning("Job %s is now another worker's; this run is void.", job.pk)
    except Cancelled:
        queue.cancelled(job)
    except Stopping:
        queue.put_back(job, counts=False)
    except Unavailable:
        queue.interrupt(job)
    except Later as later:
        _try_later(job, later)
    except DomainError as refusal:
        queue.fail(job, refusal.message, result=problem(refusal))
    except Exception as fault:
        logger.exception("Job %s (%s) stopped.", job.pk, job.kind)
        _try_again(job, fault)
    finally:
        give_back()


@contextmanager
def _taken_back(job: Job) -> Iterator[None]:
    """Remove what this run and earlier ones left of a job, where it will not be done."""
    try:
        yield
    except Unavailable:  # it is run again
        raise
    except (Cancelled, DomainError):
        take_back = kind_of(job.kind).take_back
        if take_back is not None:
            take_back(job.pk)
        raise


def _try_again(job: Job, fault: Exception) -> None:
    if is_outage(fault):
        queue.interrupt(job)
    elif job.attempts < queue.MOST_ATTEMPTS:
        queue.put_back(job, delay=timedelta(seconds=2**job.attempts))
    else:
        queue.fail(
            job,
            f"This job stopped {job.attempts} times with an unexpected "
            f"{type(fault).__name__}; the server's log has the details.",
        )


def _try_later(job: Job, later: Later) -> None:
    if job.attempts >= queue.MOST_ATTEMPTS:
        sentence = f"{later.sentence} It was tried {job.attempts} times."
        queue.fail(job, sentence)
        return
    usual = _FIRST_PAUSE_SECONDS * 2 ** (job.attempts - 1)
    seconds = min(max(usual, later.seconds or 0), queue.LONGEST_WAIT_SECONDS)
    queue.put_back(job, delay=timedelta(seconds=seconds), error=later.sentence)


@contextmanager
def _renewed_lease(job: Job) -> Iterator[None]:
    """Renew the lease of a job while its handler runs, from a thread of its own."""
    over = threading.Event()

    def renew() -> None:
        usual = pause = settings.JOB_LEASE_SECONDS / 3
        try:
            while not over.wait(pause):
                try:
                    if not queue.renew(job):
                        return
                    pause = usual
                except Error:
                    pause = min(1, usual)
                    logger.warning(
                        "The lease of job %s could not be renewed.",
                        job.pk,
                        exc_info=True,
                    )
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
