"""Messages that an agent's key brought through the proxy bear its name on the thread page."""

import pytest
from django.test import Client

from contextstudio.accounts.models import Project, User
from contextstudio.accounts.selectors import caller_of_key, find_key
from operations.forwarding.alignment import Inbound
from operations.forwarding.proxy.sessions import begin, drafted
from operations.forwarding.services import apply
from operations.messages.senders import agents_of
from tests.operations.support.rest import said
from tests.people import caller, key_of
from threads.domain.message import Message, Role
from threads.domain.part import Text
from threads.models import Session
from threads.sessions.services import append_messages


def reply(text: str) -> list[Message]:
    return [Message(role=Role.ASSISTANT, parts=(Text(text),))]


@pytest.fixture
def session(owner: User, project: Project) -> Session:
    """Asked three messages and answered by two agents in turn, then a person adds one."""
    talk = said(7)
    made: Session | None = None
    for name, count in (("first", 3), ("second", 6)):
        row = find_key(key_of(owner, project, name=name))
        assert row is not None
        agent = caller_of_key(row)
        about = {"form": "openai", "model": "m", "client": "codex_exec/1"}
        made = made or begin(agent, drafted(agent, project, name=None, **about))
        apply(agent, made.pk, Inbound(messages=talk[:count], door="proxy"))
        if count == 3:
            append_messages(agent, made.pk, reply(str(talk[3]["content"])))
    assert made is not None
    append_messages(caller(owner), made.pk, reply("The reply."))
    append_messages(caller(owner), made.pk, reply("A person's."))
    return Session.objects.get(pk=made.pk)


def test_each_message_is_that_of_the_agent_who_brought_it(session: Session) -> None:
    expected = dict.fromkeys(range(4), "first") | dict.fromkeys((4, 5, 6), "second")
    assert agents_of(session, range(8)) == expected
    assert agents_of(session, [3, 7]) == {3: "first"}
    assert agents_of(session, []) == {}


def test_no_agent_is_named_in_a_session_that_the_proxy_did_not_make(
    session: Session,
) -> None:
    session.format = "api"
    assert agents_of(session, range(8)) == {}


def test_the_thread_page_shows_them(
    client: Client, owner: User, session: Session
) -> None:
    client.force_login(owner)
    page = client.get(f"/sessions/{session.pk}", follow=True).content.decode()
    badge = ' <span class="badge">agent</span></span>'
    assert page.count(f'<span class="by">first{badge}') == 4
    assert page.count(f'<span class="by">second{badge}') == 3
