"""REST of all capabilities of operations, as one router."""

from ninja import Router

from .context.api import router as context
from .edits.api import ROUTERS as EDITS
from .exports.api import router as exports
from .find_replace.api import router as find_replace
from .forwarding.api import router as forwarding
from .forwarding.sent.api import router as sent
from .forwarding.upstreams.api import router as upstreams
from .ledger.api import router as ledger
from .log.api import router as log
from .messages.api import router as messages
from .notes.api import router as notes
from .snapshots.api import router as snapshots
from .tools.api import router as tools

ROUTERS: tuple[Router, ...] = (
    *(messages, log, *EDITS, notes, context, find_replace, exports, forwarding),
    *(sent, upstreams, ledger, snapshots, tools),
)
