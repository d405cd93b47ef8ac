"""One question that is asked twice at once, and the calls of our tools in both replies."""

import json
from typing import Any

import pytest

from contextstudio.accounts.models import User
from operations.forwarding.proxy.incoming import Incoming
from operations.forwarding.proxy.recording import Exchange, Outcome
from operations.forwarding.proxy.replies import ReplyReader
from operations.forwarding.proxy.routes import RequestKind, Route
from operations.forwarding.proxy.tools.answering import settle
from operations.forwarding.proxy.tools.offering import Offer
from operations.forwarding.upstreams.services import WireProvider
from operations.models import AnsweredCalls, ScratchpadVersion
from tests.people import caller
from threads.models import Session

from .forms import Said, answer_of

PATH = "/v1/chat/completions"
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
