"""REST: jobs."""

import uuid
from datetime import datetime
from typing import Literal

from django.http import HttpRequest
from ninja import Router, Schema

from . import jobs
from .authentication import caller_of
from .domain.rights import Right
from .models import Job
from .selectors import get_job

router = Router(tags=["Jobs"])


class JobOut(Schema):
    """A job: how far it is, and what came of it. `error` is a sentence."""

    id: uuid.UUID
    kind: str
    status: Literal["queued", "running", "done", "failed", "cancelled", "asks"]
    done: int
    total: int | None
    unit: str
    result: dict[str, object] | None
    error: str | None
    created_at: datetime
    finished_at: datetime | None

    @staticmethod
    def resolve_error(job: Job) -> str | None:
        """None where there is nothing to say."""
        return job.error or None


@router.get("/jobs/{job_id}", response=JobOut, summary="How far a job is")
def read_job(request: HttpRequest, job_id: uuid.UUID) -> Job:
    """The job, with its result once it is done; of a refused one `result` is the problem."""
    return get_job(caller_of(request), job_id)


@router.post("/jobs/{job_id}/cancel", response=JobOut, summary="Cancel a job")
def cancel_job(request: HttpRequest, job_id: uuid.UUID) -> Job:
    """Cancel it at once while it waits, else at its next step. One that ended stays as it is."""
    return jobs.request_cancel(get_job(caller_of(request), job_id, Right.EDIT))
