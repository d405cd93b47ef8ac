"""Both kinds of client with the same blocking interface, so that every test covers both."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import httpx
from anyio.from_thread import BlockingPortal, start_blocking_portal

from contextstudio_client import AsyncClient, Client, Retries

Answer = httpx.Response | Exception
Handler = Callable[[httpx.Request], httpx.Response]


class Awaited:
    """An async client, or a part of one, whose calls block."""

    def __init__(self, inner: Any, portal: BlockingPortal) -> None:
        self._inner, self._portal = inner, portal

    def __getattr__(self, name: str) -> Any:
        return self._plain(getattr(self._inner, name))

    def __enter__(self) -> "Awaited":
        self._portal.call(self._inner.__aenter__)
        return self

    def __exit__(self, *raised: object) -> None:
        self._portal.call(self._inner.__aexit__, *raised)

    def _plain(self, value: Any) -> Any:
        if inspect.ismethod(value) or inspect.isfunction(value):
            return lambda *args, **kwargs: self._plain(
                self._portal.call(self._called, value, args, kwargs)
            )
        is_part = type(value).__module__.endswith(".clients")
        return Awaited(value, self._portal) if is_part else value

    async def _called(self, method: Any, args: Any, kwargs: Any) -> Any:
        found = method(*args, **kwargs)
        return await found if inspect.isawaitable(found) else found


@contextmanager
def opened(
    kind: str, url: str, key: str, handler: Handler | None = None, **options: Any
) -> Iterator[Any]:
    """A client of this kind; with a handler nothing is sent, and the handler answers."""
    mock = httpx.MockTransport(handler) if handler else None
    if kind == "blocking":
        http = httpx.Client(transport=mock) if mock else None
        with Client(url, key, http=http, **options) as client:
            yield client
        return
    with start_blocking_portal() as portal:
        async_http = httpx.AsyncClient(transport=mock) if mock else None
        with Awaited(
            AsyncClient(url, key, http=async_http, **options), portal
        ) as found:
            yield found


class Script:
    """Returns prepared answers one after the other, and records the requests."""

    def __init__(self, *answers: Answer) -> None:
        self.answers: Sequence[Answer] = answers
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        answer = self.answers[len(self.requests)]
        self.requests.append(request)
        if isinstance(answer, Exception):
            raise answer
        # A response can be read only once, in one of the two ways.
        return httpx.Response(
            answer.status_code, headers=answer.headers, content=answer.content
        )


AT_ONCE = Retries(first=0)


def said(count: int) -> list[dict[str, Any]]:
    """A conversation of `count` messages."""
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "content": f"message {n}"} for n in range(count)]
