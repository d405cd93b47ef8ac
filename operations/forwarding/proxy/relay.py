"""The exchange with the provider: sends the request and passes the reply on as it comes.

No thread and no database connection is held meanwhile. Whatever ends an exchange (the client
leaves or loses its right, the provider fails, stalls or breaks off, the server stops), the
connection to the provider is released or closed, and what was said by then is recorded, once.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

import anyio
import httpcore
from django.conf import settings
from django.db import Error

from contextstudio.accounts.domain.errors import DomainError, Forbidden, Unavailable
from contextstudio.accounts.responses import outage
from contextstudio.database.outages import RETRY_AFTER
from operations.forwarding.upstreams import dialing

from .headers import Header, to_client
from .preparing import OutgoingRequest
from .problems import error_event, unpacked_error, without_secret
from .recording import Outcome
from .replies import MAX_BYTES, ReplyReader
from .replies.faults import fault_in
from .tools.stripping import without_calls

logger = logging.getLogger(__name__)
Receive = Callable[[], Awaitable[dict[str, object]]]
Send = Callable[[dict[str, object]], Awaitable[None]]

_SECONDS_TO_CONNECT = 10.0
_SECONDS_TO_WRITE = 60.0
_SECONDS_OF_CLIENT = 60.0
"""How many seconds a client may take to accept a piece of the reply."""
SECONDS_BETWEEN_CHECKS = 10.0
"""How many seconds pass between checks of the caller's rights while a reply is in progress."""
LOST_ACCESS = "This key has lost its access."
_open = set["asyncio.Task[object]"]()
"""The tasks of this process with an exchange in progress."""
_BODY_HEADERS = frozenset({b"content-length", b"content-encoding"})
"""Headers that describe a body's bytes, and no longer hold once it is replaced."""


class BadGateway(DomainError):
    """The provider can't be reached, or sends no valid answer."""

    status = 502
    default_code = "upstream_failed"


class GatewayTimeout(DomainError):
    """The provider didn't answer in time."""

    status = 504
    default_code = "upstream_timeout"


@dataclass(frozen=True, slots=True)
class AfterReply:
    """What to do after a reply is recorded."""

    next_request: OutgoingRequest | None = None
    """The next request to send, after calls of our tools were answered."""
    hidden_calls: frozenset[str] = frozenset()
    """The tools whose calls are hidden from the client."""


Record = Callable[[OutgoingRequest, Outcome], Awaitable[AfterReply]]


async def wait_for_exchanges() -> None:
    """Wait for cancelled exchanges, each of which records how far it came."""
    if _open:
        await asyncio.wait(_open)


class ExchangeRelay:
    """One request and its reply, or several if the model calls tools of ours."""

    def __init__(
        self,
        outgoing: OutgoingRequest,
        send: Send,
        record: Record,
        is_allowed: Callable[[], Awaitable[bool]],
    ) -> None:
        """`is_allowed` returns whether the caller still has access."""
        self._outgoing = outgoing
        self._send = send
        self._record = record
        self._is_allowed = is_allowed
        self._started = time.perf_counter()
        self._reader: ReplyReader | None = None
        self._status: int | None = None
        self._first_byte: float | None = None
        self._error = ""
        self._is_recorded = False
        self._is_begun = False
        """Whether the client has received any part of an answer."""
        self._is_named = False
        """Whether the id of a background reply has been recorded."""
        self._again: OutgoingRequest | None = None

    async def run(self, receive: Receive) -> None:
        """Send the request and pass on its reply, until it ends or the client leaves.

        Raises DomainError if nothing has been sent to the client yet.
        """
        refusal: Exception | None = None
        is_stopped = False
        if task := asyncio.current_task():
            _open.add(task)
            task.add_done_callback(_open.discard)
        try:
            async with anyio.create_task_group() as tasks:

                async def watch() -> None:
                    while (await receive())["type"] != "http.disconnect":
                        pass
                    self._error = self._error or "The client went away."
                    tasks.cancel_scope.cancel()

                tasks.start_soon(watch)
                try:
                    with anyio.CancelScope() as allowed:
                        tasks.start_soon(self._watch_access, allowed)
                        await self._exchange()
                        while self._again is not None:
                            self._restart(self._again)
                            await self._exchange()
                    if allowed.cancelled_caught:
                        await self._break_off(Forbidden)
                except (DomainError, Error) as error:
                    refusal = error  # raised outside, as a task group would wrap it
                tasks.cancel_scope.cancel()
        except asyncio.CancelledError:
            # Only a stopping server cancels this task in this way. The client is told, and
            # nothing is raised, because the server would log that as an error of ours.
            self._error = self._error or "The server is stopping."
            is_stopped = True
        finally:
            with anyio.CancelScope(shield=True):
                await self._record_end(broken=True)
        if is_stopped:
            await self._break_off(partial(Unavailable, retry_after=RETRY_AFTER))
        if refusal is not None:
            raise refusal

    async def _watch_access(self, allowed: anyio.CancelScope) -> None:
        """End the exchange if the caller loses access: a key was revoked, a member left."""
        while True:
            await anyio.sleep(SECONDS_BETWEEN_CHECKS)
            if not await self._is_allowed():
                self._error = LOST_ACCESS
                allowed.cancel()
                return

    def _restart(self, outgoing: OutgoingRequest) -> None:
        """Reset to the start of another request, which contains the answers to calls."""
        self._outgoing, self._again = outgoing, None
        self._started, self._first_byte = time.perf_counter(), None
        self._reader, self._status = None, None
        self._is_recorded = False

    async def _exchange(self) -> None:
        base = self._outgoing.target.base
        try:
            pool = dialing.pool(base.scheme)
            response = await pool.handle_async_request(self._request())
        except dialing.AddressRefused as error:
            raise self._failure(
                BadGateway(str(error), code="address_refused")
            ) from None
        except httpcore.TimeoutException:
            raise self._failure(
                GatewayTimeout(f"{base.origin} didn't answer in time.")
            ) from None
        except (httpcore.NetworkError, httpcore.ProtocolError, OSError) as error:
            logger.info("An upstream failed: %r", error)
            sentence = f"{base.origin} can't be reached."
            raise self._failure(BadGateway(sentence)) from None
        try:
            self._status = response.status
            if 300 <= response.status < 400 and response.status != 304:
                sentence = (
                    "The provider answered with a redirect, which is not followed."
                )
                raise self._failure(BadGateway(sentence, code="upstream_redirects"))
            if not 200 <= response.status < 600:
                raise self._failure(
                    BadGateway("The provider's status is not an HTTP status.")
                )
            await self._pass_on(response)
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()

    def _request(self) -> httpcore.Request:
        sent = self._outgoing
        base, silent = sent.target.base, float(settings.UPSTREAM_TIMEOUT)
        timeout = {
            "connect": _SECONDS_TO_CONNECT,
            "pool": _SECONDS_TO_CONNECT,
            "write": _SECONDS_TO_WRITE,
            "read": silent,
        }
        host = f"[{base.host}]" if ":" in base.host else base.host
        url = httpcore.URL(
            scheme=base.scheme.encode(),
            host=host.encode(),
            port=base.port,
            target=sent.path,
        )
        return httpcore.Request(
            sent.method,
            url,
            headers=list(sent.headers),
            content=sent.body,
            extensions={"timeout": timeout},
        )

    async def _pass_on(self, response: httpcore.Response) -> None:
        headers = {name.lower(): value for name, value in response.headers}
        if self._outgoing.form and response.status < 300:
            self._reader = ReplyReader(
                self._outgoing.form,
                headers.get(b"content-type", b"").decode("latin-1").lower(),
                headers.get(b"content-encoding", b"").decode("latin-1"),
                is_list=self._outgoing.is_list,
                is_stream=self._outgoing.is_stream,
                secrets=self._outgoing.credentials,
            )
        start = [*to_client(response.headers), *self._outgoing.notes]
        try:
            if self._reader is not None and (
                self._outgoing.offer or not self._reader.streams
            ):
                await self._send_whole(response, start, self._reader)
            elif response.status >= 400 and (
                self._outgoing.secret or self._outgoing.exchange
            ):
                await self._refusal(response, start, headers)
            else:
                await self._stream(response, start, headers)
        except (
            httpcore.TimeoutException,
            httpcore.NetworkError,
            httpcore.ProtocolError,
        ) as error:
            stalled = isinstance(error, httpcore.TimeoutException)
            self._error = (
                "The provider stopped sending."
                if stalled
                else "The provider broke off."
            )
            await self._break_off(GatewayTimeout if stalled else BadGateway)

    async def _send_whole(
        self, response: httpcore.Response, start: Sequence[Header], reader: ReplyReader
    ) -> None:
        """Pass on a reply that doesn't stream, or may call tools of ours, after it is recorded.

        So a client that continues at once finds it in the session, and sees only its own calls.
        """
        held = await self._read_body(response)
        recorded = await self._record_end(broken=False)
        if recorded.next_request is not None:
            self._again = recorded.next_request
            return
        if recorded.hidden_calls:
            start = [one for one in start if one[0] not in _BODY_HEADERS]
            form, names = self._outgoing.form, recorded.hidden_calls
            whole = reader.unpacked(held)
            held = without_calls(form, whole, names, events=reader.has_events)
        await self._send_start(response.status, start)
        await self._send_body(held, more=False)

    async def _refusal(
        self,
        response: httpcore.Response,
        start: Sequence[Header],
        headers: Mapping[bytes, bytes],
    ) -> None:
        """Pass on a provider's error unchanged, except for the project's key if it repeats that."""
        body, secret = await self._read_body(response), self._outgoing.secret
        encoding = headers.get(b"content-encoding", b"").decode("latin-1")
        plain = unpacked_error(body, encoding)
        self._error = fault_in(plain, self._outgoing.credentials)
        await self._record_end(broken=False)
        told = without_secret(plain, secret) if secret else None
        if told is not None:
            start = [one for one in start if one[0] not in _BODY_HEADERS]
        await self._send_start(response.status, start)
        await self._send_body(body if told is None else told, more=False)

    async def _read_body(self, response: httpcore.Response) -> bytes:
        """A reply's complete body."""
        held: list[bytes] = []
        size = 0
        async for chunk in response.aiter_stream():
            self._take(chunk)
            held.append(chunk)
            size += len(chunk)
            if size > MAX_BYTES:
                raise self._failure(BadGateway("The reply is too long."))
        return b"".join(held)

    async def _stream(
        self,
        response: httpcore.Response,
        start: Sequence[Header],
        headers: Mapping[bytes, bytes],
    ) -> None:
        """Pass on a reply that streams, or is not recorded, piece by piece.

        Only the piece that ends a conversation's reply, or that completes the body by its length,
        waits until the reply is recorded.
        """
        await self._send_start(response.status, start)
        # A length doesn't count beside a transfer encoding (RFC 9112, 6.3).
        has_length = b"transfer-encoding" not in headers
        left = int(headers.get(b"content-length", b"-1")) if has_length else -1
        async for chunk in response.aiter_stream():
            left -= len(chunk)
            if self._take(chunk) or left == 0:
                await self._record_end(broken=False)
            await self._record_id()
            await self._send_body(chunk, more=True)
        await self._record_end(broken=False)
        await self._send_body(b"", more=False)

    async def _record_id(self) -> None:
        """Record the id of a background reply before the client gets it.

        The client may fetch the rest at any time, over another connection.
        """
        exchange = self._outgoing.exchange
        if exchange is None or not exchange.is_background or self._reader is None:
            return
        begun = self._reader.unfinished_reply()
        if self._is_named or self._is_recorded or begun is None:
            return
        self._is_named = True
        await self._record_shielded(Outcome(read=lambda: begun, status=self._status))

    async def _send_start(self, status: int, headers: Sequence[Header]) -> None:
        self._is_begun = True
        start = {
            "type": "http.response.start",
            "status": status,
            "headers": list(headers),
        }
        await self._send(start)

    async def _send_body(self, chunk: bytes, *, more: bool) -> None:
        message = {"type": "http.response.body", "body": chunk, "more_body": more}
        try:
            with anyio.fail_after(_SECONDS_OF_CLIENT):
                await self._send(message)
        except TimeoutError:
            self._error = "The client stopped reading."
            raise httpcore.WriteError(self._error) from None

    def _take(self, chunk: bytes) -> bool:
        """Process a piece of the reply; returns whether it ends the reply."""
        if self._first_byte is None:
            self._first_byte = self._elapsed_ms()
        return self._reader.feed(chunk) if self._reader else False

    async def _break_off(self, kind: Callable[[str], DomainError]) -> None:
        """Tell the client that a reply broke off."""
        await self._record_end(broken=True)
        if not self._is_begun:
            raise self._failure(kind(self._error))
        if self._reader is not None and self._reader.streams:
            sent = self._outgoing
            event = error_event(sent.target.provider, sent.form, self._error)
            await self._send_body(event, more=False)
        # Otherwise the server closes the connection, because the body is incomplete.

    def _failure(self, error: DomainError) -> DomainError:
        self._error = self._error or error.message
        return error

    async def _record_end(self, *, broken: bool) -> AfterReply:
        """Record how the exchange ended, once."""
        if self._is_recorded or self._outgoing.exchange is None:
            return AfterReply()
        self._is_recorded = True
        reader = self._reader
        outcome = Outcome(
            read=cache(partial(reader.finish, broken=broken)) if reader else None,
            status=self._status,
            error=self._error,
            first_byte_ms=self._first_byte,
            total_ms=self._elapsed_ms(),
        )
        return await self._record_shielded(outcome)

    async def _record_shielded(self, outcome: Outcome) -> AfterReply:
        """Record an outcome, even if everything else is cancelled.

        If the database is unavailable, a client that already has part of a reply still gets the
        rest: when it continues from that reply, it sends it again, and it is recorded then.
        """
        recorded = AfterReply()
        with anyio.CancelScope(shield=True):
            try:
                recorded = await self._record(self._outgoing, outcome)
            except Error as error:
                if not self._is_begun or outage(error) is None:
                    raise
        return recorded

    def _elapsed_ms(self) -> float:
        return (time.perf_counter() - self._started) * 1000
