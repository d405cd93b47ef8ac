"""Transports that run flows, blocking or async, and methods that both kinds of client share."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from functools import update_wrapper
from typing import (
    Any,
    Concatenate,
    Generic,
    ParamSpec,
    Protocol,
    TypeVar,
    overload,
)

import anyio
import httpx

from .errors import NotSent
from .exchange import Flow, Outcome, Settings, Wait, steps

P = ParamSpec("P")
T = TypeVar("T")
_CLOSED = "The client is closed."


class Blocking:
    """Runs flows with an `httpx.Client`; threads may share it."""

    def __init__(self, settings: Settings, http: httpx.Client) -> None:
        self.settings = settings
        self.http = http

    def run(self, flow: Flow[T]) -> T:
        """Run a flow and return its result. Raises StudioError."""
        running = steps(flow, self.settings)
        outcome: Outcome = None
        try:
            while True:
                step = running.send(outcome)
                outcome = None
                if isinstance(step, Wait):
                    time.sleep(step.seconds)
                    continue
                try:
                    outcome = self.http.send(step)
                except httpx.RequestError as error:
                    outcome = error
                except RuntimeError as error:
                    if not self.http.is_closed:
                        raise
                    raise NotSent(_CLOSED) from error
        except StopIteration as done:
            result: T = done.value
            return result
        finally:
            running.close()


class Awaiting:
    """Runs flows with an `httpx.AsyncClient`, on asyncio or trio; tasks may share it.

    A connection belongs to the event loop that opened it, so each loop has its own client.
    """

    def __init__(
        self, settings: Settings, make: Callable[[], httpx.AsyncClient]
    ) -> None:
        self.settings = settings
        self._make = make
        self._clients_by_loop: dict[
            asyncio.AbstractEventLoop | None, httpx.AsyncClient
        ] = {}
        self._is_closed = False

    async def close(self) -> None:
        """Close the connections of this loop; no further requests are possible."""
        self._is_closed = True
        opened_here = self._clients_by_loop.pop(_running_loop(), None)
        self._clients_by_loop.clear()
        if opened_here is not None:
            await opened_here.aclose()

    def _http(self) -> httpx.AsyncClient:
        if self._is_closed:
            raise NotSent(_CLOSED)
        loop = _running_loop()
        if loop not in self._clients_by_loop:
            for other in list(self._clients_by_loop):
                if other is not None and other.is_closed():
                    self._clients_by_loop.pop(other, None)
            self._clients_by_loop[loop] = self._make()
        return self._clients_by_loop[loop]

    async def run(self, flow: Flow[T]) -> T:
        """Run a flow and return its result. Raises StudioError."""
        http, running = self._http(), steps(flow, self.settings)
        outcome: Outcome = None
        try:
            while True:
                step = running.send(outcome)
                outcome = None
                if isinstance(step, Wait):
                    await anyio.sleep(step.seconds)
                    continue
                try:
                    outcome = await http.send(step)
                except httpx.RequestError as error:
                    outcome = error
                except RuntimeError as error:
                    if not http.is_closed:
                        raise
                    raise NotSent(_CLOSED) from error
        except StopIteration as done:
            result: T = done.value
            return result
        finally:
            running.close()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    """The running event loop; None on trio."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class HasBlocking(Protocol):
    """An object with a blocking transport."""

    transport: Blocking


class HasAwaiting(Protocol):
    """An object with an async transport."""

    transport: Awaiting


class call(Generic[P, T]):  # noqa: N801  # a decorator
    """Turns a flow into a method: a plain one of a blocking client, a coroutine of an async one."""

    def __init__(self, flow: Callable[Concatenate[Any, P], Flow[T]]) -> None:
        self.flow = flow
        self.__doc__ = flow.__doc__

    @overload
    def __get__(self, instance: HasBlocking, owner: Any) -> Callable[P, T]: ...
    @overload
    def __get__(
        self, instance: HasAwaiting, owner: Any
    ) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, instance: Any, owner: Any) -> Any:
        """The bound method for this client."""
        if instance is None:
            return self

        def bound(*args: P.args, **kwargs: P.kwargs) -> Any:
            return instance.transport.run(self.flow(instance, *args, **kwargs))

        return update_wrapper(bound, self.flow.__get__(instance, owner))
