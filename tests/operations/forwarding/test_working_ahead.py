"""What takes long of a long request is done before its session is locked."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.models import Project, User
from contextstudio.accounts.selectors import caller_of_user
from operations.context.policies import set_policy
from operations.forwarding import alignment, before_lock, services
from operations.forwarding.proxy.incoming import Incoming
from operations.forwarding.proxy.preparing import OutgoingRequest, prepare
from operations.forwarding.proxy.routes import route_of
from operations.forwarding.sent import outgoing
from operations.log.cache import forget_everything
from operations.models import SentPiece, SessionRequest
from tests.operations.support.rest import make_session, post, said
from threads import tokens
from threads.domain.formats import READERS
from threads.models import Message, Session
from threads.sessions.services import append_messages, delete_session

pytestmark = pytest.mark.usefixtures("memory")

COUNT = 60


def conversation(count: int = COUNT) -> list[dict[str, Any]]:
    """Messages that are long enough together."""
    found = [one | {"content": f"{one['content']} " * 200} for one in said(count)]
    assert len(json.dumps(found)) > before_lock.LONG
    return found


@pytest.fixture
def locked(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """What takes long: how many transactions of a request were open when it was done."""
    depth, seen = len(connection.atomic_blocks), dict[str, int]()

    def watch(module: Any, name: str) -> None:
        does: Callable[..., Any] = getattr(module, name)

        def watched(*arguments: Any, **named: Any) -> Any:
            now = len(connection.atomic_blocks) - depth
            seen[name] = max(now, seen.get(name, 0))
            return does(*arguments, **named)

        monkeypatch.setattr(module, name, watched)

    watch(alignment, "align_request")
    watch(tokens, "count_words")
    watch(tokens, "count_messages")
    watch(outgoing, "packed")
    for module in (services, before_lock):
        watch(module, "make_outbound")
        watch(module, "plain_after_request")
    return seen


def forwarded(
    who: Caller, messages: list[dict[str, Any]], name: bytes = b""
) -> OutgoingRequest:
    """What goes out of a request to the proxy."""
    headers = [(b"authorization", b"Bearer sk-own")]
    headers += [(b"x-session-id", name)] if name else []
    body = json.dumps({"model": "gpt-4o", "messages": messages}).encode()
    incoming = Incoming(method="POST", query=b"", headers=headers, body=body)
    route = route_of("POST", b"/v1/chat/completions", dict(headers))
    return prepare(who, route, incoming)


def held() -> tuple[int, int, int]:
    """How many messages, pieces and requests there are."""
    return (
        Message.objects.count(),
        SentPiece.objects.count(),
        SessionRequest.objects.count(),
    )


def test_apply_only_writes_under_the_lock(
    agent: Client, locked: dict[str, int]
) -> None:
    path = f"/api/sessions/{make_session(agent, [])}/apply"
    answer = post(agent, path, {"messages": conversation()})
    assert answer["messages"] == conversation()
    assert held() == (COUNT, COUNT, 1)
    assert len(locked) > 3
    assert not any(locked.values()), locked


def test_the_proxy_only_writes_under_the_lock(
    owner: User, project: Project, locked: dict[str, int]
) -> None:
    sent = forwarded(caller_of_user(owner), conversation())
    assert json.loads(sent.body)["messages"] == conversation()
    assert held() == (COUNT, COUNT, 1)
    assert len(locked) > 3
    assert not any(locked.values()), locked


def test_so_does_a_process_that_meets_a_long_conversation_again(
    owner: User,
    project: Project,
    locked: dict[str, int],
    django_capture_on_commit_callbacks: Any,
) -> None:
    messages = conversation()
    with django_capture_on_commit_callbacks(execute=True):
        forwarded(caller_of_user(owner), messages)
    forget_everything()
    locked.clear()
    forwarded(caller_of_user(owner), [*messages, *said(2)])
    assert held() == (COUNT + 2, COUNT + 2, 2)
    assert not any(locked.values()), locked


def test_one_who_only_asks_locks_nothing(agent: Client, locked: dict[str, int]) -> None:
    path = f"/api/sessions/{make_session(agent, said(4))}/apply"
    locked.clear()
    post(agent, path, {"messages": said(6), "append": False})
    assert locked
    assert not any(locked.values()), locked


@pytest.fixture
def meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[Callable[[], object]], None]:
    """Lets something happen between what is worked out and the lock."""
    work_out = before_lock._prepared_request

    def happen(act: Callable[[], object]) -> None:
        def worked_out(*arguments: Any) -> Any:
            found = work_out(*arguments)
            monkeypatch.setattr(before_lock, "_prepared_request", work_out)
            act()
            return found

        monkeypatch.setattr(before_lock, "_prepared_request", worked_out)

    return happen


def test_the_same_request_twice_at_once_is_recorded_once(
    agent: Client, meanwhile: Callable[[Callable[[], object]], None]
) -> None:
    path = f"/api/sessions/{make_session(agent, [])}/apply"
    body = {"messages": conversation()}
    meanwhile(lambda: post(agent, path, body))
    assert post(agent, path, body)["messages"] == body["messages"]
    assert held() == (COUNT, COUNT, 2)
    assert [one.known for one in SessionRequest.objects.order_by("number")] == [
        0,
        COUNT,
    ]


def test_two_first_requests_under_one_name_make_one_session(
    owner: User, project: Project, meanwhile: Callable[[Callable[[], object]], None]
) -> None:
    who, messages = caller_of_user(owner), conversation()
    meanwhile(lambda: forwarded(who, messages, b"one"))
    forwarded(who, [*messages, *said(2)], b"one")
    assert Session.objects.get().message_count == COUNT + 2
    assert held() == (COUNT + 2, COUNT + 2, 2)


def test_what_was_said_meanwhile_comes_before_what_is_new(
    agent: Client, owner: User, meanwhile: Callable[[Callable[[], object]], None]
) -> None:
    session_id = make_session(agent, [])
    reader = READERS["openai"]
    more = list(reader.read_messages(said(1)))
    session = Session.objects.get()
    meanwhile(lambda: append_messages(caller_of_user(owner), session.pk, more))
    path = f"/api/sessions/{session_id}/apply"
    messages = [*said(1), *conversation()]
    assert post(agent, path, {"messages": messages})["messages"] == messages
    assert held() == (COUNT + 1, COUNT + 1, 1)
    assert SessionRequest.objects.get().known == 1


def test_a_policy_that_was_set_meanwhile_holds(
    agent: Client, owner: User, meanwhile: Callable[[Callable[[], object]], None]
) -> None:
    session_id = make_session(agent, [])
    session = Session.objects.get()
    policy = {"window": 2}
    meanwhile(lambda: set_policy(caller_of_user(owner), session.pk, policy))
    path = f"/api/sessions/{session_id}/apply"
    answer = post(agent, path, {"messages": conversation()})
    assert 0 < len(answer["messages"]) < 10


def test_a_session_that_is_deleted_meanwhile_takes_nothing(
    agent: Client, owner: User, meanwhile: Callable[[Callable[[], object]], None]
) -> None:
    session_id = make_session(agent, [])
    session = Session.objects.get()
    meanwhile(lambda: delete_session(caller_of_user(owner), session.pk))
    path = f"/api/sessions/{session_id}/apply"
    post(agent, path, {"messages": conversation()}, expect=404)
    assert held() == (0, 0, 0)
