"""Limits on requests, checked before their bodies are read: size, authentication, rate.

Django reads a body to its end before it looks at who sent it. So this comes before Django and MCP:
a body longer than its address allows is refused by its length, so is a large one from somebody not
signed in, and a key that asks too often is told when to try again.
"""

import hashlib
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from importlib import import_module
from typing import Any, NamedTuple

from asgiref.sync import ThreadSensitiveContext
from channels.db import database_sync_to_async
from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest, HttpResponse

from contextstudio.accounts.credentials import sent_key
from contextstudio.accounts.domain import errors
from contextstudio.accounts.keys.request_log import note_key
from contextstudio.accounts.responses import outage, problem_response
from contextstudio.accounts.selectors import find_key
from contextstudio.database.outages import FAULTS

from .guard import Application, Receive, Scope, Send

KB, MB = 1 << 10, 1 << 20
SMALL = 64 * KB
"""Bytes of a body that are accepted from anybody; an address may allow less."""
LIMITS = (
    ("/sign-in", 16 * KB),
    ("/sign-out", 16 * KB),
    ("/csp-report", 16 * KB),
    ("/api/sessions/import", 8 << 30),
    ("/sessions/import", 8 << 30),
    ("/api/sessions", 64 * MB),  # conversations as agents send them
    ("/api/tools/", 16 * MB),
    ("/mcp", 16 * MB),
    ("/v1", 64 * MB),  # and what the proxy forwards
    ("/models/", 64 * MB),
    ("/s/", 64 * MB),
    ("/api/", 1 * MB),
    ("/", 16 * MB),  # forms of pages, in which people write
)
"""The longest body in bytes by prefix of the address; the first match counts."""
_SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
_MAX_KEYS = 10_000


class TooLarge(errors.DomainError):
    """A body that is longer than its address allows."""

    status = 413
    default_code = "body_too_large"


class Allowance(NamedTuple):
    """What remains of a key's allowed requests."""

    limit: int
    left: int
    reset: int
    """Seconds until all of them are available again."""
    wait: int
    """Seconds until the next one is available; 0 if one is now."""

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """The standard rate limit headers."""
        named = {"limit": self.limit, "remaining": self.left, "reset": self.reset}
        return [(f"ratelimit-{n}".encode(), str(v).encode()) for n, v in named.items()]


class Buckets:
    """A token bucket for each key, in this process; it refills within a minute."""

    def __init__(self) -> None:
        self._levels: OrderedDict[bytes, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, key: bytes, limit: int) -> Allowance:
        """Take one of `limit` requests a minute."""
        now, each = time.monotonic(), limit / 60
        with self._lock:
            level, since = self._levels.pop(key, (float(limit), now))
            level = min(limit, level + (now - since) * each)
            is_there = level >= 1
            level -= is_there
            self._levels[key] = level, now
            while len(self._levels) > _MAX_KEYS:
                self._levels.popitem(last=False)
        wait = 0 if is_there else max(1, math.ceil((1 - level) / each))
        return Allowance(limit, int(level), math.ceil((limit - level) / each), wait)


class KnownKey(NamedTuple):
    """The key of a secret, with the key's own rate limit."""

    id: int | None
    """None if the secret is not a valid key."""
    limit: int | None


class KnownKeys:
    """A cache of keys by the digest of their secrets, each looked up again after `FRESH` seconds.

    So few requests query the database, and a changed limit soon takes effect.
    """

    FRESH = 30.0

    def __init__(self) -> None:
        self._found: OrderedDict[bytes, tuple[float, KnownKey]] = OrderedDict()

    def find(self, digest: bytes) -> KnownKey | None:
        """The cached key; None if it must be looked up."""
        until, key = self._found.get(digest, (0.0, None))
        return key if time.monotonic() < until else None

    def keep(self, digest: bytes, key: KnownKey) -> None:
        """Cache a key; the oldest is dropped if there are too many."""
        self._found.pop(digest, None)
        self._found[digest] = time.monotonic() + self.FRESH, key
        while len(self._found) > _MAX_KEYS:
            self._found.popitem(last=False)


buckets = Buckets()
known_keys = KnownKeys()


class Limits:
    """An ASGI application that refuses what exceeds the limits and passes on the rest."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its body counted, or refuse it with 401, 413 or 429."""
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        headers = dict(scope["headers"])
        extra: list[tuple[bytes, bytes]] = []
        try:
            key = sent_key(headers, scope.get("query_string", b""))
            if sent := key or headers.get(b"authorization", b"").decode("latin-1"):
                allowance = await _allowance(sent)
                extra = allowance.headers if allowance else []
                _refuse_too_many(allowance)
            await _admit(scope, headers)
        except errors.DomainError as refusal:
            await _refuse(refusal, scope, send, extra)
            return
        except FAULTS as error:
            unavailable = outage(error)
            if unavailable is None:
                raise
            await _refuse(unavailable, scope, send, extra)
            return
        body = _CountedBody(scope, receive, send, extra)
        await self.application(scope, body.receive, body.send)


def limit_of(path: str) -> int:
    """The longest request body that an address accepts, in bytes."""
    return next(most for begin, most in LIMITS if path.startswith(begin))


async def _allowance(secret: str) -> Allowance | None:
    """A key's remaining allowance after this request; None if there is no limit."""
    digest = hashlib.sha256(secret.encode()).digest()
    key = known_keys.find(digest)
    if key is None:
        # A context of its own, so that a request doesn't queue behind another's.
        async with ThreadSensitiveContext():
            key = await database_sync_to_async(_look_up)(secret)
        known_keys.keep(digest, key)
    limit = key.limit or settings.REQUESTS_PER_MINUTE
    if not limit:
        return None
    allowance = buckets.take(b"key %d" % key.id if key.id else digest, limit)
    if allowance.wait and key.id:
        note_key(key.id)
    return allowance


def _refuse_too_many(allowance: Allowance | None) -> None:
    if allowance is not None and allowance.wait:
        raise errors.TooMany(
            f"Too many requests: this key may send {allowance.limit:,} a minute.",
            retry_after=allowance.wait,
        )


async def _admit(scope: Scope, headers: Mapping[bytes, bytes]) -> None:
    """Check whether a body may be read. Raises TooLarge and Unauthenticated."""
    if scope["method"] in _SAFE:
        return
    length = headers.get(b"content-length", b"")
    size = int(length) if length.isdigit() else None
    most = limit_of(scope["path"])
    if size is not None and size > most:
        raise _too_large(most)
    is_chunked = size is None and b"transfer-encoding" in headers
    if most <= SMALL or not (is_chunked or (size or 0) > SMALL):
        return
    key = sent_key(headers, scope.get("query_string", b""))
    known = known_keys.find(hashlib.sha256(key.encode()).digest()) if key else None
    if known is not None and known.id is not None:
        return
    # A context of its own, so that a request doesn't queue behind another's.
    async with ThreadSensitiveContext():
        if not await database_sync_to_async(_is_known)(headers, key):
            raise errors.Unauthenticated("Sign in, or send a key as a bearer token.")


def _is_known(headers: Mapping[bytes, bytes], key: str | None) -> bool:
    """Whether a request has a valid key, or the session of somebody signed in."""
    if key is not None:
        return find_key(key) is not None
    if b"authorization" in headers:
        return False
    try:
        cookies = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1"))
    except CookieError:
        return False
    name = settings.SESSION_COOKIE_NAME
    if name not in cookies:
        return False
    request = HttpRequest()
    store = import_module(settings.SESSION_ENGINE).SessionStore
    request.session = store(cookies[name].value)
    return get_user(request).is_authenticated


def _look_up(secret: str) -> KnownKey:
    key = find_key(secret) if secret else None
    return KnownKey(key.pk, key.requests_per_minute) if key else KnownKey(None, None)


def _too_large(most: int) -> TooLarge:
    size = f"{most // MB:,} MB" if most >= MB else f"{most // KB:,} kB"
    return TooLarge(f"A request to this address has at most {size}.")


def _is_navigation(scope: Scope) -> bool:
    """Whether the browser itself shows the response, rather than a script or program reading it."""
    accepted = dict(scope["headers"]).get(b"accept", b"")
    return b"text/html" in accepted and not scope["path"].startswith("/api/")


class _CountedBody:
    """Counts a body as it is read: one with no length, or a false one, ends at the limit."""

    def __init__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        extra: list[tuple[bytes, bytes]],
    ) -> None:
        self._scope, self._receive, self._send = scope, receive, send
        self._most, self._extra = limit_of(scope["path"]), extra
        self._size = 0
        self._refused = False

    async def receive(self) -> dict[str, Any]:
        """The next message; a disconnect once the body is too long."""
        message = await self._receive()
        self._size += len(message.get("body", b""))
        if self._size <= self._most:
            return message
        if not self._refused:
            self._refused = True
            refusal = _too_large(self._most)
            await _refuse(refusal, self._scope, self._send, self._extra)
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        """Pass a response on with the rate limit headers; drop it after a refusal."""
        if self._refused:
            return
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *self._extra]}
        await self._send(message)


async def _refuse(
    refusal: errors.DomainError,
    scope: Scope,
    send: Send,
    extra: list[tuple[bytes, bytes]],
) -> None:
    """Send the problem or, if a form was sent without a script, its sentence.

    The connection is closed, since the rest of the request is unread.
    """
    response: HttpResponse = problem_response(refusal)
    if _is_navigation(scope):
        response.content = refusal.message.encode()
        response["Content-Type"] = "text/plain; charset=utf-8"
    headers = [(k.lower().encode(), v.encode()) for k, v in response.items()]
    headers += [
        (b"content-length", str(len(response.content)).encode()),
        (b"connection", b"close"),
        *extra,
    ]
    start = {"type": "http.response.start", "status": response.status_code}
    await send({**start, "headers": headers})
    await send({"type": "http.response.body", "body": response.content})
