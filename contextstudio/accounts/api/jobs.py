"""The REST routes of jobs: their results, and the decisions a person may take about them."""

import uuid
from datetime import datetime
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Router, Schema
from ninja.params.functions import Query

from contextstudio.accounts import jobs
from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.jobs.kinds import result_of
from contextstudio.accounts.models import Job
from contextstudio.accounts.selectors import get_job, get_job_to_change, list_jobs

router = Router(tags=["jobs"])
JobStatus = Literal["queued", "running", "done", "failed", "cancelled", "asks"]


class JobOut(Schema):
    """A job, with its progress and its result."""

    id: uuid.UUID
    kind: str
    status: JobStatus
    """`asks` waits for somebody to continue or cancel it."""
    done: int
    """How much is done, counted in `unit`."""
    total: int | None
    """How much there is to do; null if it isn't known."""
    unit: str
    """What `done` and `total` count, such as messages."""
    result: dict[str, object] | None
    """What the job returned, or the problem document if it was refused; null before it ends."""
    error: str | None
    """Why it failed or what it asks, in a sentence."""
    created_at: datetime
    finished_at: datetime | None

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
    summary="List jobs",
    operation_id="contextstudio_accounts_api_jobs_list",
)
def list_all(
    request: HttpRequest,
    status: Annotated[
        JobStatus | None, Query(description="Limits the list to jobs with this status.")
    ] = None,
    project: Annotated[
        str | None, Query(description="Limits the list to one project, by its slug.")
    ] = None,
    cursor: str | None = None,
    limit: int | None = None,
) -> dict[str, Any]:
    """The jobs of the projects that the caller may see, newest first."""
    found = list_jobs(
        caller_of(request), status=status, project=project, cursor=cursor, limit=limit
    )
    items = [_with_current_result(job) for job in found.items]
    return {"items": items, "next_cursor": found.next_cursor}


@router.get(
    "/jobs/{job_id}",
    response=JobOut,
    summary="Read a job",
    operation_id="contextstudio_accounts_api_projects_read_job",
)
def read_job(request: HttpRequest, job_id: uuid.UUID) -> Job:
    """A job. `result` is what it returned once it is done, or the problem document if refused."""
    return _with_current_result(get_job(caller_of(request), job_id))


@router.post(
    "/jobs/{job_id}/cancel",
    response=JobOut,
    summary="Cancel a job",
    operation_id="contextstudio_accounts_api_projects_cancel_job",
)
def cancel_job(request: HttpRequest, job_id: uuid.UUID) -> Job:
    """Cancel a job: at once if it is queued, else at its next step. An ended job doesn't change."""
    job = get_job_to_change(caller_of(request), job_id)
    return _with_current_result(jobs.request_cancel(job))


@router.post(
    "/jobs/{job_id}/continue",
    response=JobOut,
    summary="Continue a waiting job",
    operation_id="contextstudio_accounts_api_jobs_continue",
)
def go_on(request: HttpRequest, job_id: uuid.UUID) -> Job:
    """Let a job with the status `asks` repeat a call to a model that may already have been charged.

    Without this, the job does not repeat the call.
    """
    job = get_job_to_change(caller_of(request), job_id)
    return _with_current_result(jobs.resume(job))


@router.post(
    "/jobs/{job_id}/retry",
    response=JobOut,
    summary="Restart a job",
    operation_id="contextstudio_accounts_api_jobs_retry",
)
def retry(request: HttpRequest, job_id: uuid.UUID) -> Job:
    """Start a failed or cancelled job again. What it had finished is not done twice."""
    job = get_job_to_change(caller_of(request), job_id)
    return _with_current_result(jobs.restart(job))


def _with_current_result(job: Job) -> Job:
    """A job with its result as it may be read now.

    A resolver of the schema could do that too, but would turn a database outage into a validation
    error.
    """
    job.result = result_of(job)
    return job
