"""A Redis cache that may be unavailable: then nothing is stored, and nothing is found."""

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError, TimeoutError

from contextstudio.database.outages import DispensableServer

logger = logging.getLogger(__name__)


class FailSafeCache(RedisCache):
    """Behaves like an empty cache while Redis is unavailable: its content can be recomputed."""

    def add(self, *arguments: Any, **options: Any) -> bool:
        return bool(_attempt(partial(super().add, *arguments, **options), True))

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        return _attempt(partial(super().get, key, default, version), default)

    def set(self, *arguments: Any, **options: Any) -> None:
        _attempt(partial(super().set, *arguments, **options), None)

    def get_many(self, *arguments: Any, **options: Any) -> dict[Any, Any]:
        found: dict[Any, Any] = _attempt(
            partial(super().get_many, *arguments, **options), {}
        )
        return found

    def set_many(self, *arguments: Any, **options: Any) -> list[Any]:
        left: list[Any] = _attempt(partial(super().set_many, *arguments, **options), [])
        return left


def _attempt(ask: Callable[[], Any], without: Any) -> Any:
    """Redis's answer, or `without` if it is unavailable.

    A page asks several times. If Redis is down, each is refused at once; if it is frozen, the page
    waits only for the first.
    """
    if _server.is_silent():
        return without
    try:
        answer = ask()
    except RedisError as error:
        _server.failed(in_time=not isinstance(error, TimeoutError))
        return without
    _server.answered()
    return answer


_server = DispensableServer(logger, "The cache can't be reached; it is done without.")
"""One per process, which has a cache for each thread."""
