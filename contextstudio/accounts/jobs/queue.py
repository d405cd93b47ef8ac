"""The rows of jobs: queued, claimed by a lease, ended. Every step is one compare-and-set."""

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict
from contextstudio.accounts.domain.storable import storable, storable_json
from contextstudio.accounts.models import Job, Project

from .kinds import (
    DEFAULT_QUEUE,
    PROVIDER_QUEUE,
    kind_of,
    kinds_on,
    may_leave_data,
    may_repeat,
)
from .waking import wake_on_commit

Status = Job.Status
MAX_ATTEMPTS = 5
"""How many runs of a job may end with a fault."""
PAYING = "paying"
"""Key in a job's notes: what is being paid for. Once the run has ended, nobody knows if it was."""
INTERRUPTIONS_AT_ONCE = 3
"""How many workers may die running a job before it is delayed."""
MAX_PAUSE_SECONDS = 60
MAX_DELAY_SECONDS = 600
"""The longest that a job is delayed; if it is due later, the clock was set back."""
running_here: set[uuid.UUID] = set()
"""The jobs that threads of this process are running."""
_ENDED = (Status.DONE, Status.FAILED, Status.CANCELLED)


def enqueue(
    project: Project | None, kind: str, arguments: Mapping[str, Any], caller: Caller
) -> Job:
    """Enqueue a job in the caller's transaction; a worker is woken after the commit.

    `arguments` is JSON. A job of the product itself has no project.
    """
    told = storable_json(dict(arguments))
    job = Job.objects.create(
        project=project, kind=kind_of(kind).name, arguments=told, actor=caller.actor
    )
    wake_on_commit(job)
    return job


def due_jobs(now: datetime) -> QuerySet[Job]:
    """Jobs that a worker should take: queued and due, or with an expired lease.

    If the clock was set back, neither has to wait until the old time is reached again.
    """
    far = now + timedelta(seconds=MAX_DELAY_SECONDS)
    long = now + timedelta(seconds=2 * settings.JOB_LEASE_SECONDS)
    is_due = Q(run_after__lte=now) | Q(run_after__gt=far)
    is_over = Q(lease_until__lt=now) | Q(lease_until__gt=long)
    waiting = Q(status=Status.QUEUED) & is_due
    abandoned = Q(status=Status.RUNNING) & is_over
    return Job.objects.filter(waiting | abandoned).order_by("run_after", "pk")


def due_by_queue(now: datetime) -> Iterator[tuple[str, QuerySet[Job]]]:
    """The due jobs of each queue; kinds no longer registered are on the default queue."""
    due = due_jobs(now)
    kinds = kinds_on(PROVIDER_QUEUE)
    yield DEFAULT_QUEUE, due.exclude(kind__in=kinds)
    yield PROVIDER_QUEUE, due.filter(kind__in=kinds)


def claim(job_id: uuid.UUID | None = None) -> Job | None:
    """Claim this job if it is due, or the job that has been due longest; None if there is none.

    The claim lasts for one lease, under a new random `lease_owner`. A run whose worker died doesn't
    count as an attempt: that says nothing about the job. But a job may be what kills its workers,
    so after a few such runs it is delayed, longer each time. A job that failed too often, or whose
    worker died before it could be cancelled, is ended instead of claimed.
    """
    now = timezone.now()
    due = due_jobs(now) if job_id is None else due_jobs(now).filter(pk=job_id)
    # A job that a thread of this process runs isn't abandoned, however late its lease is renewed.
    due = due.exclude(pk__in=list(running_here))
    # Read first: on SQLite a transaction takes the write lock, and most checks find nothing.
    if not due.exists():
        return None
    with transaction.atomic():
        if connection.features.has_select_for_update_skip_locked:
            due = due.select_for_update(skip_locked=True)
        job = due.first()
        return None if job is None or _settle(job) else _mark_claimed(job)


def _settle(job: Job) -> bool:
    """End or delay a due job that should not be run; returns whether it did."""
    died, attempts = _is_abandoned(job), _attempts(job)
    if died and job.cancel_requested and not may_leave_data(job):
        cancel(job)
    elif PAYING in job.notes:
        _ask(job)
    elif died and job.interruptions + 1 >= INTERRUPTIONS_AT_ONCE:
        interrupt(job)
    elif attempts >= MAX_ATTEMPTS:
        Job.objects.filter(pk=job.pk).update(
            status=Status.FAILED,
            finished_at=timezone.now(),
            error=f"This job was started {attempts} times and never finished.",
        )
    else:
        return False
    return True


def _mark_claimed(job: Job) -> Job | None:
    """Mark a job as the caller's own; returns None if another worker was faster.

    A compare-and-set, because SQLite has no SKIP LOCKED: of two workers, one changes the row.
    """
    same = Job.objects.filter(
        pk=job.pk,
        status=job.status,
        lease_owner=job.lease_owner,
        attempts=job.attempts,
    )
    taken = same.update(
        status=Status.RUNNING,
        attempts=_attempts(job) + 1,
        interruptions=job.interruptions + _is_abandoned(job),
        error="",
        lease_owner=uuid.uuid4().hex,
        lease_until=lease_end(),
    )
    return Job.objects.select_related("project").get(pk=job.pk) if taken else None


def _is_abandoned(job: Job) -> bool:
    """Whether the worker of a due job died, letting the lease expire."""
    return job.status == Status.RUNNING


def _attempts(job: Job) -> int:
    """How often a due job was run, not counting a run whose worker died."""
    return max(0, job.attempts - _is_abandoned(job))


def lease_end() -> datetime:
    return timezone.now() + timedelta(seconds=settings.JOB_LEASE_SECONDS)


def renew(job: Job) -> bool:
    """Extend the lease; returns False if the job is no longer this worker's."""
    return bool(_own_row(job).update(lease_until=lease_end()))


def report(job: Job, *, done: int, total: int | None, unit: str) -> bool | None:
    """Write the progress. Returns whether to cancel, or None if the lease is lost."""
    if not _own_row(job).update(done=done, total=total, unit=unit):
        return None
    return _own_row(job).values_list("cancel_requested", flat=True).first()


def note(job: Job, notes: Mapping[str, Any]) -> bool:
    """Store notes for the next run; returns False if the job is no longer this worker's."""
    return bool(_own_row(job).update(notes=storable_json(dict(notes))))


def finish(
    job: Job, result: Mapping[str, Any] | None, effects: Iterable[Callable[[], object]]
) -> bool:
    """Apply the effects and mark the job done, in one transaction.

    Returns False, with no effect, if the lease is no longer this worker's.
    """
    with transaction.atomic():
        # The lease is checked in the transaction of the effects: a worker that was taken for dead
        # must not have any.
        if _own_row(job).select_for_update().first() is None:
            return False
        for effect in effects:
            effect()
        came = storable_json(dict(result or {}))
        _end(job, Status.DONE, result=came, error="", notes={})
        return True


def fail(job: Job, sentence: str, *, result: Mapping[str, Any] | None = None) -> None:
    """End a refused job; `result` holds the refusal as the doors return it."""
    _end(job, Status.FAILED, error=storable(sentence), result=storable_json(result))


def cancel(job: Job) -> None:
    _end(job, Status.CANCELLED)


def requeue(
    job: Job,
    *,
    delay: timedelta = timedelta(0),
    counts: bool = True,
    **facts: Any,
) -> None:
    """Requeue a job for later; `counts` says whether this run counts as an attempt."""
    facts = storable_json(facts)
    _own_row(job).update(
        status=Status.QUEUED,
        run_after=timezone.now() + delay,
        lease_owner="",
        lease_until=None,
        attempts=job.attempts if counts else max(0, job.attempts - 1),
        **facts,
    )


def interrupt(job: Job) -> None:
    """Requeue a job whose run was interrupted from outside: that doesn't count as an attempt.

    After a few interruptions the job is delayed, longer each time.
    """
    times = job.interruptions + 1
    more = max(0, times - INTERRUPTIONS_AT_ONCE + 1)
    delay = min(2**more, MAX_PAUSE_SECONDS) if more else 0
    requeue(job, delay=timedelta(seconds=delay), counts=False, interruptions=times)


@transaction.atomic
def request_cancel(job: Job) -> Job:
    """Cancel a job: at once if it is waiting, else at its next report. Ended jobs stay as they are.

    If earlier runs may have left something, a worker removes that first.
    """
    rows, now = Job.objects.filter(pk=job.pk), timezone.now()
    waiting = rows.filter(status__in=(Status.QUEUED, Status.ASKS))
    if may_leave_data(job):
        waiting = waiting.filter(unit="", attempts=0, interruptions=0)
    if not waiting.update(status=Status.CANCELLED, finished_at=now, error=""):
        left = rows.exclude(status__in=_ENDED)
        left.update(cancel_requested=True)
        if left.filter(status=Status.QUEUED).update(run_after=now):
            wake_on_commit(job)
    job.refresh_from_db()
    return job


@transaction.atomic
def resume(job: Job) -> Job:
    """Let a job that asks repeat what it may have paid for. Raises Conflict for other jobs."""
    row = Job.objects.select_for_update().get(pk=job.pk)
    if row.status != Status.ASKS:
        raise Conflict(
            "This job is not waiting to be continued.", code="job_does_not_ask"
        )
    row.notes.pop(PAYING, None)
    _reset(row)
    return row


@transaction.atomic
def restart(job: Job) -> Job:
    """Restart a job that failed or was cancelled. Raises Conflict if that isn't possible."""
    row = Job.objects.select_for_update().get(pk=job.pk)
    if not may_repeat(row):
        raise Conflict("This job can't be started again.", code="job_not_repeatable")
    row.notes.pop(PAYING, None)
    row.result, row.finished_at, row.cancel_requested = None, None, False
    _reset(row)
    return row


def _reset(job: Job) -> None:
    job.status, job.error, job.run_after = Status.QUEUED, "", timezone.now()
    job.attempts = job.interruptions = 0
    job.lease_owner, job.lease_until = "", None
    job.save()
    wake_on_commit(job)


def _ask(job: Job) -> None:
    """Let a job wait for a person: its last run may have paid for what it would repeat."""
    Job.objects.filter(pk=job.pk, lease_owner=job.lease_owner).update(
        status=Status.ASKS,
        lease_owner="",
        lease_until=None,
        error=f"The server stopped during {job.notes[PAYING]}, which may have been charged. "
        "Continue makes the call again.",
    )


def _own_row(job: Job) -> QuerySet[Job]:
    running = Job.objects.filter(pk=job.pk, status=Status.RUNNING)
    return running.filter(lease_owner=job.lease_owner)


def _end(job: Job, status: Status, **facts: Any) -> None:
    _own_row(job).update(
        status=status,
        finished_at=timezone.now(),
        lease_owner="",
        lease_until=None,
        **facts,
    )
