"""Determines the caller of a request, by key or by browser session."""

from django.http import HttpRequest

from .domain.caller import Caller
from .domain.errors import Unauthenticated
from .keys.request_log import note_key
from .keys.services import note_use
from .models import User
from .selectors import caller_of_key, caller_of_user, find_key


def caller_of(request: HttpRequest) -> Caller:
    """The caller of a request, determined once. Raises Unauthenticated.

    A request with an `Authorization` header is authenticated by key, never by its cookies; a wrong
    key is refused even if the browser is signed in.
    """
    known = getattr(request, "_caller", None)
    if isinstance(known, Caller):
        return known
    header = request.headers.get("Authorization")
    if header is not None:
        caller = caller_by_key(header)
    elif isinstance(request.user, User):
        caller = caller_of_user(request.user)
    else:
        raise Unauthenticated("Sign in, or send a key as a bearer token.")
    request._caller = caller  # type: ignore[attr-defined]  # kept for this request
    return caller


def caller_by_key(header: str) -> Caller:
    """The caller who sent this `Authorization` header. Raises Unauthenticated."""
    scheme, _, text = header.partition(" ")
    return caller_by_secret(text.strip() if scheme.lower() == "bearer" else "")


def caller_by_secret(text: str) -> Caller:
    """The caller with this raw key (`cs_…`), for doors before Django. Raises Unauthenticated."""
    key = find_key(text) if text else None
    if key is None:
        raise Unauthenticated(
            "This key is unknown, revoked or expired. Create one on the Keys page.",
            code="key_invalid",
        )
    note_key(key.pk)
    note_use(key)
    return caller_of_key(key)
