"""What a job's handler is given: for whom it works, and how it says how far it is."""

import time
import uuid
from collections.abc import Callable

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.models import Job, Project
from contextstudio.accounts.selectors import caller_of_actor

from . import queue

_SECONDS_BETWEEN_REPORTS = 0.5


class Interrupted(Exception):  # no fault of the handler; it only stops the work
    """The work should end here; the handler lets it pass."""


class Cancelled(Interrupted):
    """Somebody no longer wants the job."""


class LeaseLost(Interrupted):
    """Another worker has the job by now."""


class Stopping(Interrupted):
    """The server stops; another worker starts the job again."""


class JobContext:
    """One run of a job."""

    def __init__(
        self, job: Job, *, stopping: Callable[[], bool] = lambda: False
    ) -> None:
        self.job = job
        self.effects: list[Callable[[], object]] = []
        self._stopping = stopping
        self._caller: Caller | None = None
        self._reported = float("-inf")

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
        """Who asked for the work, with the rights that they have now."""
        if self._caller is None:
            self._caller = caller_of_actor(self.job.actor)
        return self._caller

    def progress(self, done: int, *, total: int | None = None, unit: str = "") -> None:
        """Say how far the work is; ends the run where it is not wanted any more.

        Cheap enough for every step: most calls write nothing. Raises Interrupted.
        """
        if self._stopping():
            raise Stopping
        now = time.monotonic()
        if now - self._reported < _SECONDS_BETWEEN_REPORTS and done != total:
            return
        self._reported = now
        cancel = queue.report(self.job, done=done, total=total, unit=unit)
        if cancel is None:
            raise LeaseLost
        if cancel:
            raise Cancelled

    def on_finish(self, effect: Callable[[], object]) -> None:
        """Let this happen in the transaction that marks the job done: then, or not at all."""
        self.effects.append(effect)
