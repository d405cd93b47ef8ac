"""The only way from litellm to the network: checked addresses, no redirects, no proxies.

An httpx transport over httpcore that records how the exchange went: litellm translates
errors, takes a broken stream for a complete one, and would follow a redirect with the key.
"""

import json
import re
import socket
import typing
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpcore
import httpx

from operations.forwarding.upstreams.addresses import forbidden

from . import plain
from .outcome import Failure
from .plain import PlainAnswer

_MAX_DETAIL_LENGTH = 300
_MAX_WAIT_SECONDS = 999_999.0
"""Seconds; the same limit as for a `Retry-After` given in seconds."""
_ENDS = re.compile(
    rb"\[DONE\]|\"?message_stop|\"finishReason\"|\"finish_reason\"\s*:\s*\""
)
"""What providers send at the end of a complete stream."""
_OVERLAP = 40
"""Bytes kept of earlier pieces; more than the longest match, as a piece may end within one."""


class AddressForbidden(httpcore.ConnectError):
    """Raised if a host has an address that may not be dialled."""


class GuardedNetwork(httpcore.NetworkBackend):
    """httpcore's network backend, with a check of the addresses it connects to."""

    def __init__(self, *, private: bool) -> None:
        self._network = httpcore.SyncBackend()
        self._private = private

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[typing.Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to one of a host's addresses, after checking all of them."""
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise httpcore.ConnectError("The name can't be resolved.") from error
        addresses = list(dict.fromkeys(str(address[0]) for *_, address in found))
        if forbidden(addresses, private=self._private) is not None:
            raise AddressForbidden
        failure: Exception = httpcore.ConnectError("The name has no address.")
        for address in addresses:
            try:
                return self._network.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure


class Transport(httpx.BaseTransport):
    """Sends one request after the other, and records how the last one went."""

    def __init__(self, *, private: bool) -> None:
        self._pool = httpcore.ConnectionPool(
            retries=0, network_backend=GuardedNetwork(private=private)
        )
        self.status: int | None = None
        self.retry_after: float | None = None
        self._failure: Failure | None = None
        self._body = bytearray()
        self._is_whole = self._is_plain = False

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; only the head of the response is read. Raises httpx.TransportError."""
        asked = httpcore.Request(
            method=request.method,
            url=httpcore.URL(
                scheme=request.url.raw_scheme,
                host=request.url.raw_host,
                port=request.url.port,
                target=request.url.raw_path,
            ),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        try:
            answer = self._pool.handle_request(asked)
        except AddressForbidden as error:
            raise self._failed(Failure.ADDRESS) from error
        except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
            raise self._failed(Failure.UNREACHABLE) from error
        except (httpcore.TimeoutException, httpcore.NetworkError) as error:
            raise self._failed(Failure.SILENT) from error
        except httpcore.ProtocolError as error:
            raise self._failed(Failure.BROKEN) from error
        self.status = answer.status
        head = {name.lower(): value for name, value in answer.headers}
        self.retry_after = _seconds(
            head.get(b"retry-after", b""), head.get(b"date", b"")
        )
        kind = head.get(b"content-type", b"").lower()
        self._is_plain = answer.status < 300 and b"application/json" in kind
        if 300 <= answer.status < 400:
            answer.close()
            raise self._failed(Failure.REDIRECT)
        stream = _Stream(self, answer)
        return httpx.Response(answer.status, headers=answer.headers, stream=stream)

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()

    @property
    def failure(self) -> Failure | None:
        """Why there is no complete answer; None if there is one."""
        if self._failure is not None or self.status is None:
            return self._failure or Failure.UNREACHABLE
        match self.status:
            case 401 | 403:
                return Failure.KEY
            case 404:
                return Failure.MODEL
            case 429:
                return Failure.BUSY
            case status if status >= 500:
                return Failure.FAULT
            case status if status >= 400:
                return Failure.REFUSED
        return None if self._is_whole else Failure.BROKEN

    def detail(self, key: str) -> str:
        """The provider's error message on one short line, with the key removed if it is quoted.

        Everybody in the project can read it.
        """
        if self.status is None or self.status < 400:
            return ""
        try:
            told: Any = json.loads(bytes(self._body))
        except ValueError:
            return ""
        for _ in range(3):
            if isinstance(told, list) and told:
                told = told[0]
            if isinstance(told, dict):
                told = told.get("error") or told.get("message") or told.get("detail")
        if not isinstance(told, str):
            return ""
        told = told.replace(key, "…") if key else told
        return " ".join(told.split())[:_MAX_DETAIL_LENGTH]

    def plain(self) -> PlainAnswer | None:
        """The answer, if it came whole although a stream was requested."""
        return plain.read(bytes(self._body)) if self._is_plain else None

    def take(self, piece: bytes) -> None:
        """Examine a piece of the response's body as it passes."""
        self._body += piece
        if _ENDS.search(self._body):
            self._is_whole = True
        if self._is_plain:
            self._is_plain = len(self._body) <= plain.MAX_BYTES
        elif self.status is not None and self.status < 400:
            del self._body[:-_OVERLAP]
        else:
            del self._body[_OVERLAP * 100 :]

    def break_off(self) -> None:
        """Record that the body ended early."""
        self._failure = Failure.BROKEN

    def _failed(self, failure: Failure) -> httpx.TransportError:
        self._failure = failure
        return httpx.ConnectError(failure.value)


class _Stream(httpx.SyncByteStream):
    def __init__(self, transport: Transport, answer: httpcore.Response) -> None:
        self._transport, self._answer = transport, answer

    def __iter__(self) -> Iterator[bytes]:
        try:
            for piece in self._answer.iter_stream():
                self._transport.take(piece)
                yield piece
        except (httpcore.NetworkError, httpcore.ProtocolError) as error:
            self._transport.break_off()
            raise httpx.ReadError("broken off") from error
        except httpcore.TimeoutException as error:
            self._transport.break_off()
            raise httpx.ReadTimeout("silent") from error

    def close(self) -> None:
        self._answer.close()


def _seconds(header: bytes, now: bytes) -> float | None:
    """A `Retry-After` header in seconds.

    A date counts from `now`, the provider's own `Date` header.
    """
    text = header.decode("ascii", "replace").strip()
    if re.fullmatch(r"\d{1,6}(?:\.\d+)?", text):
        return float(text)
    until, since = _moment(header), _moment(now) or datetime.now(UTC)
    if until is None:
        return None
    return min(max((until - since).total_seconds(), 0.0), _MAX_WAIT_SECONDS)


def _moment(header: bytes) -> datetime | None:
    """Parse an HTTP date; None for anything else."""
    try:
        found = parsedate_to_datetime(header.decode("ascii", "replace"))
    except (ValueError, OverflowError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
