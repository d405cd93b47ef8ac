"""Inviting people to a project: links that make an account, or let one join, by a button."""

import secrets
from datetime import timedelta

from django.contrib.auth.hashers import make_password
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from .credentials import token_digest
from .domain import errors
from .domain.caller import Caller
from .domain.rights import ProjectRole, Right
from .models import Invitation, Membership, Project, User
from .selectors import caller_of_user, require
from .services import audit, create_user

LIFETIME = timedelta(days=7)
_PURPOSE = "invitation "
"""Begins what is hashed, so that a sign-in token's hash is never an invitation's."""


@transaction.atomic
def invite(
    caller: Caller, project: Project, role: ProjectRole, *, note: str = ""
) -> str:
    """The token of a new link, never to be had again. Raises Forbidden without the right."""
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
    """The links of a project that nobody has used, for one who may administer it."""
    rows = project.invitations.filter(expires_at__gt=timezone.now())
    return list(rows.select_related("maker").order_by("-pk"))


@transaction.atomic
def withdraw(caller: Caller, project: Project, invitation_id: int) -> None:
    """Make a link worthless. Raises Forbidden, or NotFound where it is used or gone."""
    require(caller, Right.ADMIN, project.pk)
    deleted, _ = project.invitations.filter(pk=invitation_id).delete()
    if not deleted:
        raise errors.NotFound("There is no such invitation.", at=["invitation_id"])
    audit(caller.actor, "invitation.withdraw", invitation_id, project=project)


def open_invitation(token: str) -> Invitation:
    """What a link invites to; it stays good. Raises NotFound for one that is used or has ended."""
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
    """Make an account and join with it. Raises NotFound, or Invalid and Conflict with the place."""
    try:
        validate_password(password, User(username=username, display_name=display_name))
    except ValidationError as error:
        raise errors.Invalid(" ".join(error.messages), at=["password"]) from error
    hashed = make_password(password)  # half a second, for which no transaction is open
    with transaction.atomic():
        found = _used(token)
        user = create_user(username, display_name=display_name)
        user.password = hashed
        user.save(update_fields=["password"])
        _join(found, user)
    return user


@transaction.atomic
def accept_as(token: str, user: User) -> None:
    """Join with the account that one has; who is a member keeps their role. Raises NotFound."""
    _join(_used(token), user)


def role_in(project: Project, user: User) -> str | None:
    """What somebody is in a project; None for who is no member."""
    rows = Membership.objects.filter(project=project, user=user)
    return rows.values_list("role", flat=True).first()


def _used(token: str) -> Invitation:
    """The invitation, used up in this transaction: of two who use it at once one gets in."""
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
