"""REST of what outlives a session's context, as one list of routers."""

from ninja import Router

from .hindsight.api import router as hindsight
from .pruning.api import router as pruning

ROUTERS: tuple[Router, ...] = (pruning, hindsight)
