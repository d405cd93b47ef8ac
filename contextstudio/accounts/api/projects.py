"""REST: projects, their members, jobs."""

import uuid
from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest
from ninja import Router, Schema, Status
from pydantic import Field

from contextstudio.accounts import jobs, services
from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.paging import Page
from contextstudio.accounts.domain.rights import ProjectRole, Right
from contextstudio.accounts.models import Job, Membership, Project
from contextstudio.accounts.selectors import (
    get_job,
    get_member,
    get_project,
    list_members,
    list_projects,
    user_named,
)
from contextstudio.accounts.shape import RequestBody

router = Router()
_MEMBERS = "/projects/{str:slug}/members"


class ProjectIn(RequestBody):
    """A new project; whoever makes it is its owner."""

    slug: str = Field(
        min_length=1, max_length=64, description="Letters, digits, `-` and `_`."
    )
    name: str = Field("", max_length=150, description="The slug, unless given.")


class ProjectOut(Schema):
    """A project, and what the caller may do in it."""

    id: uuid.UUID
    slug: str
    name: str
    rights: list[Right]
    created_at: datetime


class ProjectPage(Schema):
    """Some projects, by slug, and the cursor of the next page where there is one."""

    items: list[ProjectOut]
    next_cursor: str | None


class MemberIn(RequestBody):
    """What a person is to be in a project."""

    role: ProjectRole


class MemberOut(Schema):
    """A person and their role in a project."""

    username: str
    name: str
    role: ProjectRole


class MemberPage(Schema):
    """Some members, by username, and the cursor of the next page where there is one."""

    items: list[MemberOut]
    next_cursor: str | None


@router.get(
    "/projects",
    response=ProjectPage,
    tags=["projects"],
    operation_id="accounts_api_projects",
)
def projects(
    request: HttpRequest, cursor: str | None = None, limit: int | None = None
) -> dict[str, Any]:
    """The projects that the caller is a member of, or that the key is for."""
    caller = caller_of(request)
    found = list_projects(caller, cursor=cursor, limit=limit)
    return _page(found, [_project(caller, one) for one in found.items])


@router.post(
    "/projects",
    response={201: ProjectOut},
    tags=["projects"],
    operation_id="accounts_api_create_project",
)
def create_project(request: HttpRequest, body: ProjectIn) -> Status[Any]:
    """Make a project. A key can't: a project needs a person as its owner."""
    caller = caller_of(request)
    name = body.name.strip() or body.slug
    made = services.create_project(caller, slug=body.slug, name=name)
    answer = {**_project(caller, made), "rights": list(Right)}
    return Status(201, answer)


@router.get(
    _MEMBERS,
    response=MemberPage,
    tags=["projects"],
    operation_id="accounts_api_members",
)
def members(
    request: HttpRequest,
    slug: str,
    cursor: str | None = None,
    limit: int | None = None,
) -> dict[str, Any]:
    """Who is a member of a project, and in which role."""
    project = get_project(caller_of(request), slug)
    found = list_members(project, cursor=cursor, limit=limit)
    return _page(found, [_member(one) for one in found.items])


@router.put(
    f"{_MEMBERS}/{{str:username}}",
    response=MemberOut,
    tags=["projects"],
    operation_id="accounts_api_set_member",
)
def set_member(
    request: HttpRequest, slug: str, username: str, body: MemberIn
) -> dict[str, Any]:
    """Make a person a member, or change their role. Needs the right to administer."""
    caller = caller_of(request)
    project = get_project(caller, slug, Right.ADMIN)
    user = user_named(username)
    services.set_member(caller, project, user, body.role)
    return {"username": user.username, "name": str(user), "role": body.role}


@router.delete(
    f"{_MEMBERS}/{{str:username}}",
    response={204: None},
    tags=["projects"],
    operation_id="accounts_api_remove_member",
)
def remove_member(request: HttpRequest, slug: str, username: str) -> Status[Any]:
    """Remove a member, or leave. Refused for the last owner."""
    caller = caller_of(request)
    project = get_project(caller, slug)
    services.set_member(caller, project, get_member(project, username), None)
    return Status(204, None)


def _page(found: Page[Any], items: list[dict[str, Any]]) -> dict[str, Any]:
    return {"items": items, "next_cursor": found.next_cursor}


def _project(caller: Caller, project: Project) -> dict[str, Any]:
    return {
        "id": project.uuid,
        "slug": project.slug,
        "name": project.name,
        "rights": [right for right in Right if caller.may(right, project.pk)],
        "created_at": project.created_at,
    }


def _member(membership: Membership) -> dict[str, Any]:
    user, role = membership.user, membership.role
    return {"username": user.username, "name": str(user), "role": role}


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


@router.get(
    "/jobs/{job_id}", response=JobOut, summary="How far a job is", tags=["Jobs"]
)
def read_job(request: HttpRequest, job_id: uuid.UUID) -> Job:
    """The job, with its result once it is done; of a refused one `result` is the problem."""
    return get_job(caller_of(request), job_id)


@router.post(
    "/jobs/{job_id}/cancel", response=JobOut, summary="Cancel a job", tags=["Jobs"]
)
def cancel_job(request: HttpRequest, job_id: uuid.UUID) -> Job:
    """Cancel it at once while it waits, else at its next step. One that ended stays as it is."""
    return jobs.request_cancel(get_job(caller_of(request), job_id, Right.EDIT))
