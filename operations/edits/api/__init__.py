"""REST of the edits: one router a resource."""

from ninja import Router

from .bundles import router as bundles
from .lenses import router as lenses
from .operations import router as operations
from .staging import router as staging

ROUTERS: tuple[Router, ...] = (operations, bundles, lenses, staging)
