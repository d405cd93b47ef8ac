"""One question that is asked twice at once, and the calls of our tools in both replies."""

import json
from functools import partial
from typing import Any

import pytest

from contextstudio.accounts.models import Project, User
from operations.forwarding.proxy import sessions
from operations.forwarding.proxy.incoming import Incoming, ProxiedRequest
from operations.forwarding.proxy.recording import (
    Exchange,
    Outcome,
    record_outcome,
    record_reply,
)
from operations.forwarding.proxy.replies import ReplyReader
from operations.forwarding.proxy.rewriting import rewrite
from operations.forwarding.proxy.routes import RequestKind, Route, route_of
from operations.forwarding.proxy.tools.answering import settle
from operations.forwarding.proxy.tools.offering import Offer
from operations.forwarding.upstreams.services import WireProvider, target_of
from operations.log.selectors import load_history
from operations.models import AnsweredCalls, ScratchpadVersion
from tests.people import caller
from threads.domain.message import Message, Role
from threads.domain.part import Text, ToolCall, ToolResult
from threads.models import Session
from threads.sessions.services import NewSession, create_session
from threads.store.originals import load_recorded_at

from .conftest import Ask
from .forms import Said, answer_of

PATH = "/v1/chat/completions"
GEMINI = "/v1beta/models/g:generateContent"
HELLO = b'{"model": "m", "messages": [{"role": "user", "content": "Hello"}]}'
NOTE = ("manage_scratchpad", {"action": "append", "content": "Boats: 21."})
LOOK = ("look_around", {})


@pytest.fixture
def offer(editor: User) -> Offer:
    body = json.dumps({"messages": [{"role": "user", "content": "Note the boats"}]})
    return Offer(
        caller=caller(editor),
        route=Route(
            provider=WireProvider.OPENAI,
            path=PATH,
            kind=RequestKind.REPLY,
            form="openai",
        ),
        incoming=Incoming(method="POST", query=b"", headers=[], body=body.encode()),
        names=frozenset({"manage_scratchpad"}),
        before=0,
        answered=0,
    )


def exchange_of(offer: Offer, session: Session) -> Exchange:
    return Exchange(
        caller=offer.caller,
        session_id=session.pk,
        request_id=None,
        count=session.message_count,
        provider="openai",
        model="",
    )


def outcome(*calls: Any, first: int) -> Outcome:
    _, pieces = answer_of(PATH, {}, Said("I note it.", calls=calls, first=first))
    reader = ReplyReader("openai", "application/json")
    for piece in pieces:
        reader.feed(piece)
    return Outcome(read=lambda: reader.finish(broken=False))


@pytest.mark.django_db
@pytest.mark.parametrize("calls", [(NOTE,), (NOTE, LOOK)], ids=["ours", "both"])
def test_the_calls_of_the_reply_that_comes_first_are_answered(
    offer: Offer, session: Session, calls: Any
) -> None:
    exchange, asks_again = exchange_of(offer, session), len(calls) == 1
    first = settle(offer, exchange, outcome(*calls, first=1))
    assert first.asks_again is asks_again
    kept = AnsweredCalls.objects.get(session=session)
    second = settle(offer, exchange, outcome(*calls, first=5))
    assert second == first
    assert AnsweredCalls.objects.get(session=session) == kept
    assert ScratchpadVersion.objects.filter(session=session).count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("command", ["", "ls"], ids=["one message", "several"])
def test_a_reply_that_is_there_already_is_known_by_its_last_message(
    editor: User, session: Session, command: str
) -> None:
    exchange = Exchange(
        caller=caller(editor),
        session_id=session.pk,
        request_id=None,
        count=session.message_count,
        provider="openai",
        model="",
    )

    def replied(text: str) -> int | None:
        _, pieces = answer_of("/v1/responses", {}, Said(text, runs=command))
        reader = ReplyReader("openai-responses", "application/json")
        for piece in pieces:
            reader.feed(piece)
        read = partial(reader.finish, broken=False)
        return record_outcome(exchange, Outcome(read=read))

    first = replied("21 boats.")
    assert first == exchange.count + (2 if command else 0)
    assert replied("21 boats.") == first
    assert replied("22 boats.") is None


@pytest.mark.django_db
def test_a_session_that_two_requests_name_first_is_that_of_both(
    project: Project, editor: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    who, named = caller(editor), sessions.named_session
    made = create_session(who, project, NewSession(external_id="boats"))
    too_early = [None, None]  # the other request has not made it yet

    def named_later(*given: Any) -> Session | None:
        return too_early.pop() if too_early else named(*given)

    monkeypatch.setattr(sessions, "named_session", named_later)
    headers = [(b"x-session-id", b"boats")]
    route = route_of("POST", PATH.encode(), {})
    incoming = Incoming(method="POST", query=b"", headers=headers, body=HELLO)
    target = target_of(project.pk, route.provider)
    sent = rewrite(ProxiedRequest(who, project, target, route, incoming))
    assert sent.exchange is not None
    assert sent.exchange.session_id == made.pk


@pytest.mark.django_db
def test_the_same_answer_to_a_question_asked_again_is_the_one_its_client_has(
    ask: Ask,
) -> None:
    """Gemini's calls have no ids that would tell the two answers apart."""

    def answered(call_id: str) -> None:
        sent = ask(GEMINI, {"contents": contents}, "boats")
        parts = Text("I look."), ToolCall(call_id, "look", {})
        assert sent.exchange is not None
        record_reply(sent.exchange, [Message(role=Role.ASSISTANT, parts=parts)])

    contents: list[Any] = [{"role": "user", "parts": [{"text": "How many boats?"}]}]
    answered("call_a_1")
    answered("call_b_1")
    calls = [{"text": "I look."}, {"functionCall": {"name": "look", "args": {}}}]
    result = {"name": "look", "response": {"output": "21"}}
    contents += [
        {"role": "model", "parts": calls},
        {"role": "user", "parts": [{"functionResponse": result}]},
    ]
    for _ in range(2):
        sent = ask(GEMINI, {"contents": contents}, "boats")
        assert json.loads(sent.body)["contents"] == contents
    session = Session.objects.get()
    (left_out,) = load_history(session).log.client_edits
    assert left_out.edit.targets == ("m1",)
    (part,) = load_recorded_at(session, [3])[3].parts
    assert isinstance(part, ToolResult)
    assert part.call_id == "call_b_1"
