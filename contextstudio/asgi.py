"""The ASGI application.

guard → memory → record of keys → limits → tokenizer → proxy → `apply` → static files → MCP →
Django. WebSockets: none to providers → guard → Channels.
"""

import atexit
import gc
import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextstudio.settings")
django.setup(set_prefix=False)

# Models may be imported only after Django is set up.
from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from django.urls import re_path

from operations.editor.consumers import websocket_urlpatterns
from operations.forwarding.mount import with_apply
from operations.forwarding.proxy.application import (
    lifespan,
    with_proxy,
    without_websockets,
)

from .database.spare import spare
from .mcp.mount import with_mcp
from .memory import with_memory_returned
from .web.guard import HostGuard, no_such_socket
from .web.handler import Pages
from .web.limits import Limits
from .web.request_log import RequestLog
from .web.static_files import with_static_files
from .web.tokenizer import with_tokenizer

pages = Pages()
_behind_the_proxy = with_apply(with_static_files(with_mcp(pages)))  # type: ignore[arg-type]  # a Mapping for a dict

# Provider clients send no Origin with a WebSocket: they are answered before the guard looks.
application = without_websockets(
    HostGuard(
        ProtocolTypeRouter(
            {
                "http": with_memory_returned(
                    RequestLog(Limits(with_tokenizer(with_proxy(_behind_the_proxy)))),
                    free=spare.close,
                ),
                "websocket": AuthMiddlewareStack(
                    URLRouter([*websocket_urlpatterns, re_path("", no_such_socket)])  # type: ignore[arg-type]  # ASGI
                ),
                "lifespan": lifespan,
            }
        )
    )
)

spare.is_open = True
atexit.register(spare.close)

# What is loaded by now lives as long as the process, and a long thread is 100,000 objects: with
# Python's default thresholds a third of its time would go into garbage collection.
gc.freeze()
gc.set_threshold(10_000, 10, 10)
