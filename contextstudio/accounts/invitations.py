"""Invitations to projects: a link's page has a button that creates an account, or joins."""

import secrets
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from .credentials import token_digest
from .domain import errors
from .domain.caller import Caller
from .domain.rights import ProjectRole, Right
from .models import Invitation, Membership, Project, User
from .selectors import caller_of_user, require
from .services import audit, create_user
from .sign_in.passwords import hashed_password

LIFETIME = timedelta(days=7)
_PURPOSE = "invitation "
"""Prefix of what is hashed, so that a sign-in token's hash is never an invitation's."""


@transaction.atomic
def invite(
    caller: Caller, project: Project, role: ProjectRole, *, note: str = ""
) -> str:
    """Create a link; its token is returned only this once. Raises Forbidden without the right."""
    require(caller, Right.ADMIN, project.pk)
    if caller.user_id is None:
        raise errors.Forbidden("Only a person can invite people.")
    token = secrets.token_urlsafe(32)
    made = Invitation.objects.create(
        project=project,
        role=role.value,
        maker_id=caller.user_id,
        digest=token_digest(_PURPOSE + token),
        note=note[:100],
        expires_at=timezone.now() + LIFETIME,
    )
    audit(caller.actor, "invitation.create", made.pk, project=project)
    return token


def list_invitations(project: Project) -> list[Invitation]:
    """The unused links of a project, for a caller who may administer it."""
    rows = project.invitations.filter(expires_at__gt=timezone.now())
    return list(rows.select_related("maker").order_by("-pk"))


@transaction.atomic
def withdraw(caller: Caller, project: Project, invitation_id: int) -> None:
    """Invalidate a link. Raises Forbidden, or NotFound if it is used or gone."""
    require(caller, Right.ADMIN, project.pk)
    deleted, _ = project.invitations.filter(pk=invitation_id).delete()
    if not deleted:
        raise errors.NotFound("There is no such invitation.", at=["invitation_id"])
    audit(caller.actor, "invitation.withdraw", invitation_id, project=project)


def open_invitation(token: str) -> Invitation:
    """The invitation behind a link, which stays valid. Raises NotFound if it is used or expired."""
    rows = Invitation.objects.select_related("project", "maker")
    found = rows.filter(
        digest=token_digest(_PURPOSE + token), expires_at__gt=timezone.now()
    ).first()
    if found is None or not _may_invite(found):
        raise errors.NotFound("This invitation was used, withdrawn or has expired.")
    return found


def accept_with_account(
    token: str, *, username: str, display_name: str, password: str
) -> User:
    """Create an account and join with it. Raises NotFound, Invalid or Conflict with the place."""
    person = User(username=username, display_name=display_name)
    hashed = hashed_password(password, person, at="password")
    with transaction.atomic():
        found = _used(token)
        user = create_user(username, display_name=display_name)
        user.password = hashed
        user.save(update_fields=["password"])
        _join(found, user)
    return user


@transaction.atomic
def accept_as(token: str, user: User) -> None:
    """Join with an existing account; members keep their role. Raises NotFound."""
    _join(_used(token), user)


def role_in(project: Project, user: User) -> str | None:
    """The role of a person in a project; None for non-members."""
    rows = Membership.objects.filter(project=project, user=user)
    return rows.values_list("role", flat=True).first()


def _used(token: str) -> Invitation:
    """Use up an invitation, in this transaction: of two simultaneous uses, one succeeds."""
    found = open_invitation(token)
    deleted, _ = Invitation.objects.filter(pk=found.pk).delete()
    if not deleted:
        raise errors.NotFound("This invitation was used, withdrawn or has expired.")
    return found


def _may_invite(found: Invitation) -> bool:
    maker = found.maker
    return maker.is_active and caller_of_user(maker).may(Right.ADMIN, found.project_id)


def _join(found: Invitation, user: User) -> None:
    role = {"role": found.role}
    Membership.objects.get_or_create(project=found.project, user=user, defaults=role)
    audit(f"user:{user.pk}", "invitation.accept", found.pk, project=found.project)
