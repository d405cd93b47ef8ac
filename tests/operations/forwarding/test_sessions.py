"""Which session a request without an id is of, and where a side call goes."""

from typing import Any

import pytest

from contextstudio.accounts.models import Project, User
from operations.forwarding.alignment import Inbound
from operations.forwarding.requests.records import list_requests
from operations.forwarding.services import AppliedRequest, apply
from operations.forwarding.sessions import session_for
from operations.models import ClientOpening
from tests.people import caller
from threads.domain.message import Message, Role
from threads.domain.part import Text
from threads.models import Session
from threads.sessions.services import NewSession, append_messages, create_session

LONG = "This is told at some length, so that it can be known again. "
Turn = dict[str, Any]


def user(text: str) -> Turn:
    return {"role": "user", "content": f"{text} {LONG}"}


def model(text: str) -> Turn:
    return {"role": "assistant", "content": f"{text} {LONG}"}


SYSTEM = {"role": "system", "content": "You are an agent that works on a repository."}
TALK = [SYSTEM, user("one"), model("1"), user("two"), model("2"), user("three")]


class Caller:
    """One who sends requests without saying of which session they are."""

    def __init__(self, person: User, project: Project) -> None:
        self.caller, self.project = caller(person), project

    def find(self, messages: list[Turn]) -> Session | None:
        return session_for(self.caller, self.project, Inbound(messages=messages))

    def send(self, messages: list[Turn], **members: Any) -> AppliedRequest:
        """As the proxy does."""
        session = self.find(messages)
        if session is None:
            session = create_session(self.caller, self.project, NewSession())
        return apply(self.caller, session.pk, Inbound(messages=messages, **members))


@pytest.fixture
def client(editor: User, project: Project) -> Caller:
    return Caller(editor, project)


def test_a_request_goes_on_from_the_session_that_opened_as_it_does(
    client: Caller,
) -> None:
    first = client.send(TALK[:2]).session
    other = client.send([SYSTEM, user("other")]).session
    assert first != other
    assert client.find(TALK[:2]) == first  # it is sent again, for no reply came
    assert client.send(TALK[:4]).session == first
    assert client.send(TALK).session == first
    assert (
        client.send([SYSTEM, user("other"), model("o"), user("more")]).session == other
    )


def test_a_conversation_that_opens_with_the_same_words_is_a_new_one(
    client: Caller,
) -> None:
    first = client.send(TALK[:4]).session
    second = client.send(TALK[:2]).session
    assert first != second
    other = [*TALK[:2], model("otherwise"), user("then")]
    assert client.send(other).session == second
    assert client.send(TALK).session == first


def test_a_session_made_for_a_request_is_named_by_its_first_question(
    client: Caller,
) -> None:
    reminder = {"type": "text", "text": "<system-reminder>Mind it.</system-reminder>"}
    question = {"type": "text", "text": "Why are holds lost?"}
    client.send([SYSTEM, {"role": "user", "content": [reminder, question]}])
    assert Session.objects.get().title == "Why are holds lost?"
    client.send([SYSTEM, {"role": "user", "content": [reminder, question]}, model("1")])
    assert Session.objects.get().title == "Why are holds lost?"


def test_who_cut_off_the_beginning_is_known_by_a_reply(client: Caller) -> None:
    first = client.send(TALK).session
    client.send([SYSTEM, user("other")])
    trimmed = [SYSTEM, *TALK[3:], model("3"), user("four")]
    assert client.send(trimmed).session == first
    assert client.send([*trimmed, model("4"), user("five")]).session == first


def test_who_summed_up_is_known_by_what_the_model_said_last(client: Caller) -> None:
    first = client.send(TALK).session
    told = "\n".join(f"{n}. {LONG}" for n in range(4))
    reply = Message(role=Role.ASSISTANT, parts=(Text(told),))
    append_messages(client.caller, first.pk, [reply])
    summary = user(f"We go on from here:\n{told}\n")
    sent = client.send([SYSTEM, summary])
    assert sent.session == first
    assert sent.request is not None
    assert sent.request.decision == "compacted"
    assert client.send([SYSTEM, summary, model("on"), user("six")]).session == first


def test_another_callers_sessions_are_not_looked_at(
    client: Caller, owner: User, project: Project
) -> None:
    client.send(TALK)
    assert Caller(owner, project).find(TALK) is None


def test_a_request_of_no_user_opens_nothing(client: Caller) -> None:
    assert client.find([SYSTEM]) is None
    sent = client.send([SYSTEM])
    assert not ClientOpening.objects.filter(session=sent.session).exists()


def test_a_call_for_a_title_before_all_else_is_a_branch_of_the_conversation(
    client: Caller,
) -> None:
    tools = [{"type": "function", "function": {"name": "look"}}]
    session = create_session(client.caller, client.project, NewSession())
    asked = ("Write a title for this:", "one")
    title = [SYSTEM, *({"role": "user", "content": text} for text in asked)]
    titled = apply(client.caller, session.pk, Inbound(messages=title)).session
    assert titled.title == "Write a title for this:"
    append_messages(
        client.caller, session.pk, [Message(role=Role.ASSISTANT, parts=(Text("One"),))]
    )
    sent = apply(client.caller, session.pk, Inbound(messages=TALK[:2], tools=tools))
    assert sent.session == session
    assert sent.session.title.startswith("one This")
    side = apply(client.caller, session.pk, Inbound(messages=[user("else")]))
    assert (side.session.parent, side.session.relation) == (session, "side_call")


def test_a_sub_agent_under_a_prompt_of_its_own_may_be_asked_the_same(
    client: Caller,
) -> None:
    tools = [{"type": "function", "function": {"name": "look"}}]
    main = client.send(TALK[:2], tools=tools).session
    other = {"role": "system", "content": "You are a helper that looks for files."}
    for count in (2, 4):
        messages = [other, *TALK[1:count]]
        sent = apply(client.caller, main.pk, Inbound(messages=messages, tools=tools))
        assert (sent.session.parent, sent.session.relation) == (main, "subagent")
    assert client.caller.actor == sent.session.created_by
    rows = list_requests(client.caller, sent.session.pk).items
    assert [row.decision for row in rows] == ["extended", "linked"]
