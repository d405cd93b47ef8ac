"""The socket of a session: who is let in, and from where facts reach it."""

import asyncio
import json
import threading

import pytest
from asgiref.testing import ApplicationCommunicator
from channels.routing import URLRouter
from django.contrib.auth.models import AnonymousUser

from contextstudio.accounts.models import Project, User
from contextstudio.accounts.selectors import caller_of_user
from operations.editor.consumers import websocket_urlpatterns
from threads.domain.message import Message, Role
from threads.domain.part import Text
from threads.models import Session
from threads.sessions import services

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def session(owner: User, project: Project) -> Session:
    new = services.NewSession(title="Watched")
    return services.create_session(caller_of_user(owner), project, new)


async def knock(user: object, session: Session) -> ApplicationCommunicator:
    """A socket that has asked to be let in."""
    path = f"/ws/sessions/{session.pk}/"
    scope = {"type": "websocket", "path": path, "user": user, "headers": []}
    socket = ApplicationCommunicator(URLRouter(websocket_urlpatterns), scope)
    await socket.send_input({"type": "websocket.connect"})
    return socket


async def heard(socket: ApplicationCommunicator) -> object:
    """The next fact that it is sent."""
    return json.loads((await socket.receive_output(timeout=5))["text"])


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
    async def watch() -> object:
        socket = await knock(owner, session)
        assert (await socket.receive_output())["type"] == "websocket.accept"
        assert await heard(socket) == {"head": 0, "message_count": 0}
        await asyncio.to_thread(append, owner, session)
        fact = await heard(socket)
        await socket.send_input({"type": "websocket.disconnect", "code": 1000})
        await socket.wait()
        return fact

    assert asyncio.run(watch()) == {"head": 0, "message_count": 1}


def test_a_stranger_and_one_who_is_not_signed_in_hear_nothing(
    stranger: User, session: Session
) -> None:
    async def refused(user: object) -> object:
        socket = await knock(user, session)
        return await socket.receive_output()

    for user in (stranger, AnonymousUser()):
        answer = asyncio.run(refused(user))
        assert answer == {"type": "websocket.close", "code": 4404}
