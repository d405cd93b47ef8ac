"""REST: projects, their members, jobs."""

import uuid
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema, Status
from pydantic import Field

from contextstudio.accounts import services
from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Conflict
from contextstudio.accounts.domain.paging import Page
from contextstudio.accounts.domain.rights import ProjectRole, Right
from contextstudio.accounts.models import Membership, Project
from contextstudio.accounts.selectors import (
    get_member,
    get_project,
    list_members,
    list_projects,
    user_named,
)
from contextstudio.accounts.shape import RequestBody

router = Router()
_PROJECT = "/projects/{str:slug}"
_MEMBERS = f"{_PROJECT}/members"


class ProjectIn(RequestBody):
    """A new project. The caller becomes its owner."""

    slug: str = Field(
        min_length=1, max_length=64, description="Letters, digits, `-` and `_`."
    )
    name: str = Field("", max_length=150, description="By default the slug.")


class ProjectNameIn(RequestBody):
    """Another name of a project."""

    name: str = Field(min_length=1, max_length=150)


class ProjectOut(Schema):
    """A project, and what the caller may do in it."""

    id: uuid.UUID
    slug: str
    name: str
    rights: list[Right]
    created_at: datetime


class ProjectPage(Schema):
    """Some projects, by slug, and the cursor of the next page if there is one."""

    items: list[ProjectOut]
    next_cursor: str | None


class MemberIn(RequestBody):
    """The role of a person in a project."""

    role: ProjectRole


class NewMemberIn(MemberIn):
    """A person to add, and their role."""

    username: str = Field(min_length=1, max_length=150)


class MemberOut(Schema):
    """A person and their role in a project."""

    username: str
    name: str
    role: ProjectRole


class MemberPage(Schema):
    """Some members, by username, and the cursor of the next page if there is one."""

    items: list[MemberOut]
    next_cursor: str | None


@router.get(
    "/projects",
    response=ProjectPage,
    tags=["projects"],
    operation_id="accounts_api_projects",
    summary="List projects",
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
    summary="Create a project",
)
def create_project(request: HttpRequest, body: ProjectIn) -> Status[Any]:
    """Create a project. Only a person can, because the caller becomes its owner."""
    caller = caller_of(request)
    name = body.name.strip() or body.slug
    made = services.create_project(caller, slug=body.slug, name=name)
    answer = {**_project(caller, made), "rights": list(Right)}
    return Status(201, answer)


@router.patch(
    _PROJECT,
    response=ProjectOut,
    tags=["projects"],
    operation_id="accounts_api_rename_project",
    summary="Rename a project",
)
def rename_project(
    request: HttpRequest, slug: str, body: ProjectNameIn
) -> dict[str, Any]:
    """Change a project's name. Its slug stays. Needs the right to administer."""
    caller = caller_of(request)
    project = get_project(caller, slug, Right.ADMIN)
    services.rename_project(caller, project, body.name.strip())
    return _project(caller, project)


@router.delete(
    _PROJECT,
    response={204: None},
    tags=["projects"],
    operation_id="accounts_api_delete_project",
    summary="Delete a project",
)
def delete_project(request: HttpRequest, slug: str) -> Status[Any]:
    """Delete a project without sessions, with its memos, keys and settings.

    Only an owner can. While it has sessions (deleted ones count until they are purged) or jobs
    that are not finished, this returns 409.
    """
    caller = caller_of(request)
    services.delete_project(caller, get_project(caller, slug, Right.ADMIN))
    return Status(204, None)


@router.get(
    _MEMBERS,
    response=MemberPage,
    tags=["projects"],
    operation_id="accounts_api_members",
    summary="List members",
)
def members(
    request: HttpRequest,
    slug: str,
    cursor: str | None = None,
    limit: int | None = None,
) -> dict[str, Any]:
    """The members of a project, with their roles."""
    project = get_project(caller_of(request), slug)
    found = list_members(project, cursor=cursor, limit=limit)
    return _page(found, [_member(one) for one in found.items])


@router.post(
    _MEMBERS,
    response={201: MemberOut},
    tags=["projects"],
    operation_id="accounts_api_add_member",
    summary="Add a member",
)
def add_member(request: HttpRequest, slug: str, body: NewMemberIn) -> Status[Any]:
    """Add a person who has an account. Needs the right to administer.

    For somebody who is already a member, this returns 409 with their `role`; PUT changes it.
    """
    caller = caller_of(request)
    project = get_project(caller, slug, Right.ADMIN)
    user = user_named(body.username)
    try:
        services.add_member(caller, project, user, body.role)
    except Conflict as conflict:
        path = f"/api/projects/{slug}/members/{user.username}"
        conflict.message += f" Change it with PUT {path}."
        raise
    answer = {"username": user.username, "name": str(user), "role": body.role}
    return Status(201, answer)


@router.put(
    f"{_MEMBERS}/{{str:username}}",
    response=MemberOut,
    tags=["projects"],
    operation_id="accounts_api_set_member",
    summary="Add a member or change a role",
)
def set_member(
    request: HttpRequest, slug: str, username: str, body: MemberIn
) -> dict[str, Any]:
    """Add a member, or replace a member's role. Needs the right to administer.

    To add somebody without ever changing a role, POST to the list of members.
    """
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
    summary="Remove a member",
)
def remove_member(request: HttpRequest, slug: str, username: str) -> Status[Any]:
    """Remove a member, or leave the project. The last owner can't be removed."""
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
