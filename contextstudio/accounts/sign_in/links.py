"""One-time links that sign a person in."""

import secrets
from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from contextstudio.accounts.credentials import token_digest
from contextstudio.accounts.domain import errors
from contextstudio.accounts.models import SignInLink, User
from contextstudio.accounts.services import audit

LINK_LIFETIME = timedelta(days=1)


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
