"""REST: jobs, what came of them, and what a person may decide of them."""

import uuid
from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest
from ninja import Router, Schema

from contextstudio.accounts import jobs
from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.jobs.queue import result_of
from contextstudio.accounts.models import Job
from contextstudio.accounts.selectors import get_job, get_job_to_change, list_jobs

router = Router(tags=["jobs"])
JobStatus = Literal["queued", "running", "done", "failed", "cancelled", "asks"]


class JobOut(Schema):
    """A job: how far it is, and what came of it. `error` is a sentence."""

    id: uuid.UUID
    kind: str
    status: JobStatus
    done: int
    total: int | None
    unit: str
    result: dict[str, object] | None
    error: str | None
    created_at: datetime
    finished_at: datetime | None

    @staticmethod
    def resolve_result(job: Job) -> dict[str, object] | None:
        """As it may be read now."""
        return result_of(job)

    @staticmethod
    def resolve_error(job: Job) -> str | None:
        """None where there is nothing to say."""
        return job.error or None


class JobPage(Schema):
    """Jobs, newest first."""

    items: list[JobOut]
    next_cursor: str | None


@router.get(
    "/jobs",
    response=JobPage,
    summary="The jobs of one's projects",
    operation_id="contextstudio_accounts_api_jobs_list",
)
def list_all(
    request: HttpRequest,
    status: JobStatus | None = None,
    project: str | None = None,
    cursor: str | None = None,
    limit: int | None = None,
) -> dict[str, Any]:
    """The jobs of the projects that one may see, newest first."""
    found = list_jobs(
        caller_of(request), status=status, project=project, cursor=cursor, limit=limit
    )
    return {"items": list(found.items), "next_cursor": found.next_cursor}


@router.get(
    "/jobs/{job_id}",
    response=JobOut,
    summary="How far a job is",
    operation_id="contextstudio_accounts_api_projects_read_job",
)
def read_job(request: HttpRequest, job_id: uuid.UUID) -> Job:
    """The job, with its result once it is done; of a refused one `result` is the problem."""
    return get_job(caller_of(request), job_id)


@router.post(
    "/jobs/{job_id}/cancel",
    response=JobOut,
    summary="Cancel a job",
    operation_id="contextstudio_accounts_api_projects_cancel_job",
)
def cancel_job(request: HttpRequest, job_id: uuid.UUID) -> Job:
    """Cancel it at once while it waits, else at its next step. One that ended stays as it is."""
    return jobs.request_cancel(get_job_to_change(caller_of(request), job_id))


@router.post(
    "/jobs/{job_id}/continue",
    response=JobOut,
    summary="Let a job that asks go on",
    operation_id="contextstudio_accounts_api_jobs_continue",
)
def go_on(request: HttpRequest, job_id: uuid.UUID) -> Job:
    """Let it repeat a call that may have been charged already: nothing else makes it do so."""
    return jobs.go_on(get_job_to_change(caller_of(request), job_id))


@router.post(
    "/jobs/{job_id}/retry",
    response=JobOut,
    summary="Start a job again",
    operation_id="contextstudio_accounts_api_jobs_retry",
)
def retry(request: HttpRequest, job_id: uuid.UUID) -> Job:
    """Start one again that failed or was cancelled; what it had is not done twice."""
    return jobs.repeat(get_job_to_change(caller_of(request), job_id))
