"""Peers of `bench.forwarding.passing`: a Django view and a bare ASGI application.

Both pass a request on to a provider unchanged, and its reply back, with the HTTP client that the
proxy uses, without reading either. The bare one answers below `/bare`.
"""

import sys
from typing import Any

import httpcore
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import re_path

from bench.address_server import serve

_JSON = [(b"content-type", b"application/json")]
_pool = httpcore.AsyncConnectionPool(
    max_connections=100, network_backend=httpcore.AnyIOBackend()
)


async def provider_reply(body: bytes) -> bytes:
    """The provider's reply."""
    url = f"{sys.argv[1]}/v1/chat/completions"
    response = await _pool.request("POST", url, headers=_JSON, content=body)
    return response.content


async def view(request: HttpRequest) -> HttpResponse:
    """Pass a request on with Django."""
    reply = await provider_reply(request.body)
    return HttpResponse(reply, content_type="application/json")


async def bare(receive: Any, send: Any) -> None:
    """Pass a request on without Django."""
    pieces, more = [], True
    while more:
        message = await receive()
        pieces.append(message.get("body", b""))
        more = message.get("more_body", False)
    reply = await provider_reply(b"".join(pieces))
    headers = [*_JSON, (b"content-length", b"%d" % len(reply))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": reply})


def main() -> None:
    """Serve until stopped."""
    settings.configure(
        ALLOWED_HOSTS=["*"],
        ROOT_URLCONF=(re_path("", view),),
        DATA_UPLOAD_MAX_MEMORY_SIZE=None,
    )
    of_django = get_asgi_application()

    async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["path"].startswith("/bare"):
            await bare(receive, send)
        else:
            await of_django(scope, receive, send)

    serve(application)


if __name__ == "__main__":
    main()
