"""Which function does which kind of job. Apps register theirs in `AppConfig.ready`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Handler = Callable[..., dict[str, Any] | None]
"""`handler(context, **arguments)`: does the work outside of any transaction, gives the result."""

DEFAULT_QUEUE = "default"
PROVIDER_QUEUE = "provider"
"""Jobs that call a provider wait on a queue of their own, so that they hold up no others."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of job."""

    name: str
    handler: Handler
    queue: str = DEFAULT_QUEUE


_kinds: dict[str, Kind] = {}


def register(name: str, handler: Handler, *, queue: str = DEFAULT_QUEUE) -> None:
    """Say which function does the jobs of a kind; the last word counts."""
    _kinds[name] = Kind(name, handler, queue)


def kind_of(name: str) -> Kind:
    """The kind of this name. Raises LookupError where no app has registered it."""
    return _kinds[name]
