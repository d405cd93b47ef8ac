"""`apply` before Django: its gate, its answers and its refusals are those of the API."""

import asyncio
import json
from typing import Any, NamedTuple

import pytest
from asgiref.sync import async_to_sync
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.test import Client

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.rights import ProjectRole
from contextstudio.accounts.models import ApiKey, Membership, Project, User
from operations.domain.tree.span import MASK
from operations.forwarding.mount import Application, Message, Scope, with_apply
from tests.operations.support.rest import Tools, make_session, operate, put, said
from tests.people import key_of
from threads.domain.message import Message as Original
from threads.domain.message import Role
from threads.domain.part import Text
from threads.models import Session
from threads.sessions.services import append_messages
from threads.store import events

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("memory"),
]


class Answer(NamedTuple):
    """What came back, and from where."""

    status: int
    headers: dict[str, str]
    body: bytes
    by_django: bool

    @property
    def texts(self) -> list[Any]:
        return [one["content"] for one in json.loads(self.body)["messages"]]


class Door:
    """The way in with a key, to one session."""

    def __init__(self, key: str, session_id: str) -> None:
        self.key, self.session_id = key, session_id
        self.query = b""
        self.path = f"/api/sessions/{session_id}/apply"

    def send(self, messages: list[Any], *, mounted: bool = True, **more: Any) -> Answer:
        """Ask, in pieces of a body as servers give them."""
        headers = more.pop("headers", {})
        return self.post(
            json.dumps({"messages": messages, **more}).encode(), headers, mounted
        )

    def post(
        self, body: bytes, headers: dict[str, str], mounted: bool = True
    ) -> Answer:
        django: Application = get_asgi_application()  # type: ignore[assignment]  # ASGI
        reached: list[str] = []

        async def behind(scope: Scope, receive: Any, send: Any) -> None:
            reached.append(scope["path"])
            await django(scope, receive, send)

        sent: list[Message] = []
        pieces = [body[:40], body[40:]]

        async def receive() -> Message:
            if not pieces:
                await asyncio.Event().wait()  # the client waits for the answer
            piece = pieces.pop(0)
            return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

        async def send(message: Message) -> None:
            sent.append(message)

        application = with_apply(behind) if mounted else behind
        given = {"host": "localhost", "authorization": f"Bearer {self.key}", **headers}
        scope = {
            "type": "http",
            "method": "POST",
            "path": self.path,
            "query_string": self.query,
            "headers": [(k.encode(), v.encode()) for k, v in given.items()],
        }
        async_to_sync(application)(scope, receive, send)
        start, *rest = sent
        return Answer(
            start["status"],
            {k.decode().lower(): v.decode() for k, v in start["headers"]},
            b"".join(one.get("body", b"") for one in rest),
            bool(reached),
        )


@pytest.fixture
def door(agent: Client, key: str) -> Door:
    """A loop that has sent two turns."""
    found = Door(key, make_session(agent, []))
    for count in (2, 4):
        assert found.send(said(count)).status == 200
    return found


def test_a_turn_is_answered_as_django_would_answer_it(agent: Client, key: str) -> None:
    answers = []
    for mounted in (True, False):
        found = Door(key, make_session(agent, []))
        for count in (2, 4, 4):
            given = found.send(said(count), mounted=mounted)
        answers.append(given)
    ours, django = answers
    assert (ours.by_django, django.by_django) == (False, True)
    assert ours.status == django.status == 200
    assert ours.headers == django.headers
    own = {"session_id", "applied"}
    told = [json.loads(one.body) for one in answers]
    assert [{k: v for k, v in one.items() if k not in own} for one in told[:1]] == [
        {k: v for k, v in one.items() if k not in own} for one in told[1:]
    ]


def test_what_every_answer_has_is_what_pages_have(door: Door) -> None:
    headers = door.send(said(6)).headers
    assert headers["cache-control"] == "private, no-store"
    assert headers["x-frame-options"] == "DENY"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert [*settings.ANSWER_MIDDLEWARE] == settings.MIDDLEWARE[:4]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"messages": [{"role": 7}]}', 422),
        (b'{"messages": 7}', 422),
        (b"{", 422),
        (b'{"messages": [], "active_tags": [7]}', 422),
    ],
)
def test_a_refusal_is_the_one_of_the_api(door: Door, body: bytes, status: int) -> None:
    ours = door.post(body, {})
    assert ours.status == status
    assert ours == door.post(body, {}, mounted=False)


def test_a_query_parameter_is_refused_where_the_answer_is_known_too(door: Door) -> None:
    door.query = b"active_tags=brief"
    for messages in (said(4), said(6)):
        assert door.send(messages).status == 422


def test_a_repeat_by_idempotency_key_is_the_first_answer(door: Door) -> None:
    headers = {"idempotency-key": "k"}
    first, again = (door.send(said(6), headers=headers) for _ in range(2))
    assert first.body == again.body
    assert again.headers["idempotent-replayed"] == "true"


def test_a_head_that_is_passed_is_refused(door: Door) -> None:
    assert door.send(said(6), headers={"if-match": '"7"'}).status == 409
    assert door.send(said(6), headers={"if-match": '"0"'}).status == 200


def test_a_key_that_was_revoked_asks_no_more(door: Door) -> None:
    ApiKey.objects.update(revoked_at="2020-01-01T00:00:00Z")
    assert door.send(said(6)).status == 401


def test_a_member_who_may_only_read_from_now_on_sends_no_more(
    door: Door, owner: User, project: Project
) -> None:
    rows = Membership.objects.filter(user=owner, project=project)
    rows.update(role=ProjectRole.VIEWER)
    assert door.send(said(6)).status == 403
    rows.delete()
    assert door.send(said(6)).status == 404


def test_a_session_that_was_deleted_is_not_there(door: Door, agent: Client) -> None:
    agent.delete(door.path.removesuffix("/apply"))
    assert door.send(said(6)).status == 404


def test_the_key_of_another_project_finds_no_session(
    door: Door, stranger: User
) -> None:
    other = Project.objects.get(slug="other")
    assert Door(key_of(stranger, other), door.session_id).send([]).status == 404


def test_a_policy_holds_from_the_next_request_on(door: Door, agent: Client) -> None:
    path = door.path.removesuffix("apply") + "policy"
    put(agent, path, {"policy": {"window": 1}})
    assert door.send(said(6)).texts == ["message 4", "message 5"]
    put(agent, path, {"policy": None})
    assert door.send(said(8)).texts == [one["content"] for one in said(8)]


def test_a_redaction_holds_from_the_next_request_on(door: Door, agent: Client) -> None:
    operate(agent, door.session_id, "redact", patterns=[{"start": "message 1"}])
    assert door.send(said(6)).texts[:3] == ["message 0", MASK, "message 2"]


def test_a_purge_holds_from_the_next_request_on(door: Door, agent: Client) -> None:
    Tools(agent, door.session_id)("remove_group", group_id=1)
    answer = door.send(said(6))
    assert b"message 0" not in answer.body
    assert b"message 2" in answer.body


def test_what_another_process_recorded_meanwhile_is_known(
    door: Door, caller: Caller
) -> None:
    reply = Original(role=Role.USER, parts=(Text("message 4"),))
    append_messages(caller, Session.objects.get().pk, [reply])
    answer = door.send(said(6))
    assert json.loads(answer.body)["message_count"] == 6
    assert not answer.by_django


def test_a_client_that_left_has_sent_nothing(door: Door) -> None:
    async def gone() -> Message:
        return {"type": "http.disconnect"}

    async def never(*_: Any) -> None:
        raise AssertionError("nothing is said to who has gone")

    scope = {
        "type": "http",
        "method": "POST",
        "path": door.path,
        "query_string": b"",
        "headers": [(b"authorization", f"Bearer {door.key}".encode())],
    }
    async_to_sync(with_apply(never))(scope, gone, never)
    assert Session.objects.get().message_count == 4


def test_what_is_nested_too_deep_is_refused_by_django(door: Door) -> None:
    deep = b'{"messages": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    answer = door.post(deep, {})
    assert (answer.status, answer.by_django) == (422, True)
    assert json.loads(answer.body)["code"] == "json_too_deep"


def test_who_edits_by_any_door_waits_for_no_channel_layer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is told goes to the loop that pages listen in, and is not waited for."""
    monkeypatch.setattr(events, "_loop", None)

    async def behind(scope: Scope, receive: Any, send: Any) -> None:
        assert events._loop is asyncio.get_running_loop()

    async def nothing(*_: Message) -> Message:
        return {}

    page = {"type": "http", "method": "POST", "path": "/", "headers": []}
    async_to_sync(with_apply(behind))(page, nothing, nothing)
    assert events._loop is not None
