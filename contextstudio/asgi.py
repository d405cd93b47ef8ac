"""The ASGI application: guard → static files → MCP → Django; Channels over WebSockets."""

import gc
import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextstudio.settings")
_pages = get_asgi_application()

# Models may be imported only after Django is set up.
from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter

from operations.editor.routing import websocket_urlpatterns

from .mcp.mount import with_mcp
from .web.guard import HostGuard
from .web.static_files import with_static_files

application = HostGuard(
    ProtocolTypeRouter(
        {
            "http": with_static_files(with_mcp(_pages)),  # type: ignore[arg-type]  # a Mapping for a dict
            "websocket": AuthMiddlewareStack(URLRouter(websocket_urlpatterns)),
        }
    )
)

# What is loaded by now lives as long as the process, and a long thread is 100,000 objects: by
# Python's own measure a third of the time that it takes would go into looking for garbage.
gc.freeze()
gc.set_threshold(10_000, 10, 10)
