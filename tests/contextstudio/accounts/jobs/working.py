"""A kind of job that does what a test defines, and a record of its runs."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from contextstudio.accounts.jobs import JobContext, queue, runner

KIND = "test"


class Work:
    """A kind of job whose next runs do what a test defines."""

    def __init__(self) -> None:
        self.runs: list[JobContext] = []
        self.does: Any = lambda context, **arguments: arguments

    def __call__(self, context: JobContext, **arguments: Any) -> Any:
        self.runs.append(context)
        return self.does(context, **arguments)


def run_one(**options: Any) -> None:
    claimed = queue.claim()
    assert claimed is not None
    runner.run(claimed, **options)


def claim_elsewhere() -> None:
    """Claim the due job as a worker of another process does."""
    queue.running_here.clear()
    assert queue.claim() is not None


def pass_time(monkeypatch: pytest.MonkeyPatch, **time: float) -> None:
    later = timezone.now() + timedelta(**time)
    monkeypatch.setattr(timezone, "now", lambda: later)
