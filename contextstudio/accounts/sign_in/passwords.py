"""Signing in by name and password, and setting a password."""

from django.contrib.auth import authenticate
from django.contrib.auth.hashers import make_password
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest

from contextstudio.accounts.domain import errors
from contextstudio.accounts.models import SignInLink, User
from contextstudio.accounts.services import audit

from .tries import buckets_of, return_token, take_token


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

    Failed tries are counted, whether or not there is such a person (`buckets_of`); `browser` is
    what `known_browser` gave a browser in which this person has signed in before.
    """
    # Taken before the password is checked, and for unknown names too: the response must not tell
    # which names exist.
    buckets = buckets_of(username, address, browser)
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
def set_password(user: User, hashed: str) -> None:
    """Give a person another password, as `hashed_password` returns it.

    It ends their sessions in all browsers, and their unused sign-in links.
    """
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
