"""The socket of a session: who is let in, and from where facts reach it."""

import asyncio
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from channels.layers import InMemoryChannelLayer, get_channel_layer
from channels.routing import URLRouter
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.db import SessionStore
from django.test import Client
from redis.exceptions import RedisError

from contextstudio.accounts.models import Membership, Project, User
from contextstudio.accounts.selectors import caller_of_user
from contextstudio.asgi import application
from operations.editor import consumers
from operations.editor.consumers import TRY_AGAIN, websocket_urlpatterns
from tests.servers import PATIENCE_SECONDS
from threads.domain.message import Message, Role
from threads.domain.part import Text
from threads.models import Session
from threads.sessions import services
from threads.store import events

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def session(owner: User, project: Project) -> Session:
    new = services.NewSession(title="Watched")
    return services.create_session(caller_of_user(owner), project, new)


async def knock(
    user: object, session: Session, *, browser: SessionStore | None = None
) -> ApplicationCommunicator:
    """A socket that has asked to be let in."""
    path = f"/ws/sessions/{session.pk}/"
    scope = {"type": "websocket", "path": path, "user": user, "headers": []}
    if browser is not None:
        scope["session"] = browser
    socket = ApplicationCommunicator(URLRouter(websocket_urlpatterns), scope)
    await socket.send_input({"type": "websocket.connect"})
    return socket


async def accepted(socket: ApplicationCommunicator) -> None:
    """The server has let the page in."""
    answer = await socket.receive_output(timeout=PATIENCE_SECONDS)
    assert answer["type"] == "websocket.accept"


async def heard(socket: ApplicationCommunicator) -> Any:
    """The next fact that it is sent."""
    return json.loads((await socket.receive_output(timeout=PATIENCE_SECONDS))["text"])


def append(owner: User, session: Session) -> None:
    """Add a message in a thread of its own, as a job does."""
    message = Message(role=Role.USER, parts=(Text("one more"),))
    thread = threading.Thread(
        target=services.append_messages,
        args=(caller_of_user(owner), session.pk, [message]),
    )
    thread.start()
    thread.join()


def test_a_page_hears_of_what_a_job_has_appended(owner: User, session: Session) -> None:
    async def watch() -> dict[str, int]:
        socket = await knock(owner, session)
        await accepted(socket)
        before = await heard(socket)
        assert (before["head"], before["message_count"]) == (0, 0)
        await asyncio.to_thread(append, owner, session)
        fact = await heard(socket)
        await socket.send_input({"type": "websocket.disconnect", "code": 1000})
        await socket.wait()
        return fact

    fact = asyncio.run(watch())
    assert (fact["head"], fact["message_count"]) == (0, 1)
    assert session.title not in str(fact)


def test_a_stranger_and_one_who_is_not_signed_in_hear_nothing(
    stranger: User, session: Session
) -> None:
    async def refused(user: object) -> object:
        socket = await knock(user, session)
        return await socket.receive_output(timeout=PATIENCE_SECONDS)

    for user in (stranger, AnonymousUser()):
        answer = asyncio.run(refused(user))
        assert answer == {"type": "websocket.close", "code": 4404}


async def closed(socket: ApplicationCommunicator) -> int:
    """The code by which a socket is closed."""
    while (message := await socket.receive_output(timeout=PATIENCE_SECONDS))[
        "type"
    ] != ("websocket.close"):
        pass
    return int(message["code"])


def leave(project: Project, user: User) -> None:
    Membership.objects.filter(project=project, user=user).delete()


def retire(project: Project, user: User) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)


@pytest.mark.parametrize("loses", [leave, retire])
def test_the_socket_of_one_who_may_not_see_the_session_any_more_closes(
    editor: User,
    project: Project,
    session: Session,
    loses: Callable[[Project, User], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(consumers, "SECONDS_BETWEEN_LOOKS", 0.01)
    monkeypatch.setattr(consumers, "SECONDS_BETWEEN_CHECKS", 0.01)

    async def watch() -> int:
        socket = await knock(editor, session)
        await accepted(socket)
        await heard(socket)
        await sync_to_async(loses)(project, editor)
        return await closed(socket)

    assert asyncio.run(watch()) == 4404


def test_a_page_hears_what_its_user_may_do_by_now_and_not_again_with_each_change(
    owner: User,
    editor: User,
    project: Project,
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(consumers, "SECONDS_BETWEEN_LOOKS", 0.01)
    monkeypatch.setattr(consumers, "SECONDS_BETWEEN_CHECKS", 0.01)
    membership = Membership.objects.filter(project=project, user=editor)

    async def watch() -> list[str]:
        socket = await knock(editor, session)
        await accepted(socket)
        told = [(await heard(socket))["right"]]
        for role in ("reviewer", "viewer"):
            await sync_to_async(membership.update)(role=role)
            told.append((await heard(socket))["right"])
        await asyncio.to_thread(append, owner, session)
        told.append((await heard(socket))["right"])
        await socket.send_input({"type": "websocket.disconnect", "code": 1000})
        await socket.wait()
        return told

    assert asyncio.run(watch()) == ["edit", "propose", "read", "read"]


def test_a_fact_is_not_told_to_who_has_left(
    owner: User, editor: User, project: Project, session: Session
) -> None:
    async def watch() -> object:
        socket = await knock(editor, session)
        await socket.receive_output(timeout=PATIENCE_SECONDS)
        await heard(socket)
        await sync_to_async(leave)(project, editor)
        await asyncio.to_thread(append, owner, session)
        return await socket.receive_output(timeout=PATIENCE_SECONDS)

    assert asyncio.run(watch()) == {"type": "websocket.close", "code": 4404}


@pytest.mark.parametrize("purge", [False, True], ids=["deleted", "erased"])
def test_the_pages_of_a_session_hear_at_once_that_it_is_gone(
    owner: User, session: Session, purge: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "SECONDS_BETWEEN_LOOKS", 3600)
    monkeypatch.setattr(consumers, "SECONDS_BETWEEN_CHECKS", 3600)

    caller = caller_of_user(owner)

    async def watch() -> int:
        socket = await knock(owner, session)
        await accepted(socket)
        await heard(socket)
        delete = sync_to_async(services.delete_session)
        await delete(caller, session.pk, purge=purge)
        return await closed(socket)

    assert asyncio.run(watch()) == 4404


def test_the_sockets_of_a_browser_close_when_it_signs_out(
    client: Client,
    owner: User,
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(consumers, "SECONDS_BETWEEN_LOOKS", 0.01)
    monkeypatch.setattr(consumers, "SECONDS_BETWEEN_CHECKS", 0.01)
    client.force_login(owner)
    browser = SessionStore(client.session.session_key)

    async def watch() -> int:
        socket = await knock(owner, session, browser=browser)
        await accepted(socket)
        await heard(socket)
        await sync_to_async(client.post)("/sign-out")
        return await closed(socket)

    assert asyncio.run(watch()) == 4404


def test_the_sockets_of_a_browser_close_when_the_password_changes(
    owner: User, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "SECONDS_BETWEEN_LOOKS", 0.01)
    monkeypatch.setattr(consumers, "SECONDS_BETWEEN_CHECKS", 0.01)
    client = Client()
    client.force_login(owner)
    browser = SessionStore(client.session.session_key)

    async def watch() -> int:
        socket = await knock(owner, session, browser=browser)
        await accepted(socket)
        await heard(socket)
        changed = User.objects.filter(pk=owner.pk)
        await sync_to_async(changed.update)(password="another")
        return await closed(socket)

    assert asyncio.run(watch()) == 4404


def test_one_person_has_so_many_sockets_and_no_more(
    owner: User, editor: User, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "MAX_PER_USER", 2)

    async def kind(socket: ApplicationCommunicator) -> object:
        answer = await socket.receive_output(timeout=PATIENCE_SECONDS)
        if answer["type"] == "websocket.accept":
            await heard(socket)
        return answer.get("code"), answer.get("reason")

    async def watch() -> None:
        sockets = [await knock(owner, session) for _ in range(2)]
        assert [await kind(one) for one in sockets] == [(None, None)] * 2
        assert await kind(await knock(owner, session)) == (
            TRY_AGAIN,
            "You have too many pages open.",
        )
        others = await knock(editor, session)
        assert await kind(others) == (None, None)
        for one in (sockets[0], others):
            await one.send_input({"type": "websocket.disconnect", "code": 1000})
            await one.wait()
        again = await knock(owner, session)
        assert await kind(again) == (None, None)
        for one in (sockets[1], again):
            await one.send_input({"type": "websocket.disconnect", "code": 1000})
            await one.wait()

    asyncio.run(watch())
    assert not consumers._open


@pytest.mark.parametrize(
    ("extensions", "answer"),
    [({"websocket.http.response": {}}, 404), ({}, 4404), (None, 4404)],
)
def test_an_unknown_path_of_a_socket_is_not_found(
    extensions: object, answer: int
) -> None:
    async def ask() -> int:
        scope = {
            "type": "websocket",
            "path": "/ws/nothing/",
            "headers": [(b"host", b"localhost"), (b"origin", b"http://localhost")],
            "extensions": extensions,
        }
        socket = ApplicationCommunicator(application, scope)
        await socket.send_input({"type": "websocket.connect"})
        message = await socket.receive_output(timeout=PATIENCE_SECONDS)
        return int(message.get("status") or message["code"])

    assert asyncio.run(ask()) == answer


@pytest.mark.redis
def test_a_page_that_leaves_is_gone_whatever_its_listener_is_about() -> None:
    async def those_that_stay() -> list[int]:
        """After how many steps of the loop a listener was told to end, and didn't."""
        redis = get_channel_layer().connection(0)
        await redis.ping()  # connected, so that nothing but the question takes steps
        left = []
        for steps in range(40):
            listener = asyncio.create_task(redis.bzpopmin(f"nobody.{steps}", 1))
            for _ in range(steps):
                await asyncio.sleep(0)
            listener.cancel()
            await asyncio.wait({listener})
            if not listener.cancelled():
                left.append(steps)
        return left

    assert asyncio.run(those_that_stay()) == []


@pytest.mark.redis
def test_nothing_ends_a_listener_but_a_connection_that_is_lost() -> None:
    async def options() -> dict[str, object]:
        pool = get_channel_layer().connection(0).connection_pool
        return dict(pool.connection_kwargs)

    asked = asyncio.run(options())
    assert (asked["socket_timeout"], asked["socket_keepalive"]) == (None, True)


class Frozen:
    """A channel layer whose server takes what it is told and never answers."""

    asked = 0

    async def receive(self, *_: object) -> None:
        self.asked += 1
        await asyncio.Event().wait()

    group_send = group_add = group_discard = receive

    async def new_channel(self) -> str:
        return "specific.one"


@pytest.mark.sqlite
@pytest.mark.usefixtures("redis_unknown")
def test_who_tells_of_a_change_waits_for_no_layer_that_is_frozen(
    owner: User,
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    layer = Frozen()
    monkeypatch.setattr(events, "get_channel_layer", lambda: layer)
    monkeypatch.setattr(events, "LAYER_SECONDS", 0.01)
    append(owner, session)
    append(owner, session)
    session.refresh_from_db()
    assert session.message_count == 2
    assert layer.asked == 1  # and not again at once
    assert caplog.text.count("The channel layer can't be reached") == 1


@pytest.mark.sqlite
@pytest.mark.usefixtures("redis_unknown")
def test_a_page_is_told_to_try_again_while_the_layer_is_frozen(
    owner: User, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused() -> object:
        socket = await knock(owner, session)
        return await socket.receive_output(timeout=PATIENCE_SECONDS)

    monkeypatch.setattr("channels.consumer.get_channel_layer", lambda _: Frozen())
    monkeypatch.setattr(events, "LAYER_SECONDS", 0.01)
    assert asyncio.run(refused()) == {"type": "websocket.close", "code": TRY_AGAIN}


class Leaving(InMemoryChannelLayer):
    """A channel layer whose server goes away while a page listens."""

    def __init__(self) -> None:
        super().__init__()
        self.leaves = asyncio.Event()

    async def receive(self, channel: str) -> dict[str, Any]:
        await self.leaves.wait()
        raise RedisError("Connection closed by server.")


@pytest.mark.sqlite
def test_a_socket_ends_with_its_layer_as_by_itself_and_looks_for_nothing_more(
    owner: User, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def watch() -> set[asyncio.Task[Any]]:
        layer = Leaving()
        monkeypatch.setattr("channels.consumer.get_channel_layer", lambda _: layer)
        before = asyncio.all_tasks()
        socket = await knock(owner, session)
        await accepted(socket)
        await heard(socket)
        layer.leaves.set()
        await socket.wait(timeout=PATIENCE_SECONDS)
        await asyncio.gather(*(asyncio.all_tasks() - before), return_exceptions=True)
        return asyncio.all_tasks() - before

    assert not asyncio.run(watch())
