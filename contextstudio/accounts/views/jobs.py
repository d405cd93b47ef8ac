"""The job queue page: what runs, what failed and why, and a person's decisions about it."""

import uuid
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from contextstudio.accounts import jobs as queue
from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import DomainError, NotFound
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.jobs.kinds import may_repeat, title_of
from contextstudio.accounts.jobs.subjects import existing, subjects_of
from contextstudio.accounts.models import Job
from contextstudio.accounts.selectors import get_job_to_change, list_jobs

SHOWN = 100
LONG_WAIT = timedelta(minutes=1)
"""After this it is worth saying that no worker has taken a job."""
_WORDS = {
    Job.Status.QUEUED: "Waiting",
    Job.Status.RUNNING: "Running",
    Job.Status.DONE: "Done",
    Job.Status.FAILED: "Failed",
    Job.Status.CANCELLED: "Cancelled",
    Job.Status.ASKS: "Asks",
}
_ACTIVE = (Job.Status.QUEUED, Job.Status.RUNNING)
_VERBS = {
    "cancel": queue.request_cancel,
    "continue": queue.resume,
    "retry": queue.restart,
}


@dataclass(frozen=True, slots=True)
class ShownJob:
    """One line of the queue."""

    job: Job
    title: str
    subject: str
    """The name of what it is about; empty for work on everything."""
    word: str
    sentence: str
    """`2 of 5 calls`, or why it failed, waits or asks."""
    session_id: str
    """The session that it is about; empty if there is none or it is gone."""
    is_gone: bool
    """Whether the session that it is about was deleted."""
    verbs: tuple[str, ...]


@require_safe
def jobs(request: HttpRequest) -> HttpResponse:
    """The newest jobs of the caller's projects, optionally of one `status`.

    Only the table, if htmx polls because something still runs.
    """
    caller = caller_of(request)
    status = request.GET.get("status", "")
    chosen = status if status in Job.Status else None
    cursor = request.GET.get("cursor", "")
    found = list_jobs(caller, status=chosen, cursor=cursor, limit=SHOWN)
    subjects = subjects_of(found.items)
    there = existing(
        "session_id", {one for job in found.items if (one := _session_id_of(job))}
    )
    context = {
        "jobs": [
            _shown(caller, job, subjects.get(job.pk, ""), there) for job in found.items
        ],
        "status": chosen or "",
        "cursor": cursor,
        "statuses": [(value.value, word) for value, word in _WORDS.items()],
        "next_cursor": found.next_cursor,
        "is_active": any(job.status in _ACTIVE for job in found.items),
    }
    part = "job_rows.html" if request.headers.get("HX-Request") else "jobs.html"
    return render(request, f"accounts/{part}", context)


@require_POST
def act(request: HttpRequest, job_id: uuid.UUID, verb: str) -> HttpResponse:
    """Cancel a job, continue one that asks, or restart one."""
    if verb not in _VERBS:
        raise NotFound("A job has no such action.")
    job = get_job_to_change(caller_of(request), job_id)
    try:
        messages.success(request, _notice(verb, _VERBS[verb](job)))
    except DomainError as refused:
        messages.error(request, refused.message)
    return redirect("accounts:jobs")


def _notice(verb: str, job: Job) -> str:
    """The notice after an action, given the job as it is now."""
    if verb != "cancel":
        return "The job goes on." if verb == "continue" else "The job starts again."
    if job.status == Job.Status.CANCELLED:
        return "The job is cancelled."
    if job.status in _ACTIVE:
        return "The job stops at its next step."
    return "The job had already ended."


def _session_id_of(job: Job) -> str:
    """The id of the session that a job is about, or ""."""
    return str(job.arguments.get("session_id") or "")


def _long_wait(job: Job) -> str:
    if job.status != Job.Status.QUEUED or job.run_after > timezone.now() - LONG_WAIT:
        return ""
    return "No worker has taken it yet: they are all busy, or none is running."


def _shown(caller: Caller, job: Job, subject: str, there: Collection[str]) -> ShownJob:
    session_id = _session_id_of(job)
    verbs: tuple[str, ...] = ()
    may_change = job.actor == caller.actor
    if job.project_id is not None:
        may_change = may_change or caller.may(Right.EDIT, job.project_id)
    if may_change:
        asks = job.status == Job.Status.ASKS
        verbs += ("continue",) if asks else ()
        verbs += ("retry",) if may_repeat(job) else ()
        verbs += ("cancel",) if asks or job.status in _ACTIVE else ()
    return ShownJob(
        job=job,
        title=title_of(job.kind),
        subject=subject,
        word=_WORDS[Job.Status(job.status)],
        sentence=job.error or job.progress or _long_wait(job),
        session_id=session_id if session_id in there else "",
        is_gone=bool(session_id) and session_id not in there,
        verbs=verbs,
    )
