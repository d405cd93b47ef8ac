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
    """Perhaps read only where they are asked for."""
    format: str = "openai"
    system: Any = None
    active_tags: frozenset[str] | None = None
    append: bool = True
    model: str = ""
    """Empty: the session's."""
    tools: Sequence[dict[str, Any]] = ()
    raw: RawRequest | None = None
    """The same as it came in, where it can be read so."""
    door: str = "apply"
    """By which it came: `apply` or `proxy`."""
    client: str = ""
    """What its client calls itself (User-Agent)."""
    offers_recall: bool = False
    """Whether the proxy adds the tool that recalls to those of the client."""

    @property
    def can_recall(self) -> bool:
        """Whether the model has a tool that recalls. That its client has a key gives it none."""
        return self.offers_recall or has_recall(self.tools)

    @property
    def is_forwarded(self) -> bool:
        """Whether the proxy sends it: nobody is answered what goes out."""
        return self.door == "proxy"
