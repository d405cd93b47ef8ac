"""Answers `apply` before Django, for requests with a key; their checks and answers are the API's.

A loop calls it with every turn, and Django's work around a view takes longer than most of these
turns. There are no rules of its own here: anything that isn't answered, for whatever reason, goes
to Django, which refuses it or answers it from scratch.
"""

import asyncio
import re
import uuid
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from io import BytesIO
from typing import Any

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse
from django.utils.module_loading import import_string
from pydantic import ValidationError

from contextstudio.accounts.authentication import caller_by_key
from contextstudio.accounts.bodies import read_body, replay_body
from contextstudio.accounts.domain.errors import DomainError
from contextstudio.accounts.responses import json_answer, outage, problem_response
from contextstudio.database.outages import FAULTS
from contextstudio.database.thread_pool import in_thread
from threads.store.events import set_event_loop

from .api import apply_json

Scope = MutableMapping[str, Any]
Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
Header = tuple[bytes, bytes]

_PATH = re.compile(r"/api/sessions/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/apply")
_BY_DJANGO = frozenset({b"idempotency-key", b"if-match", b"transfer-encoding"})
"""Requests with these headers are left to Django."""


def with_apply(application: Application) -> Application:
    """An application that answers `apply` for keys and passes on everything else."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        # From here on no edit, by whatever door, waits for the channel layer.
        set_event_loop(asyncio.get_running_loop())
        asked = _apply_call(scope)
        if asked is None:
            await application(scope, receive, send)
            return
        session_id, headers = asked
        body = await read_body(receive)
        if body is None:
            return  # the client has disconnected
        response = await in_thread(_response, session_id, headers, body)
        if response is None:
            await application(scope, replay_body(body, receive), send)
        else:
            await _send(scope, response, send)

    return answer


def _apply_call(scope: Scope) -> tuple[uuid.UUID, Mapping[bytes, bytes]] | None:
    """The session id and headers if a key calls `apply`; None for anything else."""
    if (
        scope["type"] != "http"
        or scope["method"] != "POST"
        or scope.get("query_string")
    ):
        return None
    found = _PATH.fullmatch(scope["path"])
    pairs = [(name.lower(), value) for name, value in scope["headers"]]
    headers = dict(pairs)
    is_plain = len(headers) == len(pairs) and not _BY_DJANGO & headers.keys()
    if found is None or not is_plain or b"authorization" not in headers:
        return None
    return uuid.UUID(found[1]), headers


def _response(
    session_id: uuid.UUID, headers: Mapping[bytes, bytes], body: bytes
) -> HttpResponse | None:
    """The answer; None if Django is to refuse the request."""
    try:
        caller = caller_by_key(headers[b"authorization"].decode("latin-1"))
        client = headers.get(b"user-agent", b"").decode("latin-1")
        return json_answer(apply_json(caller, session_id, body, client))
    except (DomainError, ValidationError, RecursionError):
        return None
    except FAULTS as error:
        unavailable = outage(error)
        if unavailable is None:
            raise
        return problem_response(unavailable)


async def _send(scope: Scope, response: HttpResponse, send: Send) -> None:
    length = str(len(response.content)).encode()
    own = [(name.encode(), value.encode()) for name, value in response.items()]
    headers = [*own, *_headers(scope), (b"Content-Length", length)]
    start = {"type": "http.response.start", "status": response.status_code}
    await send({**start, "headers": headers})
    await send({"type": "http.response.body", "body": response.content})


def _empty(_: HttpRequest) -> HttpResponse:
    return HttpResponse()


_default_headers: dict[str, list[Header]] = {}


def _headers(scope: Scope) -> list[Header]:
    """The headers that Django adds to every answer, which depend only on the scheme."""
    scheme = scope.get("scheme", "http")
    if scheme not in _default_headers:
        handle: Callable[[HttpRequest], HttpResponse] = _empty
        for name in reversed(settings.ANSWER_MIDDLEWARE):
            handle = import_string(name)(handle)
        added = handle(ASGIRequest(dict(scope), BytesIO())).items()
        _default_headers[scheme] = [
            (name.encode(), value.encode())
            for name, value in added
            if name != "Content-Type"
        ]
    return _default_headers[scheme]
