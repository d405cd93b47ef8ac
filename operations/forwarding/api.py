"""REST for what leaves: messages rewritten before a client sends them, and exports."""

import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from ninja import Router
from ninja.decorators import decorate_view

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import DomainError
from contextstudio.accounts.responses import json_answer

from . import answers, services
from .alignment import Inbound
from .answers import read_raw
from .schemas import ApplyIn, ApplyOut

Route = Callable[..., HttpResponseBase]
router = Router(tags=["operations"])


def _from_memory(route: Route) -> Route:
    """The route of `apply`, which reads a request only where its answer isn't known.

    For requests with a key alone: those of a browser bring a token that the route checks.
    What is refused is refused by the route too.
    """

    @wraps(route)
    def answer(request: HttpRequest, **values: Any) -> HttpResponseBase:
        known = _known(request, values["session_id"])
        return json_answer(known) if known else route(request, **values)

    return answer


def _known(request: HttpRequest, session_id: uuid.UUID) -> bytes | None:
    if "Authorization" not in request.headers:
        return None
    with suppress(DomainError, RequestDataTooBig):
        caller = caller_of(request)
        raw = read_raw(request.body)
        return answers.find(caller, session_id, raw) if raw else None
    return None


@router.post(
    "/sessions/{uuid:session_id}/apply",
    response=ApplyOut,
    operation_id="operations_api_apply",
)
@decorate_view(_from_memory)
def apply(request: HttpRequest, session_id: uuid.UUID, body: ApplyIn) -> HttpResponse:
    """Rewrite the messages that a client is about to send."""
    applied = services.apply(
        caller_of(request),
        session_id,
        Inbound(
            messages=body.messages,
            format=body.format,
            system=body.system,
            active_tags=None
            if body.active_tags is None
            else frozenset(body.active_tags),
            append=body.append,
            model=body.model or "",
            tools=body.tools or (),
            raw=read_raw(request.body),
        ),
    )
    return json_answer(applied)
