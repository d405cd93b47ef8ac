"""Connects to upstreams, only at addresses that were checked.

A host is resolved once per connection, every address that it has is checked, and one of these is
dialled; TLS and `Host` still use the name. Nothing is read from the environment (`HTTPS_PROXY`
and the like), no redirect is followed, and no cookies are kept: this is httpx's transport without
its client.
"""

import asyncio
import socket
import ssl
import time
import typing
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import cache
from weakref import WeakKeyDictionary

import anyio
import httpcore
from django.conf import settings

from .addresses import forbidden

MAX_CONNECTIONS = 2_000
KEPT_CONNECTIONS = 200
KEPT_FOR = {"https": 20.0, "http": 4.0}
"""How many seconds an idle connection is kept. Providers close theirs after a minute or more,
servers of models on one's own network after 5 seconds, as uvicorn does. A request on a connection
that is just being closed would fail."""
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


class AddressRefused(Exception):
    """A host has an address that may not be dialled; the message names neither."""


async def resolve(host: str, port: int) -> Sequence[str]:
    """The IP addresses of a host. Raises OSError if it has none."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


async def checked_addresses(
    host: str, port: int, find: Resolve = resolve
) -> Sequence[str]:
    """The addresses of a host, all of which may be dialled.

    Raises AddressRefused, and OSError if the host isn't known.
    """
    addresses = await find(host, port)
    if forbidden(addresses, private=settings.ALLOW_PRIVATE_UPSTREAMS) is not None:
        raise AddressRefused(
            "The upstream's address is in a network that may not be called."
        )
    return addresses


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """httpcore's network backend, with a check of addresses."""

    def __init__(
        self,
        network: httpcore.AsyncNetworkBackend | None = None,
        find: Resolve = resolve,
    ) -> None:
        self._network = network or httpcore.AnyIOBackend()
        self._find = find

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[typing.Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """A connection to one of a host's addresses, all of which were checked."""
        end = None if timeout is None else time.monotonic() + timeout
        try:
            with anyio.fail_after(timeout):
                addresses = await checked_addresses(host, port, self._find)
        except TimeoutError as error:
            raise httpcore.ConnectTimeout(
                "The name was not resolved in time."
            ) from error
        except OSError as error:
            raise httpcore.ConnectError("The name can't be resolved.") from error
        failure: Exception = httpcore.ConnectError("The name has no address.")
        for address in addresses:
            left = None if end is None else max(0.0, end - time.monotonic())
            try:
                return await self._network.connect_tcp(
                    address, port, left, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[typing.Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Always refused: no upstream is a Unix socket."""
        raise AddressRefused("An upstream is called by TCP.")

    async def sleep(self, seconds: float) -> None:
        """Wait between retries, for httpcore."""
        await self._network.sleep(seconds)


def new_pool(
    backend: httpcore.AsyncNetworkBackend, scheme: str = "https"
) -> httpcore.AsyncConnectionPool:
    """A pool of connections to upstreams: HTTP/1.1, one request at a time on each."""
    return httpcore.AsyncConnectionPool(
        max_connections=MAX_CONNECTIONS,
        max_keepalive_connections=KEPT_CONNECTIONS,
        keepalive_expiry=KEPT_FOR[scheme],
        retries=0,
        network_backend=backend,
        ssl_context=_trusted_authorities(),
    )


@cache
def _trusted_authorities() -> ssl.SSLContext:
    """The trusted certificate authorities, read once.

    Reading them for each connection would stall every stream of a process for a thirtieth of a
    second.
    """
    return httpcore.default_ssl_context()


_pools: WeakKeyDictionary[
    asyncio.AbstractEventLoop, dict[str, httpcore.AsyncConnectionPool]
] = WeakKeyDictionary()


def pool(scheme: str) -> httpcore.AsyncConnectionPool:
    """The connection pool of this event loop, with or without TLS."""
    pools = _pools.setdefault(asyncio.get_running_loop(), {})
    if scheme not in pools:
        pools[scheme] = new_pool(GuardedBackend(), scheme)
    return pools[scheme]
