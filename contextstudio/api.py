"""The REST API: authentication, parsers, renderers, and error handling.

The apps provide the routes. What applies to all of them is here: a key or the browser's session,
`Idempotency-Key`, and refusals as `application/problem+json` (RFC 9457).
"""

from typing import Any

from django.conf import settings
from django.db import Error
from django.http import Http404, HttpRequest, HttpResponse
from django.http.request import RawPostDataException
from ninja.errors import HttpError, ValidationError
from ninja.parser import Parser
from ninja.renderers import BaseRenderer
from ninja.security import APIKeyCookie, HttpBearer

from archive.api import ROUTERS as ARCHIVE
from operations.api import ROUTERS as OPERATIONS
from operations.domain.log.operation import EDITS
from threads.api import ROUTERS as THREADS

from .accounts.api import ROUTERS as ACCOUNTS
from .accounts.authentication import caller_of
from .accounts.domain.caller import Caller
from .accounts.domain.errors import (
    DomainError,
    Invalid,
    NotFound,
    Unauthenticated,
)
from .accounts.responses import dump, outage, problem_response, read_json, too_deep
from .accounts.shape import sentence, wrong_shape
from .web.idempotency import idempotent
from .web.openapi.description import DescribedAPI
from .web.preconditions import at_expected_head


class Key(HttpBearer):
    """`Authorization: Bearer cs_…`. With this header, cookies are never used for authentication."""

    def __call__(self, request: HttpRequest) -> Caller | None:
        """The holder of the key; None if no such header is sent."""
        return caller_of(request) if "Authorization" in request.headers else None

    def authenticate(self, request: HttpRequest, token: str) -> Caller:
        """The holder of the key."""
        return caller_of(request)


class Browser(APIKeyCookie):
    """The session of a signed-in browser, with its CSRF token for unsafe methods."""

    param_name = settings.SESSION_COOKIE_NAME

    def __call__(self, request: HttpRequest) -> Caller | None:
        """The person; None if the browser is not signed in."""
        if not request.user.is_authenticated:
            return None
        signed_in: Caller | None = super().__call__(request)
        return signed_in

    def authenticate(self, request: HttpRequest, key: str | None) -> Caller:
        """The person who is signed in."""
        return caller_of(request)


class JSONRenderer(BaseRenderer):
    """JSON by orjson; by the standard library if a text holds lone surrogates."""

    media_type = "application/json"

    def render(self, request: HttpRequest, data: Any, *, response_status: int) -> bytes:
        """Encode a response."""
        return dump(data)


class JSONParser(Parser):
    """JSON by orjson, which is strict; by the standard library only for lone surrogates."""

    def parse_body(self, request: HttpRequest) -> Any:
        """Parse the request's body. Raises Invalid if it isn't JSON."""
        return read_json(request.body)


api = DescribedAPI(
    title="ContextStudio",
    version="1",
    description=(
        "Read an agent's chat threads and restructure them; every operation can be undone. "
        "Version 1 may gain endpoints and fields, but existing ones do not change."
    ),
    auth=[Key(), Browser()],
    renderer=JSONRenderer(),
    parser=JSONParser(),
    openapi_url="/openapi.json",
    docs_url="/docs",
    urls_namespace="api",
)
# The second wraps the first: a repeat is answered whatever was recorded since.
api.add_decorator(at_expected_head, mode="view")
api.add_decorator(idempotent, mode="view")
# Routes set `operation_id`: version 1 promises it, wherever a route's code is.
for router in (*ACCOUNTS, *THREADS, *OPERATIONS, *ARCHIVE):
    api.add_router("", router)


@api.exception_handler(DomainError)
def refuse(request: HttpRequest, error: DomainError) -> HttpResponse:
    """Return a refusal as a problem document."""
    return problem_response(error)


@api.exception_handler(ValidationError)
def refuse_shape(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """Return a request's validation errors, each with its place."""
    return problem_response(wrong_shape(error.errors, place=_place))


@api.exception_handler(HttpError)
def refuse_otherwise(request: HttpRequest, error: HttpError) -> HttpResponse:
    """Return Ninja's own refusals: no credentials, a wrong CSRF token, or one from `JSONParser`."""
    if isinstance(error.__cause__, DomainError):
        return problem_response(error.__cause__)
    if error.status_code == 401:
        missing = Unauthenticated("Sign in, or send a key as a bearer token.")
        return problem_response(missing)
    refusal = DomainError(sentence(str(error)), code=f"http_{error.status_code}")
    refusal.status = error.status_code  # type: ignore[misc]  # the framework's, whatever it is
    return problem_response(refusal)


@api.exception_handler(Error)
@api.exception_handler(OSError)
def say_outage(request: HttpRequest, error: Error | OSError) -> HttpResponse:
    """Report a database that is locked or down, or a full disk; any other error is a bug."""
    unavailable = outage(error)
    if unavailable is None:
        raise error
    return problem_response(unavailable)


@api.exception_handler(RawPostDataException)
def refuse_form(request: HttpRequest, error: RawPostDataException) -> HttpResponse:
    """Refuse a form where JSON is wanted: it was read for its idempotency key."""
    refusal = Invalid("The body is not JSON: it is a form.", code="json_invalid")
    return problem_response(refusal)


@api.exception_handler(RecursionError)
def refuse_depth(request: HttpRequest, error: RecursionError) -> HttpResponse:
    """Refuse a body that could be parsed, but is nested too deeply to be processed."""
    return problem_response(too_deep())


@api.exception_handler(Http404)
def not_found(request: HttpRequest, error: Http404) -> HttpResponse:
    """Return 404 for an object that a view didn't find."""
    return problem_response(NotFound("There is no such object."))


def _place(location: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """The place in the request, without its source (body, query, path) and the parameter's name.

    Also without the kind of an edit, which pydantic counts as a step.
    """
    source, *rest = location
    is_named = source == "body" or (source == "form" and len(rest) > 1)
    inner = rest[1:] if is_named else rest
    return tuple(step for step in inner if step not in EDITS)
