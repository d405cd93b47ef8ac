"""REST of what outlives a session's context, as one list of routers."""

from ninja import Router

from .entries.api import router as entries
from .hindsight.api import router as hindsight
from .pruning.api import router as pruning
from .summaries.api import router as summaries
from .transfer.api import router as transfer
from .tray.api import router as tray

ROUTERS: tuple[Router, ...] = (
    *(entries, pruning, hindsight, summaries, transfer, tray),
)
