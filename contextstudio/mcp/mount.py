"""The door for the Model Context Protocol at `/mcp`, before Django: authentication, then MCP.

Streamable HTTP without sessions: every request is a POST with a key, answered with JSON. The
protocol's own code takes seconds and tens of megabytes to import, so it is imported by the first
request, not at the start.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any

from asgiref.sync import ThreadSensitiveContext
from channels.db import database_sync_to_async
from django.http import HttpResponse, QueryDict

from contextstudio.accounts.authentication import caller_by_key
from contextstudio.accounts.bodies import read_body, replay_body
from contextstudio.accounts.domain import errors
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.responses import outage, problem_response
from contextstudio.database.outages import FAULTS
from contextstudio.web.guard import Application, Receive, Scope, Send

PATH = "/mcp"
_PARAMETERS = ("tools",)
Serve = Callable[[Caller, Scope, Receive, Send], Awaitable[None]]


def with_mcp(application: Application) -> Application:
    """An application that serves the protocol at `/mcp`, and passes on everything else."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].rstrip("/") != PATH:
            await application(scope, receive, send)
            return
        # A context of its own, so that a request's database work doesn't queue behind another's.
        async with ThreadSensitiveContext():
            header = dict(scope["headers"]).get(b"authorization")
            try:
                if header is None:  # cookies don't count here
                    raise errors.Unauthenticated("Send a key as a bearer token.")
                find = database_sync_to_async(caller_by_key)
                caller: Caller = await find(header.decode("latin-1"))
                # There are no sessions to listen to or to end.
                if scope["method"] != "POST":
                    raise errors.MethodNotAllowed("This protocol takes POSTs only.")
                _refuse_unknown(scope["query_string"])
            except errors.DomainError as error:
                await _send(problem_response(error), send)
                return
            except FAULTS as error:
                unavailable = outage(error)
                if unavailable is None:
                    raise
                await _send(problem_response(unavailable), send)
                return
            # A client that cancels may leave so early that the protocol's code treats it as an
            # error.
            body = await read_body(receive)
            if body is None:
                return
            # In a thread: the import takes a second, during which the event loop must go on.
            serve = await asyncio.to_thread(_load)
            await serve(caller, scope, replay_body(body, receive), send)

    return answer


def _refuse_unknown(query: bytes) -> None:
    """Raise Invalid for an unknown query parameter: it might have been meant to choose tools."""
    for name in QueryDict(query):
        if name not in _PARAMETERS:
            words = errors.unknown_name("query parameter", name, _PARAMETERS)
            raise errors.Invalid(words, at=[name])


@cache
def _load() -> Serve:
    from .server import serve

    return serve


async def _send(response: HttpResponse, send: Send) -> None:
    response["Content-Length"] = str(len(response.content))
    pairs = response.items()
    headers = [(name.lower().encode(), value.encode()) for name, value in pairs]
    if response.status_code == 405:
        headers.append((b"allow", b"POST"))
    start: dict[str, Any] = {"type": "http.response.start", "headers": headers}
    await send({**start, "status": response.status_code})
    await send({"type": "http.response.body", "body": response.content})
