"""A request that begins as its session's last one goes out as if it were read whole."""

import json
import math
from typing import Any

import pytest

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.models import Project, User
from operations.edits.arguments import DigestArguments
from operations.edits.services import record_edit
from operations.forwarding import before_lock
from operations.forwarding.proxy import bodies
from operations.forwarding.proxy.incoming import Incoming
from operations.forwarding.proxy.preparing import prepare
from operations.forwarding.proxy.recording import Exchange, record_reply
from operations.forwarding.proxy.routes import route_of
from operations.log.cache import PROCESS_MEMORY, forget_everything
from tests.people import caller
from threads.domain.message import Message, Role
from threads.domain.part import Text
from threads.models import Session

pytestmark = pytest.mark.usefixtures("memory")

PATHS = {
    "openai": "/v1/chat/completions",
    "anthropic": "/v1/messages",
    "openai-responses": "/v1/responses",
    "gemini": "/v1beta/models/some:generateContent",
}
TURNS = 5


def said(form: str, role: str, text: str) -> dict[str, Any]:
    """A message in a form."""
    if form == "gemini":
        named = "model" if role == "assistant" else role
        return {"role": named, "parts": [{"text": text}]}
    return {"role": role, "content": text}


class Client:
    """One who sends a conversation through the proxy, a reply and a question longer each time."""

    def __init__(self, who: Caller, form: str) -> None:
        self.caller, self.form = who, form
        self.path = PATHS[form].encode()
        self.said = [said(form, "user", "Question 0")]

    def ask(self, **sent: str) -> bytes:
        """What goes out in place of the conversation, whose reply is then recorded."""
        names = bodies.FORMS[self.form]
        body = {"model": "m", names.messages: self.said, "temperature": 1.0}
        headers = [(b"authorization", b"Bearer sk-own")]
        headers += [(name.encode(), value.encode()) for name, value in sent.items()]
        incoming = Incoming(
            method="POST", query=b"", headers=headers, body=json.dumps(body).encode()
        )
        route = route_of("POST", self.path, dict(headers))
        outgoing = prepare(self.caller, route, incoming)
        assert outgoing.exchange is not None
        self._reply(outgoing.exchange)
        return outgoing.body

    def _reply(self, exchange: Exchange) -> None:
        reply = f"Answer {len(self.said)}"
        record_reply(exchange, [Message(role=Role.ASSISTANT, parts=(Text(reply),))])
        self.said.append(said(self.form, "assistant", reply))
        self.said.append(said(self.form, "user", f"Question {len(self.said)}"))

    @property
    def session(self) -> Session:
        """The only one that it made."""
        return Session.objects.get(created_by=self.caller.actor)


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lengths of the bodies that were read whole."""
    found: list[int] = []
    read = bodies.read_body

    def noting(form: str, raw: bytes) -> bodies.ForwardedBody:
        found.append(len(raw))
        return read(form, raw)

    monkeypatch.setattr(bodies, "read_body", noting)
    return found


@pytest.fixture(params=PATHS)
def twins(
    request: pytest.FixtureRequest, owner: User, editor: User, project: Project
) -> list[Client]:
    return [Client(caller(one), request.param) for one in (owner, editor)]


def test_only_the_first_request_is_read_whole_and_all_go_out_the_same(
    twins: list[Client],
    whole: list[int],
    django_capture_on_commit_callbacks: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    remembering, forgetful = twins
    for turn in range(TURNS):
        monkeypatch.setattr(
            before_lock, "LONG", 0
        )  # what long requests do, they all do
        with django_capture_on_commit_callbacks(execute=True):
            sent = remembering.ask()
        # Each of the other's, and of its own the first; Gemini's are always read whole.
        own = turn if remembering.form == "gemini" else 0
        assert len(whole) == 1 + turn + own
        kept = dict(PROCESS_MEMORY.held)
        forget_everything()
        monkeypatch.setattr(before_lock, "LONG", math.inf)
        with django_capture_on_commit_callbacks(execute=True):
            assert forgetful.ask() == sent
        PROCESS_MEMORY.held.update(kept)
        if turn == 1:
            edit = DigestArguments(range=(0, 1), summary="They talked.")
            for client in twins:
                with django_capture_on_commit_callbacks(execute=True):
                    record_edit(client.caller, client.session.pk, edit)
    assert b"They talked." in sent
    assert b"Question 0" not in sent
    assert {one.session.message_count for one in twins} == {2 * TURNS}


def test_other_tags_are_another_request(
    twins: list[Client], whole: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        twins[0].ask()
    twins[0].ask(**{"x-contextstudio-tags": "other"})
    assert len(whole) == 2


def test_a_branch_is_another_session(
    twins: list[Client], whole: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    """It begins with the bytes of the last request, and has another reply behind them."""
    one = twins[0]
    with django_capture_on_commit_callbacks(execute=True):
        one.ask()
    words = json.dumps(one.said[1])
    one.said[1] = json.loads(words.replace("Answer 1", "Another answer"))
    with django_capture_on_commit_callbacks(execute=True):
        one.ask()
    assert len(whole) == 2
    held = Session.objects.filter(created_by=one.caller.actor)
    assert sorted(one.message_count for one in held) == [2, 4]
