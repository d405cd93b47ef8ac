"""How much a request may bring, from whom, and how often: said before any of it is read."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from django.utils import timezone

from contextstudio.accounts.keys.services import rotate_key
from contextstudio.accounts.models import ApiKey, Project, User
from contextstudio.web import limits
from contextstudio.web.limits import (
    KB,
    MB,
    SMALL,
    Buckets,
    KnownKeys,
    Limits,
    limit_of,
)
from tests.people import caller, key_of

pytestmark = pytest.mark.django_db(transaction=True)


class Site:
    """Behind the limits: reads the body to its end and answers how long it was."""

    def __init__(self) -> None:
        self.read = -1

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.read, more = 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            self.read += len(message["body"])
            more = message["more_body"]
        start = {"type": "http.response.start", "status": 200, "headers": []}
        await send(start)
        await send({"type": "http.response.body", "body": b"ok"})


class Asked:
    """A request through the limits: what was read of it, what was answered."""

    def __init__(
        self, path: str, size: int, *, says: bool = True, **headers: str
    ) -> None:
        self.site, self.sent, self.taken = Site(), list[Any](), 0
        named = [(k.lower().encode(), v.encode()) for k, v in headers.items()]
        if says:
            named.append((b"content-length", str(size).encode()))
        else:
            named.append((b"transfer-encoding", b"chunked"))
        self._left = size
        scope = {"type": "http", "method": "POST", "path": path, "headers": named}
        asyncio.run(Limits(self.site)(scope, self._receive, self._send))

    async def _receive(self) -> dict[str, Any]:
        piece = min(self._left, 64 * KB)
        self._left -= piece
        self.taken += piece
        body = b"x" * piece
        return {"type": "http.request", "body": body, "more_body": bool(self._left)}

    async def _send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"])

    @property
    def headers(self) -> dict[bytes, bytes]:
        return dict(self.sent[0]["headers"])


@pytest.fixture
def bearer(owner: User, project: Project) -> str:
    return f"Bearer {key_of(owner, project)}"


@pytest.fixture
def cookie(client: Client, owner: User) -> str:
    client.force_login(owner)
    return f"contextstudio_session={client.cookies['contextstudio_session'].value}"


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "buckets", Buckets())
    monkeypatch.setattr(limits, "known_keys", KnownKeys())


@pytest.mark.parametrize("says", [True, False], ids=["length", "chunked"])
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer cs_wrong"},
        {"Authorization": "Basic eDp5"},
        {"Cookie": "contextstudio_session=none; x=y"},
        {"Cookie": "x"},
        {"Cookie": "\x00=;;="},
    ],
    ids=lambda headers: "".join(headers.values()) or "nothing",
)
def test_a_large_body_of_who_is_not_signed_in_is_refused_unread(
    headers: dict[str, str], says: bool
) -> None:
    asked = Asked("/api/sessions/import", 50 * MB, says=says, **headers)
    assert (asked.status, asked.taken, asked.site.read) == (401, 0, -1)
    assert asked.headers[b"www-authenticate"] == b"Bearer"
    assert asked.headers[b"connection"] == b"close"
    assert json.loads(asked.sent[1]["body"])["code"] == "unauthenticated"


def test_a_small_body_is_left_to_who_answers() -> None:
    assert Asked("/api/sessions", SMALL).status == 200


@pytest.mark.parametrize("way", ["bearer", "cookie"])
def test_who_is_signed_in_may_bring_much(
    request: pytest.FixtureRequest, way: str
) -> None:
    name = {"bearer": "Authorization", "cookie": "Cookie"}[way]
    asked = Asked("/api/sessions", 2 * MB, **{name: request.getfixturevalue(way)})
    assert (asked.status, asked.site.read) == (200, 2 * MB)


@pytest.mark.parametrize("says", [True, False], ids=["length", "chunked"])
@pytest.mark.parametrize(
    "path", ["/api/tools/snip_messages", "/api/search", "/sign-in", "/csp-report"]
)
def test_no_more_is_read_than_an_address_takes(
    bearer: str, path: str, says: bool
) -> None:
    most = limit_of(path)
    asked = Asked(path, most + 10 * MB, says=says, Authorization=bearer)
    assert asked.status == 413
    assert asked.taken <= (0 if says else most + 64 * KB)
    assert json.loads(asked.sent[1]["body"])["code"] == "body_too_large"
    assert len(asked.sent) == 2


@pytest.mark.parametrize("says", [True, False], ids=["length", "chunked"])
def test_who_sends_a_form_without_a_script_reads_a_sentence(
    cookie: str, says: bool
) -> None:
    browser = {"Accept": "text/html,*/*;q=0.8"}
    long = Asked("/sign-in", MB, says=says, Cookie=cookie, **browser)
    signed_out = Asked("/sessions/import", MB, says=says, **browser)
    told = [(asked.status, asked.sent[1]["body"]) for asked in (long, signed_out)]
    assert told == [
        (413, b"A request to this address has at most 16 kB."),
        (401, b"Sign in, or send a key as a bearer token."),
    ]
    for asked in (long, signed_out):
        assert asked.headers[b"content-type"] == b"text/plain; charset=utf-8"
        assert asked.headers[b"connection"] == b"close"


def test_a_key_is_told_what_is_left_to_it(bearer: str, settings: LazySettings) -> None:
    settings.REQUESTS_PER_MINUTE = 3
    answers = [Asked("/api/sessions", 10, Authorization=bearer) for _ in range(4)]
    assert [asked.status for asked in answers] == [200, 200, 200, 429]
    left = [asked.headers[b"ratelimit-remaining"] for asked in answers[:3]]
    assert left == [b"2", b"1", b"0"]
    assert answers[0].headers[b"ratelimit-limit"] == b"3"
    assert answers[3].headers[b"retry-after"] == b"20"
    assert answers[3].headers[b"ratelimit-remaining"] == b"0"
    assert answers[3].site.read == -1
    other = Asked("/api/sessions", 10, Authorization="Bearer cs_other")
    assert other.status == 200
    settings.REQUESTS_PER_MINUTE = 0
    assert Asked("/api/sessions", 10, Authorization=bearer).status == 200


def test_a_key_may_have_a_limit_of_its_own_which_its_secrets_share(
    bearer: str, owner: User, settings: LazySettings
) -> None:
    settings.REQUESTS_PER_MINUTE = 100
    row = ApiKey.objects.get()
    ApiKey.objects.update(requests_per_minute=2)
    until = timezone.now() + timedelta(hours=1)
    text = rotate_key(caller(owner), row.pk, old_until=until).text
    sent = {"Authorization": bearer}, {"X-API-Key": text}
    first, second, third = (
        Asked("/api/sessions", 10, **headers) for headers in (*sent, *sent[:1])
    )
    assert first.headers[b"ratelimit-limit"] == b"2"
    assert [asked.status for asked in (first, second, third)] == [200, 200, 429]
    settings.REQUESTS_PER_MINUTE = 0
    assert Asked("/api/sessions", 10, Authorization=bearer).status == 429


def test_a_limit_that_is_changed_counts_soon(
    bearer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(limits.time, "monotonic", lambda: now[0])

    def limit() -> bytes:
        asked = Asked("/api/sessions", 10, Authorization=bearer)
        return asked.headers[b"ratelimit-limit"]

    before = limit()
    ApiKey.objects.update(requests_per_minute=7)
    assert limit() == before
    now[0] += KnownKeys.FRESH
    assert limit() == b"7"


def test_what_stands_for_keys_does_not_grow_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "_MAX_KEYS", 2)
    kept = KnownKeys()
    for number in range(4):
        kept.keep(b"%d" % number, limits.KnownKey(None, None))
    assert [kept.find(b"%d" % number) is None for number in range(4)] == [
        *(True, True, False, False)
    ]


def test_a_bucket_refills_within_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    now, kept = [0.0], Buckets()
    monkeypatch.setattr(limits.time, "monotonic", lambda: now[0])
    assert [kept.take(b"k", 2).wait for _ in range(3)] == [0, 0, 30]
    now[0] = 30
    assert kept.take(b"k", 2).wait == 0
    now[0] = 200
    assert kept.take(b"k", 2).left == 1


def test_the_limits_stand_before_everything() -> None:
    from contextstudio.asgi import application

    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        raise AssertionError("the body was read")

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    for path in ("/api/sessions", "/mcp", "/sessions/import"):
        headers = [(b"host", b"localhost"), (b"content-length", b"1000000")]
        scope = {"type": "http", "method": "POST", "path": path, "headers": headers}
        sent.clear()
        asyncio.run(application(scope, receive, send))
        assert sent[0]["status"] == 401
