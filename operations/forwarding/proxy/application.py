"""The entry point of the proxy, before Django: reads the request, then runs the exchange."""

import asyncio
from codecs import BOM_UTF8
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import replace
from typing import Any

from django.db import Error

from contextstudio.accounts.authentication import caller_by_key
from contextstudio.accounts.bodies import read_body
from contextstudio.accounts.credentials import sent_key
from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import DomainError, Forbidden, Unauthenticated
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.responses import PROBLEM, outage
from contextstudio.accounts.selectors import caller_of_actor
from contextstudio.database.outages import FAULTS
from contextstudio.database.thread_pool import in_thread
from operations.forwarding.upstreams.services import WireProvider
from threads.store.events import set_event_loop

from .incoming import Incoming
from .preparing import OutgoingRequest, prepare
from .problems import refusal_body
from .recording import Outcome, record_outcome
from .relay import LOST_ACCESS, AfterReply, ExchangeRelay, wait_for_exchanges
from .routes import Route, is_forwarded, route_of
from .tools.answering import settle
from .tools.offering import AnsweredRounds

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
_HTTP_ANSWER = "websocket.http.response"
"""The ASGI event with which a server can answer a WebSocket with HTTP, if it supports that."""


def with_proxy(application: Application) -> Application:
    """An application that forwards requests to providers' addresses and passes on the rest."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and is_forwarded(scope["path"]):
            await _forward(scope, receive, send)
        else:
            await application(scope, receive, send)

    return answer


async def lifespan(scope: Scope, receive: Receive, send: Send) -> None:
    """Make a stopping server wait until the exchanges that it cancelled are recorded.

    Uvicorn cancels them once its grace period is over, and then lets the signal end its process.
    """
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await wait_for_exchanges()
    await send({"type": "lifespan.shutdown.complete"})


class WebSocketNotForwarded(DomainError):
    """A WebSocket to a provider's address, which isn't forwarded."""

    status = 426
    default_code = "use_http"


def without_websockets(application: Application) -> Application:
    """An application that answers WebSockets to providers' addresses with 426.

    On this status Codex falls back to HTTP at once; on any other it retries first.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and is_forwarded(scope["path"]):
            await receive()
            await _refuse_socket(scope, send)
        else:
            await application(scope, receive, send)

    return answer


async def _refuse_socket(scope: Scope, send: Send) -> None:
    error = WebSocketNotForwarded(
        "ContextStudio forwards only HTTP, not WebSockets: use HTTP."
    )
    if _HTTP_ANSWER not in (scope.get("extensions") or {}):
        close = {"type": "websocket.close", "code": 4000 + error.status}
        await send({**close, "reason": error.message})
        return
    body = refusal_body(WireProvider.OPENAI, error)
    headers = [
        (b"content-type", PROBLEM.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"upgrade", b"HTTP/1.1"),
    ]
    start = {"type": f"{_HTTP_ANSWER}.start", "status": error.status}
    await send({**start, "headers": headers})
    await send({"type": f"{_HTTP_ANSWER}.body", "body": body})


async def _forward(scope: Scope, receive: Receive, send: Send) -> None:
    set_event_loop(asyncio.get_running_loop())
    headers = dict(scope["headers"])
    provider = (
        WireProvider.ANTHROPIC
        if b"anthropic-version" in headers
        else WireProvider.OPENAI
    )
    try:
        route = route_of(
            scope["method"], scope.get("raw_path") or scope["path"].encode(), headers
        )
        provider = route.provider
        key = sent_key(headers, scope["query_string"])
        body = await read_body(receive)
        if body is None:
            return  # the client has disconnected
        incoming = Incoming(
            method=scope["method"],
            query=scope["query_string"],
            headers=[(name.lower(), value) for name, value in scope["headers"]],
            # A byte order mark isn't part of JSON; other bodies may be anything.
            body=body.removeprefix(BOM_UTF8) if route.form else body,
        )
        actor, outgoing = await in_thread(_prepared, key, route, incoming)

        async def record(sent: OutgoingRequest, outcome: Outcome) -> AfterReply:
            try:
                return await in_thread(_recorded, sent, outcome)
            except Error as error:
                if sent.offer is not None or outage(error) is None:
                    raise
            # A database that was just restarted is back once a connection succeeds, and a reply
            # that it has already stored is recognised. Calls of tools might be answered twice, so
            # they are excluded.
            return await in_thread(_recorded, sent, outcome)

        async def is_allowed() -> bool:
            return await in_thread(_is_allowed, actor)

        await ExchangeRelay(outgoing, send, record, is_allowed).run(receive)
    except DomainError as error:
        await _refuse(provider, error, send)
    except FAULTS as error:
        unavailable = outage(error)
        if unavailable is None:
            raise
        await _refuse(provider, unavailable, send)


def _prepared(
    key: str | None, route: Route, incoming: Incoming
) -> tuple[str, OutgoingRequest]:
    """The caller's actor, and the request to send."""
    if key is None:
        raise Unauthenticated(
            "Send a ContextStudio key in place of the provider's key."
        )
    caller: Caller = caller_by_key(f"Bearer {key}")
    return caller.actor, prepare(caller, route, incoming)


def _is_allowed(actor: str) -> bool:
    """Whether the caller of a request in progress may still send requests."""
    try:
        return bool(caller_of_actor(actor).projects(Right.OWN_SESSION))
    except Error:
        return True  # the next check will tell


def _recorded(sent: OutgoingRequest, outcome: Outcome) -> AfterReply:
    """Record how a request ended; if calls of our tools were answered, also what to send next.

    Uses current rights: a key may be revoked, or a member leave, while a reply streams.
    """
    if sent.exchange is None:
        return AfterReply()
    caller = caller_of_actor(sent.exchange.caller.actor)
    exchange = replace(sent.exchange, caller=caller)
    if sent.offer is None:
        record_outcome(exchange, outcome)
        return AfterReply()
    offer = replace(sent.offer, caller=caller)
    settled = settle(offer, exchange, outcome)
    if not settled.asks_again:
        return AfterReply(hidden_calls=settled.hidden_calls)
    if not caller.projects(Right.OWN_SESSION):
        raise Forbidden(LOST_ACCESS)
    answered = AnsweredRounds(offer.answered + 1, exchange.session_id)
    again = prepare(offer.caller, offer.route, offer.incoming, answered)
    return AfterReply(next_request=again)


async def _refuse(provider: WireProvider, error: DomainError, send: Send) -> None:
    body = refusal_body(provider, error)
    headers = [
        (b"content-type", PROBLEM.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"x-content-type-options", b"nosniff"),
    ]
    if error.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if error.retry_after is not None:
        headers.append((b"retry-after", str(error.retry_after).encode()))
    start = {"type": "http.response.start", "status": error.status, "headers": headers}
    await send(start)
    await send({"type": "http.response.body", "body": body})
