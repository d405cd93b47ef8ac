"""The refusals that every door translates: a stable code, one sentence, the place."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from http import HTTPStatus
from typing import ClassVar

Place = tuple[str | int, ...]

MAX_LISTED = 40
"""The most names that a refusal lists; if there are more, it suggests the nearest."""


class DomainError(Exception):
    """A refused request. Any other exception is a bug.

    `code` is for programs and never changes; `message` is one sentence for people; `at` is the
    place in the request, spelled like pydantic's `loc`; `facts` are further members of the problem
    document (for a conflict: `operations`, `needs`, `head`); `retry_after` is the number of seconds
    after which the same request may succeed, if known.
    """

    status: ClassVar[int] = 400
    default_code: ClassVar[str] = "error"

    def __init__(
        self,
        message: str,
        *,
        at: Sequence[str | int] = (),
        code: str | None = None,
        facts: Mapping[str, object] | None = None,
        errors: Sequence["DomainError"] = (),
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.at: Place = tuple(at)
        self.code = code or self.default_code
        self.facts = dict(facts or {})
        self.errors = tuple(errors)
        self.retry_after = retry_after


class NotFound(DomainError):
    """The named object doesn't exist, or the caller may not know of it."""

    status = 404
    default_code = "not_found"


class Invalid(DomainError):
    """The request is malformed; `at` names the place."""

    status = 422
    default_code = "invalid"


class Conflict(DomainError):
    """The request is well formed, but conflicts with what is recorded."""

    status = 409
    default_code = "conflict"


class Forbidden(DomainError):
    """The caller can see the object but lacks the right."""

    status = 403
    default_code = "forbidden"


class MethodNotAllowed(DomainError):
    """The address exists, but doesn't support this method."""

    status = 405
    default_code = "method_not_allowed"


class Unauthenticated(DomainError):
    """No credentials, or wrong ones."""

    status = 401
    default_code = "unauthenticated"


class TooMany(DomainError):
    """The caller has made too many requests in too short a time."""

    status = 429
    default_code = "too_many_requests"


class Unavailable(DomainError):
    """The server can't answer now: something it needs is down or busy."""

    status = 503
    default_code = "unavailable"


def unknown_name(kind: str, name: object, known: Iterable[str]) -> str:
    """A sentence saying that a name is unknown, with the known ones or the nearest of them."""
    told = f"There is no {kind} {str(name)[:64]}"
    names = list(known)
    if len(names) > MAX_LISTED:
        nearest = get_close_matches(str(name)[:64], names)
        return (
            f"{told}. Did you mean {' or '.join(nearest)}?" if nearest else f"{told}."
        )
    if not names:
        return f"{told}."
    are = f"{kind}s are" if len(names) > 1 else f"only {kind} is"
    return f"{told}; the {are} {', '.join(names)}."


def problem(error: DomainError) -> dict[str, object]:
    """A refusal as the object that every door returns (RFC 9457 with our members).

    `{type, title, status, code, detail, at, errors: [{code, detail, at}]}` and the facts.

    `errors` lists every fault with its place; a single fault repeats the refusal itself.
    """
    return {
        "type": "about:blank",
        "title": HTTPStatus(error.status).phrase,
        "status": error.status,
        **_fault(error),
        "errors": [_fault(fault) | fault.facts for fault in error.errors]
        or [_fault(error)],
        **error.facts,
    }


def _fault(error: DomainError) -> dict[str, object]:
    return {"code": error.code, "detail": error.message, "at": list(error.at)}
