"""Checks that every connection must pass: Host, Origin, header names.

Django checks Host only where `CommonMiddleware` runs, and Channels and other mounts not at all.
This wrapper precedes all of them, so that a page of another site, or a name that was rebound to
this address, reaches nothing. See CVE-2026-3902 for headers with underscores.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
Header = tuple[bytes, bytes]

_OTHER_ORIGIN = "Requests from pages of another origin are refused."
_BEHIND_A_PROXY = (
    "If this page is this server's own, the proxy in front of it has to pass on the Host header "
    "as the browser sent it, port included."
)
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


class HostGuard:
    """An ASGI application that refuses what it can't trust and passes on the rest."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the connection on, or refuse it with 400 (Host) or 403 (Origin)."""
        if scope["type"] not in ("http", "websocket"):
            await self.application(scope, receive, send)
            return
        # `X_Name` would read as `X-Name`.
        headers = [pair for pair in scope["headers"] if b"_" not in pair[0]]
        refusal = _refusal(scope["type"], scope.get("method", ""), headers)
        if refusal is None:
            await self.application({**scope, "headers": headers}, receive, send)
        else:
            await _refuse(scope["type"], *refusal, send)


def _refusal(kind: str, method: str, headers: list[Header]) -> tuple[int, str] | None:
    """The status and message of a refusal, or None."""
    read = [(name.lower(), value.decode("latin-1")) for name, value in headers]
    hosts = [value.lower() for name, value in read if name == b"host"]
    origins = [value.lower() for name, value in read if name == b"origin"]
    domain = split_domain_port(hosts[0])[0] if len(hosts) == 1 else ""
    if not domain or not validate_host(domain, settings.ALLOWED_HOSTS):
        return 400, "This host name is not served here; see ALLOWED_HOSTS."
    if kind == "http" and method in SAFE_METHODS:
        return None
    if any(urlsplit(origin).netloc != hosts[0] for origin in origins):
        # The reason for closing a socket has at most 123 bytes.
        hint = "" if kind == "websocket" else f" {_BEHIND_A_PROXY}"
        return 403, f"{_OTHER_ORIGIN}{hint}"
    if kind == "websocket" and len(origins) != 1:
        return 403, "A WebSocket needs an Origin header."
    return None


async def no_such_socket(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer at unknown socket addresses: 404 before it is accepted if the server can, else 403."""
    await receive()
    if "websocket.http.response" not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close", "code": 4404})
        return
    body = b"There is no such socket."
    headers = [
        (b"content-type", b"text/plain"),
        (b"content-length", str(len(body)).encode()),
    ]
    start = {"type": "websocket.http.response.start", "status": 404}
    await send({**start, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body})


async def _refuse(kind: str, status: int, sentence: str, send: Send) -> None:
    """Refuse in the connection's protocol; closing a socket before it is accepted means 403."""
    if kind == "websocket":
        code = 4000 + status
        await send({"type": "websocket.close", "code": code, "reason": sentence})
        return
    body = sentence.encode()
    headers = [
        (b"content-type", b"text/plain"),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
