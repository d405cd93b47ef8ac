"""REST for what leaves: messages rewritten before a client sends them, and exports."""

import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Annotated, Any, Literal

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from ninja import Router
from ninja.decorators import decorate_view
from pydantic import BaseModel, Field

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import DomainError
from contextstudio.accounts.responses import json_answer
from contextstudio.accounts.shape import RequestBody
from operations.context.schemas import IssueOut, StepOut
from operations.edits.arguments import TagName
from threads.sessions.presentation import MessageData

from . import answers, services
from .alignment import Inbound
from .answers import read_raw

Route = Callable[..., HttpResponseBase]
router = Router(tags=["operations"])


class ApplyIn(RequestBody):
    """The request that a client is about to send."""

    messages: list[MessageData]
    format: Literal["openai", "anthropic"] = "openai"
    system: str | list[dict[str, Any]] | None = None
    tools: list[dict[str, Any]] | None = None
    model: str | None = None
    active_tags: list[TagName] | None = None
    append: bool = True


class SuspendedOut(BaseModel):
    """An operation that had nothing to act on in the request."""

    id: uuid.UUID
    reason: str


class ApplyTokens(BaseModel):
    """Tokens of what came in, and of what goes out."""

    before: int
    after: int


class ApplyOut(BaseModel):
    """The messages to send in place of those given."""

    messages: list[dict[str, Any]]
    system: Annotated[Any, Field(description="As it was given, or as changed.")] = None
    applied: list[uuid.UUID]
    suspended: list[SuspendedOut]
    issues: list[IssueOut]
    steps: list[StepOut]
    tokens: ApplyTokens
    session_id: uuid.UUID


def _from_memory(route: Route) -> Route:
    """The route of `apply`, which reads a request only where its answer isn't known.

    For requests with a key alone: those of a browser bring a token that the route checks.
    What is refused is refused by the route too.
    """

    @wraps(route)
    def answer(request: HttpRequest, **values: Any) -> HttpResponseBase:
        if "Authorization" in request.headers:
            with suppress(DomainError, RequestDataTooBig):
                caller = caller_of(request)
                raw = read_raw(request.body)
                known = answers.find(caller, values["session_id"], raw) if raw else None
                if known:
                    return json_answer(known)
        return route(request, **values)

    return answer


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
