"""The two clients: a blocking one and an async one."""

import os
from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, Self, TypeVar, Unpack, overload

import httpx

from .api import AnyApi, BundlesApi, OperationsApi, SessionsApi
from .exchange import Flow, Retries, Settings
from .requests import JSON
from .session_api import Named, SessionApi
from .transports import Awaiting, Blocking

T = TypeVar("T")
TIMEOUT = httpx.Timeout(60.0, connect=5.0)
"""Timeouts in seconds, for an answer and for connecting."""
LOCAL = "http://127.0.0.1:8000"
"""The address at which `make run` serves."""


class _BlockingPart:
    """A part of a blocking client."""

    def __init__(self, transport: Blocking) -> None:
        self.transport = transport


class _BlockingToolPart(_BlockingPart):
    """A part of a blocking client that can call tools."""

    @abstractmethod
    def _tool(self, name: str, arguments: JSON, shape: type[T]) -> Flow[T]: ...

    @overload
    def tool(self, name: str, /, **arguments: Any) -> JSON: ...
    @overload
    def tool(self, name: str, returns: type[T], /, **arguments: Any) -> T: ...
    def tool(self, name: str, returns: Any = dict, /, **arguments: Any) -> Any:
        """Call one of the agent's tools; returns its answer as a dict or as `returns`."""
        return self.transport.run(self._tool(name, arguments, returns))


class Sessions(_BlockingPart, SessionsApi):
    """The sessions that the key may see."""


class Operations(_BlockingPart, OperationsApi):
    """Operations, identified by their ids."""


class Bundles(_BlockingPart, BundlesApi):
    """Bundles, identified by their ids."""


class Session(SessionApi, _BlockingToolPart):
    """One session. `with` looks it up, or creates it if no session has this `external_id`."""

    def __init__(
        self, transport: Blocking, id: str | None, **named: Unpack[Named]
    ) -> None:
        _BlockingPart.__init__(self, transport)
        SessionApi.__init__(self, id, **named)

    def __enter__(self) -> Self:
        self.transport.run(self._ensure_id())
        return self

    def __exit__(self, *raised: object) -> None:
        """Do nothing: there is nothing to close."""


class Client(AnyApi, _BlockingToolPart):
    """A blocking client for a ContextStudio server. Threads may share it.

    Without `url` and `key` it uses `CONTEXTSTUDIO_URL` and `CONTEXTSTUDIO_KEY` from the
    environment. `http` is the caller's own httpx.Client, which is not closed. Every call raises
    StudioError.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: httpx.Timeout | float = TIMEOUT,
        retries: Retries | None = None,
        http: httpx.Client | None = None,
    ) -> None:
        self._owns_http = http is None
        http = http or httpx.Client(timeout=timeout)
        super().__init__(Blocking(_settings(url, key, retries), http))
        self.sessions = Sessions(self.transport)
        self.operations = Operations(self.transport)
        self.bundles = Bundles(self.transport)

    def session(self, id: str | None = None, /, **named: Unpack[Named]) -> Session:
        """One session, by its id or by your own `external_id`; created on first use."""
        return Session(self.transport, id, **named)

    def close(self) -> None:
        """Close the connections."""
        if self._owns_http:
            self.transport.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


class _AsyncPart:
    """A part of an async client."""

    def __init__(self, transport: Awaiting) -> None:
        self.transport = transport


class _AsyncToolPart(_AsyncPart):
    """A part of an async client that can call tools."""

    @abstractmethod
    def _tool(self, name: str, arguments: JSON, shape: type[T]) -> Flow[T]: ...

    @overload
    async def tool(self, name: str, /, **arguments: Any) -> JSON: ...
    @overload
    async def tool(self, name: str, returns: type[T], /, **arguments: Any) -> T: ...
    async def tool(self, name: str, returns: Any = dict, /, **arguments: Any) -> Any:
        """Call one of the agent's tools; returns its answer as a dict or as `returns`."""
        return await self.transport.run(self._tool(name, arguments, returns))


class AsyncSessions(_AsyncPart, SessionsApi):
    """The sessions that the key may see."""


class AsyncOperations(_AsyncPart, OperationsApi):
    """Operations, identified by their ids."""


class AsyncBundles(_AsyncPart, BundlesApi):
    """Bundles, identified by their ids."""


class AsyncSession(SessionApi, _AsyncToolPart):
    """One session. `async with` looks it up, or creates it."""

    def __init__(
        self, transport: Awaiting, id: str | None, **named: Unpack[Named]
    ) -> None:
        _AsyncPart.__init__(self, transport)
        SessionApi.__init__(self, id, **named)

    async def __aenter__(self) -> Self:
        await self.transport.run(self._ensure_id())
        return self

    async def __aexit__(self, *raised: object) -> None:
        """Do nothing: there is nothing to close."""


class AsyncClient(AnyApi, _AsyncToolPart):
    """An async client for a ContextStudio server; otherwise like `Client`."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: httpx.Timeout | float = TIMEOUT,
        retries: Retries | None = None,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self._owns_http = http is None
        make = _async_http_factory(timeout) if http is None else lambda: http
        super().__init__(Awaiting(_settings(url, key, retries), make))
        self.sessions = AsyncSessions(self.transport)
        self.operations = AsyncOperations(self.transport)
        self.bundles = AsyncBundles(self.transport)

    def session(self, id: str | None = None, /, **named: Unpack[Named]) -> AsyncSession:
        """One session, by its id or by your own `external_id`; created on first use."""
        return AsyncSession(self.transport, id, **named)

    async def close(self) -> None:
        """Close the connections."""
        if self._owns_http:
            await self.transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.close()


def _async_http_factory(
    timeout: httpx.Timeout | float,
) -> Callable[[], httpx.AsyncClient]:
    """A factory for httpx's clients; loading the CA certificates takes long, so it is done once."""
    context = httpx.create_ssl_context()
    return partial(httpx.AsyncClient, timeout=timeout, verify=context)


def _settings(url: str | None, key: str | None, retries: Retries | None) -> Settings:
    url = url or os.environ.get("CONTEXTSTUDIO_URL") or LOCAL
    # A key read from a file ends in a line break. A value that is invalid as a header would appear,
    # key and all, in the error of each request.
    key = (key or os.environ.get("CONTEXTSTUDIO_KEY") or "").strip()
    if not (key.isascii() and key.isprintable()):
        raise ValueError("The key has characters that no ContextStudio key has.")
    return Settings(url.strip().rstrip("/"), key, retries or Retries())
