"""The ASGI application: guard → record of keys → limits → tokenizer → proxy → `apply` →
static files → MCP → Django.

WebSockets: none to providers → guard → Channels.
"""

import gc
import os
from typing import Any
from wsgiref.headers import Headers

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextstudio.settings")
_pages = get_asgi_application()

# Models may be imported only after Django is set up.
from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.urls import re_path
from servestatic import ServeStaticASGI

from operations.editor.consumers import websocket_urlpatterns
from operations.forwarding.mount import with_apply
from operations.forwarding.proxy.application import (
    lifespan,
    with_proxy,
    without_sockets,
)

from .mcp.mount import with_mcp
from .web.guard import HostGuard, no_such_socket
from .web.limits import Limits
from .web.request_log import RequestLog
from .web.tokenizer import with_tokenizer


def with_static_files(application: Any) -> Any:
    """The application behind the static files.

    In production they are what `collectstatic` gathered, with hashed names that never change.
    Otherwise they come straight from where the finders see them, and a browser asks each time
    whether they have changed, so that a start needs no collecting. Icons it shows without waiting
    for the answer: those of a notice that the server is gone would not come.
    """

    def harden(headers: Headers, path: str, url: str) -> None:
        headers["X-Content-Type-Options"] = "nosniff"
        headers["Content-Security-Policy"] = (
            "default-src 'none'; style-src 'self'; sandbox"
        )
        if url.endswith("/icons.svg") and not settings.PRODUCTION:
            headers["Cache-Control"] = (
                "max-age=0, public, stale-while-revalidate=604800"
            )

    served = ServeStaticASGI(
        application,
        autorefresh=settings.DEBUG,
        max_age=None if settings.PRODUCTION else 0,
        allow_all_origins=False,
        add_headers_function=harden,
    )
    roots = [(settings.STATIC_ROOT, settings.STATIC_URL)]
    if not settings.PRODUCTION:
        roots = [
            (
                storage.location,
                settings.STATIC_URL + (getattr(storage, "prefix", None) or ""),
            )
            for finder in get_finders()
            for storage in getattr(finder, "storages", {}).values()
        ]
    # Later ones win, where the first finder does in Django.
    for root, prefix in reversed(roots):
        served.add_files(root, prefix=prefix)
    return served


_behind_the_proxy = with_apply(with_static_files(with_mcp(_pages)))  # type: ignore[arg-type]  # a Mapping for a dict

# A client of a provider's sends no Origin with a WebSocket: it is told before the guard looks.
application = without_sockets(
    HostGuard(
        ProtocolTypeRouter(
            {
                "http": RequestLog(
                    Limits(with_tokenizer(with_proxy(_behind_the_proxy)))
                ),
                "websocket": AuthMiddlewareStack(
                    URLRouter([*websocket_urlpatterns, re_path("", no_such_socket)])  # type: ignore[arg-type]  # ASGI
                ),
                "lifespan": lifespan,
            }
        )
    )
)

# What is loaded by now lives as long as the process, and a long thread is 100,000 objects: by
# Python's own measure a third of the time that it takes would go into looking for garbage.
gc.freeze()
gc.set_threshold(10_000, 10, 10)
