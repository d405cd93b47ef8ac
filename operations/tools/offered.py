"""The tools that the proxy adds to clients' requests, and the answers to their calls."""

import uuid
from functools import cache
from typing import Any

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import DomainError, problem
from contextstudio.accounts.responses import dump
from operations.forwarding.toolbox import CallAnswer, OfferedTool

from .schemas import brief, description, parameters
from .tool import TOOLS, Tool, call_once, chosen, read_call

_SAID = frozenset({"session_id", "project"})
"""Arguments that the conversation determines, so that the model isn't asked for them."""


class ProxyTools:
    """The table of tools, for a model whose session is the one that they act on."""

    def offered_tools(self, names: str) -> list[OfferedTool]:
        """The tools of these groups or names. Raises Invalid."""
        return [_offered(tool) for tool in chosen(names)]

    def answer(
        self, caller: Caller, session_id: uuid.UUID, name: str, arguments: Any
    ) -> CallAnswer:
        """Call a tool; a refusal is an answer too."""
        given = arguments
        if isinstance(given, dict) and "session_id" in TOOLS[name].model_fields:
            given = {"session_id": str(session_id)} | given
        try:
            answered = call_once(caller, read_call(name, given))
        except DomainError as error:
            return CallAnswer(dump(problem(error)).decode(), is_error=True)
        return CallAnswer(answered.body.decode(), is_error=answered.status >= 400)


@cache
def _offered(tool: type[Tool]) -> OfferedTool:
    """A tool without the arguments in `_SAID`; cached, because each request has all of them."""
    schema = parameters(tool)
    fields, required = schema["properties"], schema["required"]
    own = schema | {
        "properties": {
            name: field for name, field in fields.items() if name not in _SAID
        },
        "required": [name for name in required if name not in _SAID],
    }
    return OfferedTool(tool.name, description(tool), own, brief(tool))
