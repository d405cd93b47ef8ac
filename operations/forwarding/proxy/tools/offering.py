"""Tools of ours in a client's request: which, and how the body looks with them."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from contextstudio.accounts.domain.caller import Caller
from operations.forwarding import toolbox
from operations.forwarding.proxy.bodies import ForwardedBody
from operations.forwarding.proxy.headers import TOOLS
from operations.forwarding.proxy.incoming import Incoming
from operations.forwarding.proxy.routes import Route
from operations.forwarding.toolbox import OfferedTool, names_of
from operations.forwarding.upstreams.services import Target

from .forms import FORMS

MOST_ROUNDS = 8
"""How often calls are answered before a client has its reply; then it is asked without calls."""


class Answered(NamedTuple):
    """What was answered since the client asked."""

    rounds: int = 0
    session_id: uuid.UUID | None = None
    """The session that the calls were made in."""


NOT_YET = Answered()


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What was offered with a request, and what it takes to ask again."""

    caller: Caller
    route: Route
    incoming: Incoming
    names: frozenset[str]
    before: int
    """How many messages stand before those of the client's body."""
    answered: int
    """How often calls were answered since the client asked."""

    @property
    def is_last(self) -> bool:
        """Whether no more calls are answered."""
        return self.answered >= MOST_ROUNDS


def wanted(incoming: Incoming, target: Target) -> list[OfferedTool]:
    """The tools that a request is to get: those of its header, else its upstream's.

    Raises Invalid for a name that none has.
    """
    if any(name == TOOLS for name, _ in incoming.headers):
        return toolbox.offered(incoming.header(TOOLS))
    return toolbox.offered(target.tools)


def offered(body: ForwardedBody, tools: Sequence[OfferedTool]) -> list[OfferedTool]:
    """Those of the tools that a body can get: of two with one name the client's own stays.

    None where the client's own are malformed: what they are is for the provider to say. None
    where no reply is asked for but a compaction.
    """
    if body.behind:
        return []
    given = body.value.get("tools")
    given = [] if given is None else given
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        return []
    if not tools or not body.messages or not FORMS[body.form].suits(dict(body.value)):
        return []
    own = names_of(body.tools)
    return [tool for tool in tools if tool.name not in own]


def changes(
    body: ForwardedBody, tools: Sequence[OfferedTool], *, calls: bool
) -> dict[str, bytes | None]:
    """The members of a body with tools of ours. `calls`: whether the model may call any."""
    form = FORMS[body.form]
    found: dict[str, bytes | None] = {"tools": form.with_tools(body.members, tools)}
    if not calls:
        name, value = form.without_calls(dict(body.value))
        found[name] = value
    return found
