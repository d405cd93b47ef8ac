"""A request on its way to a provider, by whichever door it came."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from operations.forwarding.raw import RawRequest
from operations.forwarding.toolbox import has_recall


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbound:
    """A request on its way to a provider."""

    messages: Sequence[dict[str, Any]]
    """May be parsed only on access."""
    format: str = "openai"
    system: Any = None
    active_tags: frozenset[str] | None = None
    append: bool = True
    model: str = ""
    """Empty means the session's model."""
    tools: Sequence[dict[str, Any]] = ()
    raw: RawRequest | None = None
    """The request as it came in, if it can be read that way."""
    door: str = "apply"
    """The door that it came by: `apply` or `proxy`."""
    client: str = ""
    """The client's User-Agent."""
    offers_recall: bool = False
    """Whether the proxy adds the recall tool to those of the client."""

    @property
    def can_recall(self) -> bool:
        """Whether the model has a tool that recalls. A client's key alone doesn't give it one."""
        return self.offers_recall or has_recall(self.tools)

    @property
    def is_forwarded(self) -> bool:
        """Whether the proxy sends it, so that nobody needs what goes out as an answer."""
        return self.door == "proxy"
