"""Chooses the tools to add to a client's request, and adds them to its body."""

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

MAX_ROUNDS = 8
"""How often calls are answered before a client gets its reply. After that the model may not call
tools."""


class AnsweredRounds(NamedTuple):
    """What was answered since the client's request."""

    rounds: int = 0
    session_id: uuid.UUID | None = None
    """The session that the calls were made in."""


NO_ROUNDS = AnsweredRounds()


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """The tools offered with a request, and what is needed to query the provider again."""

    caller: Caller
    route: Route
    incoming: Incoming
    names: frozenset[str]
    before: int
    """How many messages come before those in the client's body."""
    answered: int
    """How often calls were answered since the client's request."""

    @property
    def is_last(self) -> bool:
        """Whether no more calls are answered."""
        return self.answered >= MAX_ROUNDS


def requested_tools(incoming: Incoming, target: Target) -> list[OfferedTool]:
    """The tools that a request should get: those in its header, or else its upstream's.

    Raises Invalid for an unknown name.
    """
    if any(name == TOOLS for name, _ in incoming.headers):
        return toolbox.offered_tools(incoming.header(TOOLS))
    return toolbox.offered_tools(target.tools)


def addable_tools(
    body: ForwardedBody, tools: Sequence[OfferedTool]
) -> list[OfferedTool]:
    """The tools that can be added to a body; if names collide, the client's own tool stays.

    Empty if the client's own tools are malformed, which the provider is to report, or if a
    compaction is requested instead of a reply.
    """
    if body.trailing:
        return []
    given = body.value.get("tools")
    given = [] if given is None else given
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        return []
    if not tools or not body.messages or not FORMS[body.form].suits(dict(body.value)):
        return []
    own = names_of(body.tools)
    return [tool for tool in tools if tool.name not in own]


def body_changes(
    body: ForwardedBody, tools: Sequence[OfferedTool], *, calls: bool
) -> dict[str, bytes | None]:
    """The changed members of a body with our tools. `calls`: whether the model may call tools."""
    form = FORMS[body.form]
    found: dict[str, bytes | None] = {"tools": form.with_tools(body.members, tools)}
    if not calls:
        name, value = form.without_calls(dict(body.value))
        found[name] = value
    return found
