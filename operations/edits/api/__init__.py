"""REST of the edits: one router a resource."""

from ninja import Router

from .lenses import router as lenses
from .operations import router as operations

ROUTERS: tuple[Router, ...] = (operations, lenses)
