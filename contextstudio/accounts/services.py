"""Accounts: people, projects, keys and sign-in. Every change is recorded for audit."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from ipaddress import ip_address, ip_network
from typing import Any

from django.contrib.auth import authenticate
from django.contrib.auth.hashers import make_password
from django.contrib.auth.password_validation import validate_password
from django.core import signing
from django.core.exceptions import ValidationError
from django.core.validators import ProhibitNullCharactersValidator, slug_re
from django.db import IntegrityError, transaction
from django.db.models import F, Model, QuerySet, Value
from django.db.models.functions import Least
from django.http import HttpRequest
from django.utils import timezone

from .credentials import token_digest
from .domain import errors
from .domain.caller import Caller
from .domain.rights import ProjectRole, Right
from .models import (
    AuditEntry,
    Membership,
    Project,
    SignInLink,
    TokenBucket,
    User,
)
from .selectors import caller_of_actor, get_project

LINK_LIFETIME = timedelta(days=1)
FIRST_USER = "owner"
FIRST_PROJECT = "demo"

_TRIES_AT_ONE_PLACE = 10
"""For one name from one address, or from a known browser."""
_TRIES_PER_NAME = 100
_TRIES_PER_ADDRESS = 300
_ONE_MORE_TRY = timedelta(seconds=30)
_ONE_MORE_FROM_ADDRESS = timedelta(seconds=2)
_KNOWN_BROWSER = "contextstudio.known-browser"
KNOWN_FOR = timedelta(days=180)


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
def create_sign_in_link(user: User) -> str:
    """Create a one-time link and return its token; the person's earlier links stop working."""
    SignInLink.objects.filter(user=user, used_at=None).delete()
    token = secrets.token_urlsafe(32)
    digest, expires_at = token_digest(token), timezone.now() + LINK_LIFETIME
    SignInLink.objects.create(user=user, digest=digest, expires_at=expires_at)
    return token


def redeem_sign_in_link(token: str) -> User:
    """Sign in by a link, using it up; of two simultaneous uses, one succeeds."""
    link = _unused_links(token).select_related("user").first()
    if link is None:
        raise _spent()
    # The filter is part of the update, so only one of two simultaneous requests changes the row. It
    # filters that row directly: in a subquery PostgreSQL would not see the other's change.
    if not SignInLink.objects.filter(pk=link.pk, used_at=None).update(
        used_at=timezone.now()
    ):
        raise _spent()
    audit(f"user:{link.user_id}", "sign-in.link", link.pk)
    return link.user


def _unused_links(token: str) -> QuerySet[SignInLink]:
    return SignInLink.objects.filter(
        digest=token_digest(token),
        used_at=None,
        expires_at__gt=timezone.now(),
        user__is_active=True,
    )


def _spent() -> errors.Unauthenticated:
    sentence = "This sign-in link has been used or has expired."
    return errors.Unauthenticated(sentence, code="link_spent")


def open_sign_in_link(token: str) -> User:
    """The person whom a link would sign in; the link stays valid. Raises Unauthenticated."""
    link = _unused_links(token).select_related("user").first()
    if link is None:
        raise _spent()
    return link.user


def sign_in(
    request: HttpRequest, *, username: str, password: str, address: str, browser: str
) -> User:
    """The person with this name and password, for the sign-in page. Raises as `check_password`."""
    user = check_password(
        request, username=username, password=password, address=address, browser=browser
    )
    audit(f"user:{user.pk}", "sign-in.password", user.pk)
    return user


def check_password(
    request: HttpRequest, *, username: str, password: str, address: str, browser: str
) -> User:
    """The person with this name and password. Raises Unauthenticated or TooMany.

    Failed tries are counted, whether or not there is such a person (`_buckets`); `browser` is what
    `known_browser` gave a browser in which this person has signed in before.
    """
    # Taken before the password is checked, and for unknown names too: the response must not tell
    # which names exist.
    buckets = _buckets(username, address, browser)
    for key, capacity, refill in buckets:
        if not take_token(key, capacity=capacity, refill=refill):
            raise errors.TooMany(
                "Too many attempts; wait a minute, then try again.",
                code="too_many_tries",
                retry_after=60,
            )
    user = authenticate(request, username=username, password=password)
    if not isinstance(user, User):
        raise errors.Unauthenticated(
            "The username or the password is wrong.", code="wrong_password"
        )
    for key, capacity, _ in buckets:
        return_token(key, capacity=capacity)
    return user


@transaction.atomic
def rename_user(user: User, display_name: str) -> None:
    """Change the name that others see; empty for the username. Raises Invalid."""
    refuse_unfit(User, display_name=display_name)
    user.display_name = display_name
    user.save(update_fields=["display_name"])
    audit(f"user:{user.pk}", "user.rename", user.pk)


def set_password(user: User, hashed: str) -> None:
    """Give a person another password, as `hashed_password` returns it.

    It ends their sessions in all browsers, and their unused sign-in links.
    """
    with transaction.atomic():
        user.password = hashed
        user.save(update_fields=["password"])
        SignInLink.objects.filter(user=user, used_at=None).delete()
        audit(f"user:{user.pk}", "user.password", user.pk)


def hashed_password(password: str, user: User, *, at: str) -> str:
    """The hash of a new password. Raises Invalid if it is too weak for this person.

    It takes half a second, so it belongs outside any transaction.
    """
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise errors.Invalid(" ".join(error.messages), at=[at]) from error
    return make_password(password)


def known_browser(user: User) -> str:
    """A token for the cookie of a browser in which a person has signed in, to recognise it."""
    return signing.dumps(
        [user.pk, secrets.token_urlsafe(12)], salt=_KNOWN_BROWSER, compress=False
    )


def _buckets(
    username: str, address: str, browser: str
) -> list[tuple[str, int, timedelta]]:
    """The buckets that a try takes from: key, capacity, and refill time per token.

    Guessing from many addresses is limited per name, and trying many names per address. Neither
    limit applies to a browser in which the person has signed in before, so that nobody can lock out
    another person, or an office behind one address.
    """
    name = token_digest(username.casefold())[:32]
    try:
        user_id, nonce = signing.loads(browser, salt=_KNOWN_BROWSER, max_age=KNOWN_FOR)
        is_known = User.objects.filter(pk=user_id, username=username).exists()
    except (signing.BadSignature, ValueError, TypeError):
        is_known = False
    if is_known:
        return [(f"sign-in browser {nonce}", _TRIES_AT_ONE_PLACE, _ONE_MORE_TRY)]
    place = _network(address)
    return [
        (f"sign-in {name} {place}", _TRIES_AT_ONE_PLACE, _ONE_MORE_TRY),
        (f"sign-in name {name}", _TRIES_PER_NAME, _ONE_MORE_TRY),
        (f"sign-in address {place}", _TRIES_PER_ADDRESS, _ONE_MORE_FROM_ADDRESS),
    ]


def _network(address: str) -> str:
    """An address as assigned to one subscriber: for IPv6 the first half, as they have the rest."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return "unknown"
    if parsed.version == 6 and (mapped := getattr(parsed, "ipv4_mapped", None)):
        return str(mapped)
    prefix = 64 if parsed.version == 6 else 32
    return str(ip_network(f"{parsed}/{prefix}", strict=False).network_address)


@transaction.atomic
def take_token(key: str, *, capacity: int, refill: timedelta) -> bool:
    """Take one token; returns False if none is left.

    A bucket starts full with `capacity` tokens and gets one back every `refill`. Simultaneous
    requests are served one after another, so that the count is exact. Setting the clock back takes
    no tokens, and missing ones are refilled from then on.
    """
    now = timezone.now()
    full = {"level": capacity, "updated_at": now}
    TokenBucket.objects.get_or_create(key=key, defaults=full)
    bucket = TokenBucket.objects.select_for_update().get(pk=key)
    passed = max(timedelta(0), now - bucket.updated_at)
    level = min(capacity, bucket.level + passed / refill)
    is_there = level >= 1
    bucket.level, bucket.updated_at = level - is_there, now
    bucket.save()
    return is_there


def return_token(key: str, *, capacity: int) -> None:
    """Return a token: the try doesn't count."""
    bucket = TokenBucket.objects.filter(pk=key)
    bucket.update(level=Least(F("level") + 1, Value(float(capacity))))


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
