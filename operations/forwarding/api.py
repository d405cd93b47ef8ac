"""REST for what leaves: messages rewritten before a client sends them, and exports."""

import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import wraps
from typing import Annotated, Any, Literal

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from ninja import Router
from ninja.decorators import decorate_view
from pydantic import BaseModel, Field, ValidationError

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import DomainError
from contextstudio.accounts.responses import json_answer, json_response, read_json
from contextstudio.accounts.shape import RequestBody
from operations.context.schemas import InjectedOut, IssueOut, StepOut
from operations.edits.arguments import TagNames
from threads.sessions.presentation import MessageData

from . import answers, before_lock, continuation, services
from .alignment import Inbound
from .raw import RawRequest, read_raw
from .requests import records
from .requests.presentation import RequestPage, present_request

Route = Callable[..., HttpResponseBase]
router = Router(tags=["operations"])


class ApplyIn(RequestBody):
    """The request that a client is about to send."""

    messages: list[MessageData]
    """The whole conversation, as the client would send it."""
    format: Literal["openai", "anthropic"] = "openai"
    """The format of `messages`, and of the messages in the response."""
    system: str | list[dict[str, Any]] | None = None
    """The system prompt, if it stands beside the messages, as in Anthropic's format."""
    tools: list[dict[str, Any]] | None = None
    """The tools of the request."""
    model: str | None = None
    """The model that the request goes to; by default the session's."""
    active_tags: TagNames | None = None
    """Tags that are active for this request alone; by default the session's active tags."""
    append: bool = True
    """Whether to record messages that are new."""


class SuspendedOut(BaseModel):
    """An operation that didn't apply, because the request held nothing for it to act on."""

    id: uuid.UUID
    reason: str


class ApplyTokens(BaseModel):
    """Tokens of the messages in the request, and of those in the response."""

    before: int
    after: int


class ApplyOut(BaseModel):
    """The messages to send instead of those in the request."""

    messages: list[dict[str, Any]]
    system: Annotated[
        Any, Field(description="The system prompt to send, if the request had one.")
    ] = None
    applied: list[uuid.UUID]
    """Ids of the operations that applied."""
    suspended: list[SuspendedOut]
    issues: list[IssueOut]
    thinking_off: bool
    """Whether the provider would refuse these messages with `thinking` of type `enabled`: the
    response in progress lost the thinking that it must begin with (R6, R7)."""
    steps: list[StepOut]
    injected: list[InjectedOut]
    """The memos that were put before the history: at most five."""
    tokens: ApplyTokens
    session_id: uuid.UUID
    """The session of these messages: a linked one if they share none with the given session."""
    message_count: int
    """How many messages the session has now: the `expected_count` to append the reply with."""


def apply_json(
    caller: Caller, session_id: uuid.UUID, body: bytes, client: str
) -> bytes:
    """What `apply` answers to the body of a request, as JSON.

    One whose answer is known isn't read at all, and of one that goes on from the last only what is
    new. Raises ValidationError for another shape, and what `services.apply` raises; where a part
    alone was read, places are those in it.
    """
    further = continuation.find_continued(session_id, body)
    raw = further.request if further else read_raw(body)
    found = answers.find(caller, session_id, raw) if raw else None
    if found is not None:
        return found
    given = ApplyIn.model_validate(read_json(further.rest if further else body))
    return _apply_raw(caller, session_id, given, raw, client)


def _with_raw_body(route: Route) -> Route:
    """The route of `apply`, which reads of a request only what isn't known.

    For requests with a key alone: those of a browser bring a token that the route checks.
    What is refused is refused by the route too, with its places.
    """

    @wraps(route)
    def answer(request: HttpRequest, **values: Any) -> HttpResponseBase:
        if "Authorization" in request.headers and not request.GET:
            with suppress(
                DomainError, RequestDataTooBig, ValidationError, RecursionError
            ):
                caller, client = caller_of(request), _client(request)
                session_id = uuid.UUID(values["session_id"])
                return json_answer(apply_json(caller, session_id, request.body, client))
        return route(request, **values)

    return answer


@router.post(
    "/sessions/{uuid:session_id}/apply",
    response=ApplyOut,
    operation_id="operations_api_apply",
    summary="Apply operations to a request",
)
@decorate_view(_with_raw_body)
def apply(request: HttpRequest, session_id: uuid.UUID, body: ApplyIn) -> HttpResponse:
    """Rewrite the messages that a client is about to send, as the session's operations say."""
    caller, raw = caller_of(request), read_raw(request.body)
    return json_answer(_apply_raw(caller, session_id, body, raw, _client(request)))


def _client(request: HttpRequest) -> str:
    """What a client calls itself."""
    return request.headers.get("User-Agent", "")


def _apply_raw(
    caller: Caller,
    session_id: uuid.UUID,
    body: ApplyIn,
    raw: RawRequest | None,
    client: str,
) -> bytes:
    """What `apply` answers; `body` holds the messages that `raw` doesn't know."""
    tags = body.active_tags
    messages: Sequence[dict[str, Any]] = body.messages
    if raw is not None and raw.known_beginning is not None:
        messages = continuation.LazyMessages(raw, body.messages)
    inbound = Inbound(
        messages=messages,
        format=body.format,
        system=body.system,
        active_tags=None if tags is None else frozenset(tags),
        append=body.append,
        model=body.model or "",
        tools=body.tools or (),
        raw=raw,
        client=client,
    )
    prepared = before_lock.prepare(caller, session_id, inbound)
    return services.apply(caller, session_id, inbound, prepared=prepared).answer


@router.get(
    "/sessions/{uuid:session_id}/requests",
    response=RequestPage,
    operation_id="operations_api_requests",
    summary="List requests",
)
def requests(
    request: HttpRequest,
    session_id: uuid.UUID,
    cursor: str | None = None,
    limit: int | None = None,
) -> HttpResponse:
    """The requests that clients made in a session, the newest first."""
    caller = caller_of(request)
    found = records.list_requests(caller, session_id, cursor=cursor, limit=limit)
    items = [present_request(row) for row in found.items]
    return json_response({"items": items, "next_cursor": found.next_cursor})
