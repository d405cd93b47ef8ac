"""Streams that are cut leave nothing running: no task and no connection in use.

And where a reply can't be recorded, because the database is away, its client has it all the same.
"""

import asyncio
import json
import random
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.db import Error, InterfaceError, OperationalError
from django.test import override_settings
from django.utils import timezone

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import DomainError, Forbidden, Unavailable
from contextstudio.accounts.domain.rights import ProjectRole, Right
from contextstudio.accounts.keys.services import create_key
from contextstudio.accounts.models import ApiKey, Membership, Project, User
from contextstudio.accounts.selectors import caller_of_actor
from contextstudio.asgi import application as asgi
from operations.forwarding.proxy import application, relay
from operations.forwarding.proxy.incoming import Incoming
from operations.forwarding.proxy.preparing import OutgoingRequest, prepare
from operations.forwarding.proxy.recording import Exchange, Outcome
from operations.forwarding.proxy.relay import AfterReply, ExchangeRelay
from operations.forwarding.proxy.replies import Reply
from operations.forwarding.proxy.routes import route_of
from operations.forwarding.upstreams import dialing
from operations.forwarding.upstreams.addresses import read_base
from operations.forwarding.upstreams.services import Target
from operations.forwarding.upstreams.services import WireProvider as Form
from operations.models import ScratchpadVersion
from threads.models import Session

from .provider import Provider
from .test_asked_twice import HELLO, NOTE, PATH
from .test_asked_twice import outcome as outcome_of

STREAMS = 200
BODY = json.dumps(
    {"stream": True, "messages": [{"role": "user", "content": "a b c " * 30}]}
).encode()


class StreamingClient:
    """A client that goes after so many bytes of its reply; None: never."""

    def __init__(self, stop: int | None) -> None:
        self.has = b""
        self._left = stop
        self._is_gone = asyncio.Event()

    async def send(self, message: dict[str, Any]) -> None:
        """Take what came."""
        self.has += message.get("body", b"")
        if self._left is not None:
            self._left -= len(message.get("body", b""))
            if self._left <= 0:
                self._is_gone.set()

    async def receive(self) -> dict[str, object]:
        """Wait until it goes."""
        await self._is_gone.wait()
        return {"type": "http.disconnect"}


async def always() -> bool:
    return True


def outgoing(provider: Provider, body: bytes = BODY) -> OutgoingRequest:
    exchange = Exchange(
        caller=Caller(actor="key:1", name="agent"),
        session_id=uuid.uuid4(),
        request_id=None,
        count=1,
        provider="openai",
        model="m",
    )
    return OutgoingRequest(
        method="POST",
        target=Target(provider=Form.OPENAI, base=read_base(provider.url, private=True)),
        path=b"/v1/chat/completions",
        headers=[(b"host", b"local"), (b"content-length", b"%d" % len(body))],
        body=body,
        form="openai",
        exchange=exchange,
    )


@pytest.mark.parametrize("cut_by", ["client", "provider", "both", "nobody"])
async def test_streams_that_are_cut_leave_no_task_behind(
    cut_by: str, provider: Provider
) -> None:
    chance, recorded = random.Random(13), list[Outcome]()
    provider.pause = 0.001
    if cut_by in ("provider", "both"):
        provider.cut = 3_000

    async def record(sent: OutgoingRequest, outcome: Outcome) -> AfterReply:
        recorded.append(outcome)
        return AfterReply()

    async def one() -> None:
        goes = cut_by in ("client", "both") and chance.random() < 0.7
        client = StreamingClient(chance.randrange(1, 6_000) if goes else None)
        exchanging = ExchangeRelay(outgoing(provider), client.send, record, always)
        try:
            await exchanging.run(client.receive)
        except DomainError:
            pass  # nothing had come yet

    before = asyncio.all_tasks()
    with override_settings(ALLOW_PRIVATE_UPSTREAMS=True, UPSTREAM_TIMEOUT=30):
        await asyncio.gather(*(one() for _ in range(STREAMS)))
    assert asyncio.all_tasks() == before
    assert len(recorded) == STREAMS
    connections = dialing.pool("http").connections
    assert all(one.is_idle() or one.is_closed() for one in connections)
    await dialing.pool("http").aclose()


@pytest.fixture(params=[OperationalError, InterfaceError])
def away(request: pytest.FixtureRequest) -> Error:
    error: Error = request.param("the connection is closed")
    return error


def test_a_key_that_ends_while_our_tools_are_called_is_told_so(
    project: Project, editor: User
) -> None:
    """The model's calls are not answered, and its provider is not asked again."""
    made = create_key(editor, project, name="agent", scopes=frozenset({Right.EDIT}))
    caller = caller_of_actor(f"key:{made.row.pk}")
    headers = [
        (b"x-contextstudio-key", made.text.encode()),
        (b"authorization", b"Bearer sk-own"),
        (b"x-contextstudio-tools", b"context"),
    ]
    incoming = Incoming(method="POST", query=b"", headers=headers, body=HELLO)
    sent = prepare(caller, route_of("POST", PATH.encode(), {}), incoming)
    ApiKey.objects.update(revoked_at=timezone.now())
    with pytest.raises(Forbidden, match="This key has lost its access"):
        application._recorded(sent, outcome_of(NOTE, first=1))
    assert not ScratchpadVersion.objects.exists()
    assert Session.objects.get().message_count == 1


@override_settings(ALLOW_PRIVATE_UPSTREAMS=True, UPSTREAM_TIMEOUT=30)
async def test_a_stream_is_recorded_before_its_client_has_all_that_its_length_says(
    provider: Provider,
) -> None:
    begun, error = b'data: {"choices": []}\n\n', b'data: {"error": "overloaded"}\n\n'
    provider.raw = [("Content-Type", "text/event-stream")], begun + error
    client, had = StreamingClient(None), list[bytes]()

    async def record(sent: OutgoingRequest, outcome: Outcome) -> AfterReply:
        had.append(client.has)
        return AfterReply()

    await ExchangeRelay(outgoing(provider), client.send, record, always).run(
        client.receive
    )
    assert client.has == begun + error
    (then,) = had
    assert then in (b"", begun)
    await dialing.pool("http").aclose()


@pytest.mark.parametrize("is_background", [False, True])
@override_settings(ALLOW_PRIVATE_UPSTREAMS=True, UPSTREAM_TIMEOUT=30)
async def test_a_stream_that_cannot_be_recorded_reaches_its_client(
    provider: Provider, away: Error, is_background: bool
) -> None:
    async def record(sent: OutgoingRequest, outcome: Outcome) -> AfterReply:
        raise away

    client, asked = StreamingClient(None), outgoing(provider)
    assert asked.exchange is not None
    exchange = replace(asked.exchange, is_background=is_background)
    asked = replace(asked, exchange=exchange)
    await ExchangeRelay(asked, client.send, record, always).run(client.receive)
    assert client.has.endswith(b"data: [DONE]\n\n")
    await dialing.pool("http").aclose()


@override_settings(ALLOW_PRIVATE_UPSTREAMS=True, UPSTREAM_TIMEOUT=30)
async def test_a_whole_reply_that_cannot_be_recorded_is_refused(
    provider: Provider, away: Error
) -> None:
    async def record(sent: OutgoingRequest, outcome: Outcome) -> AfterReply:
        raise away

    client = StreamingClient(None)
    asked = outgoing(provider, BODY.replace(b"true", b"false"))
    with pytest.raises(type(away)):
        await ExchangeRelay(asked, client.send, record, always).run(client.receive)
    assert client.has == b""
    await dialing.pool("http").aclose()


@override_settings(ALLOW_PRIVATE_UPSTREAMS=True, UPSTREAM_TIMEOUT=30)
async def test_a_reply_is_recorded_by_the_database_that_was_only_restarted(
    provider: Provider, away: Error, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = list[Reply | None]()

    def record(_: OutgoingRequest, outcome: Outcome) -> AfterReply:
        recorded.append(outcome.read() if outcome.read else None)
        if len(recorded) == 1:
            raise away
        return AfterReply()

    monkeypatch.setattr(
        application, "_prepared", lambda *_: ("key:1", outgoing(provider))
    )
    monkeypatch.setattr(application, "_recorded", record)
    client = StreamingClient(None)
    path = "/v1/chat/completions"
    scope = {"type": "http", "method": "POST", "path": path}
    whole = [{"type": "http.request", "body": BODY}]

    async def receive() -> dict[str, Any]:
        return whole.pop() if whole else await client.receive()

    async def no_other(*_: object) -> None:
        raise AssertionError

    proxy = application.with_proxy(no_other)
    await proxy(scope | {"headers": [], "query_string": b""}, receive, client.send)
    assert client.has.endswith(b"data: [DONE]\n\n")
    first, second = recorded
    assert first is second is not None
    await dialing.pool("http").aclose()


async def test_a_stream_is_cut_for_who_loses_access_and_recorded_as_far_as_it_came(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "SECONDS_BETWEEN_CHECKS", 0)
    provider.silent_after = 400
    client, recorded = StreamingClient(None), list[Outcome]()

    async def record(sent: OutgoingRequest, outcome: Outcome) -> AfterReply:
        recorded.append(outcome)
        return AfterReply()

    async def until_it_has_something() -> bool:
        return len(client.has) < 400

    before = asyncio.all_tasks()
    exchanging = ExchangeRelay(
        outgoing(provider), client.send, record, until_it_has_something
    )
    with override_settings(ALLOW_PRIVATE_UPSTREAMS=True, UPSTREAM_TIMEOUT=30):
        await exchanging.run(client.receive)
    assert asyncio.all_tasks() == before
    assert client.has[400:].count(b"This key has lost its access.") == 1
    (outcome,) = recorded
    assert outcome.error == "This key has lost its access."
    assert outcome.read is not None
    assert outcome.read().messages
    assert all(one.is_closed() for one in dialing.pool("http").connections)
    await dialing.pool("http").aclose()


async def test_who_loses_access_before_a_reply_begins_is_refused(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "SECONDS_BETWEEN_CHECKS", 0)
    provider.pause = 3600
    client = StreamingClient(None)

    async def record(sent: OutgoingRequest, outcome: Outcome) -> AfterReply:
        return AfterReply()

    async def once_it_was_asked() -> bool:
        return not provider.asked

    asked = replace(outgoing(provider), body=BODY.replace(b"true", b"null"))
    exchanging = ExchangeRelay(asked, client.send, record, once_it_was_asked)
    with (
        override_settings(ALLOW_PRIVATE_UPSTREAMS=True, UPSTREAM_TIMEOUT=30),
        pytest.raises(Forbidden, match="lost its access"),
    ):
        await exchanging.run(client.receive)
    assert client.has == b""
    await dialing.pool("http").aclose()


@pytest.mark.parametrize("right", [Right.EDIT, Right.OWN_SESSION])
@pytest.mark.parametrize(
    "ends",
    [
        lambda: ApiKey.objects.update(revoked_at=timezone.now()),
        lambda: ApiKey.objects.update(expires_at=timezone.now()),
        lambda: Membership.objects.update(role=ProjectRole.REVIEWER),
        lambda: Membership.objects.all().delete(),
    ],
    ids=["revoked", "expired", "role", "member"],
)
def test_a_key_has_access_for_as_long_as_it_may_send_requests(
    project: Project, editor: User, right: Right, ends: Callable[[], object]
) -> None:
    made = create_key(editor, project, name="agent", scopes=frozenset({right}))
    actor = f"key:{made.row.pk}"
    assert application._is_allowed(actor)
    ends()
    assert not application._is_allowed(actor)


@override_settings(ALLOW_PRIVATE_UPSTREAMS=True, UPSTREAM_TIMEOUT=30)
async def test_a_server_that_stops_waits_until_the_streams_it_cancels_are_recorded(
    provider: Provider,
) -> None:
    provider.silent_after = enough = 400
    recorded, said, begun = list[Outcome](), list[str](), asyncio.Event()
    told: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def record(sent: OutgoingRequest, outcome: Outcome) -> AfterReply:
        await asyncio.get_running_loop().run_in_executor(None, recorded.append, outcome)
        return AfterReply()

    client = StreamingClient(None)

    async def send(message: dict[str, Any]) -> None:
        await client.send(message)
        if len(client.has) >= enough:  # the first bytes hold no word yet
            begun.set()

    async def answer(message: dict[str, Any]) -> None:
        said.append(message["type"])
        assert len(said) == 1 or len(recorded) == 1

    ending = asyncio.create_task(asgi({"type": "lifespan"}, told.get, answer))
    told.put_nowait({"type": "lifespan.startup"})
    exchanging = ExchangeRelay(outgoing(provider), send, record, always)
    stream = asyncio.create_task(exchanging.run(client.receive))
    await begun.wait()
    stream.cancel()
    told.put_nowait({"type": "lifespan.shutdown"})
    await ending
    assert said == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert recorded[0].read is not None and recorded[0].read().messages
    await stream  # and nothing raised, which the server would log as a fault
    assert client.has[enough:].count(b"The server is stopping.") == 1
    await dialing.pool("http").aclose()


@override_settings(ALLOW_PRIVATE_UPSTREAMS=True, UPSTREAM_TIMEOUT=30)
async def test_who_waits_for_a_whole_reply_of_a_server_that_stops_is_told_to_ask_again(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "SECONDS_BETWEEN_CHECKS", 0)
    provider.pause = 3600
    recorded, asked = list[Outcome](), asyncio.Event()
    client = StreamingClient(None)

    async def record(sent: OutgoingRequest, outcome: Outcome) -> AfterReply:
        recorded.append(outcome)
        return AfterReply()

    async def once_it_was_asked() -> bool:
        if provider.asked:
            asked.set()
        return True

    whole = outgoing(provider, BODY.replace(b"true", b"null"))
    exchanging = ExchangeRelay(whole, client.send, record, once_it_was_asked)
    waiting = asyncio.create_task(exchanging.run(client.receive))
    await asked.wait()
    waiting.cancel()
    with pytest.raises(Unavailable, match="The server is stopping") as told:
        await waiting
    assert told.value.retry_after
    assert client.has == b""
    assert [outcome.error for outcome in recorded] == ["The server is stopping."]
    await dialing.pool("http").aclose()
