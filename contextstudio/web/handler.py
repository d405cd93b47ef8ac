"""Django's handler of requests, in which a view may end by any exception."""

from collections.abc import Callable
from typing import Any

from django.core.handlers.asgi import ASGIHandler

from contextstudio.database.thread_pool import ending


class Pages(ASGIHandler):
    """Runs views in a thread; one that a StopIteration leaves is answered as any other bug."""

    def make_view_atomic(self, view: Callable[..., Any]) -> Callable[..., Any]:
        """The view as it is called in its thread."""
        return ending(super().make_view_atomic(view))
