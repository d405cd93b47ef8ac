"""Accounts: people, projects, keys and sign-in. Every change is recorded for audit."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import ProhibitNullCharactersValidator, slug_re
from django.db import IntegrityError, transaction
from django.db.models import Model, QuerySet

from .domain import errors
from .domain.caller import Caller
from .domain.rights import ProjectRole, Right
from .models import (
    AuditEntry,
    IdempotentResponse,
    Job,
    Membership,
    Project,
    User,
)
from .selectors import caller_of_actor, get_project, require

FIRST_USER = "owner"
FIRST_PROJECT = "demo"


@transaction.atomic
def prepare_first_use() -> tuple[User, bool]:
    """The person whom the start-up link signs in, and whether this is the first start.

    At the first start that is a new owner of a new project; later the oldest active owner of any
    project.
    """
    owners = User.objects.filter(is_active=True, memberships__role=ProjectRole.OWNER)
    owner = owners.order_by("pk").first()
    if owner is not None:
        return owner, False
    owner = User.objects.filter(username=FIRST_USER).first()
    owner = owner or create_user(FIRST_USER, display_name="Owner")
    named = {"name": "Demonstration"}
    project, _ = Project.objects.get_or_create(slug=FIRST_PROJECT, defaults=named)
    role = {"role": ProjectRole.OWNER}
    Membership.objects.update_or_create(project=project, user=owner, defaults=role)
    return owner, True


@contextmanager
def conflict_if_taken(what: str, *at: str) -> Iterator[None]:
    """Raise Conflict if another row has a value that must be unique."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        raise errors.Conflict(what, at=at) from error


def refuse_unfit(model: type[Model], **values: str) -> None:
    """Raise Invalid with the place if a model's field, or a database, can't hold a value."""
    for name, value in values.items():
        field: Any = model._meta.get_field(name)
        try:
            ProhibitNullCharactersValidator()(value)
            field.clean(value, None)
        except ValidationError as error:
            raise errors.Invalid(" ".join(error.messages), at=[name]) from error


@transaction.atomic
def create_user(username: str, *, display_name: str = "") -> User:
    """Create a person without a password, who signs in by link.

    Raises Conflict, or Invalid with the place.
    """
    refuse_unfit(User, username=username, display_name=display_name)
    with conflict_if_taken(f"There is a user {username} already.", "username"):
        user = User.objects.create_user(username, display_name=display_name)
    audit("system", "user.create", user.pk)
    return user


@transaction.atomic
def create_project(caller: Caller, *, slug: str, name: str) -> Project:
    """Create a project owned by the caller, a person. Raises Forbidden, Invalid or Conflict."""
    if caller.user_id is None:
        raise errors.Forbidden("Only a person can create a project.")
    if not slug_re.fullmatch(slug):
        raise errors.Invalid("Use only letters, digits, - and _.", at=["slug"])
    if slug == "_":
        raise errors.Invalid(
            "Choose another slug: in references, _ means the current project.",
            at=["slug"],
        )
    refuse_unfit(Project, slug=slug, name=name)
    with conflict_if_taken(f"There is a project {slug} already.", "slug"):
        project = Project.objects.create(slug=slug, name=name)
    Membership.objects.create(
        project=project, user_id=caller.user_id, role=ProjectRole.OWNER
    )
    audit(caller.actor, "project.create", project.pk, project=project)
    return project


@transaction.atomic
def rename_project(caller: Caller, project: Project, name: str) -> None:
    """Change the name of a project; addresses keep its slug. Needs the right to administer.

    Raises Forbidden, or Invalid with the place.
    """
    require(caller, Right.ADMIN, project.pk)
    refuse_unfit(Project, name=name)
    project.name = name
    project.save(update_fields=["name"])
    audit(caller.actor, "project.rename", project.pk, project=project)


@transaction.atomic
def delete_project(caller: Caller, project: Project) -> None:
    """Delete a project without sessions, with its keys, memos and settings. Only an owner can.

    Raises NotFound, Forbidden, or Conflict while it has sessions, of which deleted ones may still
    be brought back, or jobs that are not finished.
    """
    _lock_members(caller, project, Right.ADMIN)
    if caller.user_id is None:
        raise errors.Forbidden("Only a person can delete a project.")
    if count := project_sessions(project):
        raise errors.Conflict(
            f"{project} has {count:,} session{'s' if count > 1 else ''}, deleted ones included. "
            "Delete them for good first.",
            code="has_sessions",
            facts={"sessions": count},
        )
    unfinished = (Job.Status.QUEUED, Job.Status.RUNNING)
    if project.jobs.filter(status__in=unfinished).exists():
        raise errors.Conflict(f"A job of {project} is not finished.", code="has_jobs")
    IdempotentResponse.objects.filter(project_id=project.pk).delete()
    audit(caller.actor, "project.delete", project.pk)
    project.delete()


def project_sessions(project: Project) -> int:
    """The number of a project's sessions, including deleted ones."""
    return project.sessions.count()


@transaction.atomic
def set_member(
    caller: Caller, project: Project, user: User, role: ProjectRole | None
) -> None:
    """Set a person's role in a project, or remove it with None. Needs the right to administer.

    Members may always leave. Raises NotFound, Forbidden, or Conflict if the project would be left
    without an owner.
    """
    leaves = role is None and user.pk == caller.user_id
    _lock_members(caller, project, Right.READ if leaves else Right.ADMIN)
    if role is None:
        Membership.objects.filter(project=project, user=user).delete()
    else:
        given = {"role": role.value}
        Membership.objects.update_or_create(project=project, user=user, defaults=given)
    if not _active_owners(project).exists():
        raise errors.Conflict(
            "A project needs an owner: give another member that role first.",
            at=["role"],
            code="last_owner",
        )
    audit(caller.actor, f"member.{role or 'remove'}", user.pk, project=project)


@transaction.atomic
def add_member(caller: Caller, project: Project, user: User, role: ProjectRole) -> None:
    """Make a person a member. Needs the right to administer.

    Raises NotFound, Forbidden, or Conflict if they are a member already: adding somebody never
    changes a role.
    """
    _lock_members(caller, project, Right.ADMIN)
    given = {"role": role.value}
    membership, is_new = Membership.objects.get_or_create(
        project=project, user=user, defaults=given
    )
    if not is_new:
        raise errors.Conflict(
            f"{user} is already a member, with the role {membership.role}.",
            at=["username"],
            code="member",
            facts={"role": membership.role},
        )
    audit(caller.actor, f"member.{role}", user.pk, project=project)


def _lock_members(caller: Caller, project: Project, right: Right) -> None:
    """Lock the members of a project until the transaction ends, for a caller with a right.

    Locked before the caller's rights are looked up, so that two owners can't remove each other at
    the same time.
    """
    Project.objects.select_for_update().get(pk=project.pk)
    get_project(caller_of_actor(caller.actor), project.slug, right)


@transaction.atomic
def rename_user(user: User, display_name: str) -> None:
    """Change the name that others see; empty for the username. Raises Invalid."""
    refuse_unfit(User, display_name=display_name)
    user.display_name = display_name
    user.save(update_fields=["display_name"])
    audit(f"user:{user.pk}", "user.rename", user.pk)


def owner_of(project: Project) -> User:
    """The oldest active owner of a project, for whom `create_key` acts. Raises NotFound."""
    owners = _active_owners(project).select_related("user")
    membership = owners.order_by("pk").first()
    if membership is None:
        raise errors.NotFound("This project has no active owner.", at=["project"])
    return membership.user


def _active_owners(project: Project) -> QuerySet[Membership]:
    return project.memberships.filter(role=ProjectRole.OWNER, user__is_active=True)


def audit(
    actor: str, action: str, object_id: object, *, project: Project | None = None
) -> None:
    AuditEntry.objects.create(
        project=project, actor=actor, action=action, object_id=str(object_id)
    )
