"""Common to all page responses: they are not cached, and refusals are readable."""

import sys
from collections.abc import Callable

from django.core.exceptions import SuspiciousOperation
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseServerError,
)
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import redirect, render
from django.template import loader
from django.utils.http import urlencode

from contextstudio.accounts.domain import errors
from contextstudio.accounts.responses import outage, problem_response
from contextstudio.database.outages import FAULTS

from . import health

Handler = Callable[[HttpRequest], HttpResponseBase]
HIDDEN = "It may have been deleted, or be in a project that you aren't a member of."
"""A hint for a missing page. It doesn't say which is true: that would reveal that it exists."""
_BEHIND_TLS = (
    "This page came by HTTPS, but the server was reached without it. The proxy in front of it has "
    "to send X-Forwarded-Proto, and FORWARDED_ALLOW_IPS has to name the proxy's address."
)
TITLES = {403: "Not allowed", 404: "Not found"}


def count_and_forbid_caching(get_response: Handler) -> Handler:
    """Keep pages out of every cache, shared or the browser's, unless a view says otherwise."""

    def handle(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        health.answers.add()
        if response.status_code >= 500:
            health.faults.add()
        response.headers.setdefault("Cache-Control", "private, no-store")
        return response

    return handle


class RefusalMiddleware:
    """Shows refusals on pages: the sentence, as a page or as a toast.

    A refusal is a DomainError raised by a view, or a request from a page drawn for somebody else.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Let the view respond; add a message for a wrong method, for which Django has none."""
        try:
            is_out_of_date = _is_from_other_user(request)
        except FAULTS as error:
            # Django would log it with a traceback, for each page that polls.
            if (unavailable := outage(error)) is None:
                raise
            return _say_outage(request, unavailable)
        if is_out_of_date:
            return _out_of_date(request)
        response = self.get_response(request)
        return (
            _wrong_method(request, response)
            if response.status_code == 405
            else response
        )

    def process_exception(
        self, request: HttpRequest, exception: Exception
    ) -> HttpResponseBase | None:
        """Respond to a refusal or an outage; leave everything else, a bug, to Django."""
        if (unavailable := outage(exception)) is not None:
            return _say_outage(request, unavailable)
        if _is_malformed(exception) and request.path.startswith("/api/"):
            return problem_response(_unreadable(exception))
        if not isinstance(exception, errors.DomainError):
            return None
        if not isinstance(exception, errors.Unauthenticated):
            is_link = request.method in ("GET", "HEAD")
            is_hidden = is_link and isinstance(exception, errors.NotFound)
            hint = HIDDEN if is_hidden else ""
            return refusal(request, exception.status, exception.message, hint=hint)
        # The sign-in page leads back to where one was; for a script's request the script knows.
        is_page = not request.headers.get("HX-Request")
        if is_page and request.method in ("GET", "HEAD"):
            return redirect(f"/sign-in?{urlencode({'next': request.get_full_path()})}")
        if is_page:
            sentence = "Sign in, then go back and repeat the step."
            answer = refusal(request, exception.status, sentence, title="Signed out")
        else:
            text = "Sign in first."
            answer = HttpResponse(text, status=401, content_type="text/plain")
        answer["WWW-Authenticate"] = "Bearer"
        return answer


def _is_malformed(exception: Exception) -> bool:
    """Whether Django found that a request's form or query can't be read, or has too many parts."""
    return isinstance(exception, MultiPartParserError | SuspiciousOperation)


def _unreadable(exception: Exception) -> errors.Invalid:
    hint = ""
    if isinstance(exception, MultiPartParserError):
        # The usual cause: a header set by hand has no boundary.
        hint = " Let your HTTP client set the Content-Type of a form."
    reason = str(exception).rstrip(".")
    return errors.Invalid(
        f"The request can't be read: {reason}.{hint}", code="form_invalid"
    )


def _is_from_other_user(request: HttpRequest) -> bool:
    """Whether the requesting page was drawn for another person than who is signed in now.

    Its form would be redrawn with the token of that person, and act as them.
    """
    drawn_for = request.headers.get("X-Person")
    if not drawn_for or not request.user.is_authenticated:
        return False
    return drawn_for != str(request.user.pk)


def _out_of_date(request: HttpRequest) -> HttpResponse:
    sentence = "This page is out of date; load it again and repeat the step."
    if request.user.is_authenticated:
        sentence = (
            f"This page is out of date: you are signed in as {request.user} by now."
            " Load it again and repeat the step."
        )
    return refusal(request, 403, sentence, title="Out of date")


def _wrong_method(request: HttpRequest, response: HttpResponseBase) -> HttpResponse:
    """A problem document for the API, else a page, for people who type or reload the address."""
    allowed = response.headers["Allow"]
    if request.path.startswith("/api/"):
        sentence = f"{request.method} is not allowed here; {allowed} is."
        answer = problem_response(errors.MethodNotAllowed(sentence))
    else:
        sentence = "This address is for forms and scripts; there is nothing to see."
        answer = refusal(request, response.status_code, sentence, title="Not a page")
    answer["Allow"] = allowed
    return answer


def refusal(
    request: HttpRequest, status: int, message: str, title: str = "", hint: str = ""
) -> HttpResponse:
    """A page that says why not, with a hint for signed-in people; for htmx only the toast."""
    if request.headers.get("HX-Request"):
        toast = {"text": message, "level": "error"}
        answer = render(request, "parts/toast.html", toast, status=status)
        answer["HX-Retarget"] = "#toasts"
        answer["HX-Reswap"] = "beforeend"
        return answer
    title = title or TITLES.get(status, "That didn't work")
    page = {"message": message, "title": title, "hint": hint}
    return render(request, "error.html", page, status=status)


def server_error(request: HttpRequest) -> HttpResponseBase:
    """The response to an error that neither views nor middleware handled.

    A request's user is looked up outside of views too, so that an outage can end up here.
    """
    unavailable = outage(sys.exc_info()[1] or Exception())
    if unavailable is not None:
        return _say_outage(request, unavailable)
    page = loader.render_to_string("500.html", {"theme": _theme_of(request)})
    return HttpResponseServerError(page)


def _theme_of(request: HttpRequest) -> str:
    """The chosen theme, for pages that are rendered without a request's context."""
    theme = request.COOKIES.get("theme", "")
    return theme if theme in ("light", "dark") else ""


def _say_outage(
    request: HttpRequest, unavailable: errors.Unavailable
) -> HttpResponseBase:
    """A page for a browser, a toast for htmx, else a problem document; none uses the database."""
    answer = problem_response(unavailable)
    if request.headers.get("HX-Request"):
        toast = refusal(request, unavailable.status, unavailable.message)
        toast["Retry-After"] = answer["Retry-After"]
        return toast
    if request.path.startswith("/api/") or not request.accepts("text/html"):
        return answer
    # An address for POST only can't be reloaded.
    may_reload = request.method in ("GET", "HEAD")
    told = {
        "message": unavailable.message,
        "may_reload": may_reload,
        "theme": _theme_of(request),
    }
    page = loader.render_to_string("503.html", told)
    seen = HttpResponse(page, status=unavailable.status)
    seen["Retry-After"] = answer["Retry-After"]
    return seen


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    # The guard has compared the hosts, so it is the scheme that differs: reloading doesn't help.
    origin = request.headers.get("Origin", "")
    if origin.startswith("https:") and not request.is_secure():
        return refusal(request, 403, _BEHIND_TLS, title="HTTPS ends before the server")
    return _out_of_date(request)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The response for an unknown address; a problem document for programs."""
    if request.path.startswith("/api/") or not request.accepts("text/html"):
        return problem_response(
            errors.NotFound(
                "There is no such address. Ids in addresses are UUIDs.", at=["path"]
            )
        )
    return refusal(request, 404, "There is no such page.")
