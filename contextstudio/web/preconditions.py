"""`If-Match` for every route of the API that changes something.

Routes whose bodies have `expected_head` compare it themselves. For all others it is done here,
under the lock of the session in the path; what belongs to no session has no head, and refuses it.
"""

from functools import wraps
from typing import Any

from django.db import transaction
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import DomainError, Invalid, Unauthenticated
from contextstudio.accounts.idempotency import Route
from contextstudio.accounts.responses import problem_response
from operations.domain.log.expected import HeaderHead
from operations.log.transaction import refuse_stale
from operations.requests import expected_head
from threads.store.selectors import get_session

from .guard import SAFE_METHODS


def at_expected_head(route: Route) -> Route:
    """A route that changes nothing if the log is not at the entry that `If-Match` names."""

    @wraps(route)
    def answer(request: HttpRequest, **values: Any) -> HttpResponseBase:
        is_asked = HeaderHead.HEADER in request.headers
        is_compared_there = getattr(route, "takes_head", False)
        if not is_asked or is_compared_there or request.method in SAFE_METHODS:
            return route(request, **values)
        try:
            return _compared(route, request, values)
        except Unauthenticated:
            return route(request, **values)
        except DomainError as refusal:
            return problem_response(refusal)

    return answer


def _compared(
    route: Route, request: HttpRequest, values: dict[str, Any]
) -> HttpResponseBase:
    if "session_id" not in values:
        raise Invalid(
            f"{HeaderHead.HEADER} is for what belongs to a session; nothing was changed. Send the "
            "request without it.",
            at=[HeaderHead.HEADER],
        )
    head = expected_head(request, None)
    with transaction.atomic():
        session = get_session(caller_of(request), values["session_id"], lock=True)
        refuse_stale(session, head)
        answer = route(request, **values)
        if answer.status_code >= 400:
            transaction.set_rollback(True)
    return answer
