"""The REST routers of the threads app."""

from ninja import Router

from .imports.api import router as imports
from .search.api import router as search
from .sessions.api import router as sessions

ROUTERS: tuple[Router, ...] = (imports, sessions, search)
