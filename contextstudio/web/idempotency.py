"""`Idempotency-Key` for every route of the API that changes something."""

from collections.abc import Iterator
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from contextstudio.accounts import idempotency
from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import DomainError, Unauthenticated
from contextstudio.accounts.responses import outage, problem_response
from contextstudio.database.outages import FAULTS

from .guard import SAFE_METHODS

HEADER = "Idempotency-Key"
REPLAYED = "Idempotent-Replayed"


def idempotent(route: idempotency.Route) -> idempotency.Route:
    """A route that answers a repeat with the same key by the first response."""

    @wraps(route)
    def answer(request: HttpRequest, **values: Any) -> HttpResponseBase:
        key = request.headers.get(HEADER)
        if key is None or request.method in SAFE_METHODS:
            return route(request, **values)
        try:
            return _once(route, request, values, key)
        except Unauthenticated:
            return route(request, **values)
        except DomainError as refusal:
            return problem_response(refusal)
        except FAULTS as error:
            unavailable = outage(error)
            if unavailable is None:
                raise
            return problem_response(unavailable)

    return answer


def _once(
    route: idempotency.Route, request: HttpRequest, values: dict[str, Any], key: str
) -> HttpResponseBase:
    responses: list[HttpResponseBase] = []

    def run() -> idempotency.RecordedResponse:
        response = route(request, **values)
        responses.append(response)
        # For a response with a secret, what may be stored of it.
        content = getattr(response, "recorded_body", None) or b"".join(response)
        return idempotency.RecordedResponse(
            response.status_code, content, response["Content-Type"]
        )

    answer = idempotency.run_once(
        caller_of(request).actor,
        key,
        idempotency.digest(_pieces(request)),
        run,
        at=HEADER,
        reads_first=getattr(route, "reads_first", False),
    )
    if not answer.replayed:
        return responses[0]
    kind = answer.content_type
    replay = HttpResponse(answer.body, status=answer.status, content_type=kind)
    replay[REPLAYED] = "true"
    return replay


def _pieces(request: HttpRequest) -> Iterator[bytes]:
    """What identifies a request. Multipart boundaries are left out: they are random."""
    yield f"{request.method} {request.get_full_path()}".encode()
    if request.content_type != "multipart/form-data":
        yield request.body
        return
    for name, texts in sorted(request.POST.lists()):
        yield from (text.encode("utf-8", "surrogatepass") for text in (name, *texts))
    for name, files in sorted(request.FILES.lists()):
        for file in files:
            yield f"{name} {file.name}".encode()
            yield idempotency.digest(file.chunks()).encode()
            file.seek(0)
