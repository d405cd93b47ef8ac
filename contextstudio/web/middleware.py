"""What every page's answer has in common: it is not cached, and a refusal is readable."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.http import urlencode

from contextstudio.accounts.domain import errors
from contextstudio.accounts.responses import problem_response

from . import health

Handler = Callable[[HttpRequest], HttpResponseBase]


def counted_and_not_cached(get_response: Handler) -> Handler:
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
    """A DomainError that a page's view raises: the sentence, as a page or as a toast."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Let the view answer; a wrong method at the API is said as everything it refuses."""
        response = self.get_response(request)
        if response.status_code == 405 and request.path.startswith("/api/"):
            allowed = response.headers["Allow"]
            sentence = f"{request.method} is not allowed here; {allowed} is."
            answer = problem_response(errors.MethodNotAllowed(sentence))
            answer["Allow"] = allowed
            return answer
        return response

    def process_exception(
        self, request: HttpRequest, exception: Exception
    ) -> HttpResponseBase | None:
        """Answer a refusal; leave everything else, which is a bug, to Django."""
        if not isinstance(exception, errors.DomainError):
            return None
        if not isinstance(exception, errors.Unauthenticated):
            return refusal(request, exception.status, exception.message)
        # The sign-in page comes back to where one was.
        if request.headers.get("HX-Request"):
            answer = HttpResponse(status=401)
            answer["HX-Redirect"] = "/sign-in"
        elif request.method in ("GET", "HEAD"):
            return redirect(f"/sign-in?{urlencode({'next': request.get_full_path()})}")
        else:
            text = "Sign in first."
            answer = HttpResponse(text, status=401, content_type="text/plain")
        answer["WWW-Authenticate"] = "Bearer"
        return answer


def refusal(request: HttpRequest, status: int, message: str) -> HttpResponse:
    """A page that says why not, or for htmx the toast alone."""
    if request.headers.get("HX-Request"):
        toast = {"text": message, "level": "error"}
        answer = render(request, "parts/toast.html", toast, status=status)
        answer["HX-Retarget"] = "#toasts"
        answer["HX-Reswap"] = "beforeend"
        return answer
    page = {"message": message, "status": status}
    return render(request, "error.html", page, status=status)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    sentence = "This page is out of date; load it again and repeat the step."
    return refusal(request, 403, sentence)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The answer where no page is; under the API's addresses a problem document."""
    if request.path.startswith("/api/"):
        return problem_response(
            errors.NotFound("There is no such address.", at=["path"])
        )
    return refusal(request, 404, "There is no such page.")
