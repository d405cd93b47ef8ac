"""Contexts and ledgers that are kept: the same as those that are made, whatever was done since."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from contextstudio.accounts.models import User
from operations.context import pipeline, services
from operations.log.cache import forget_everything
from tests.operations.support.rest import get, make_session, operate, post, said
from threads.models import Session

pytestmark = pytest.mark.usefixtures("memory")

CALL = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
TRACE = "Traceback (most recent call last):\n" + '  File "a.py", line 1\n' * 20
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)
TALK = [
    *said(8),
    {"role": "user", "content": f"Look.\n{TRACE}ValueError: message 9"},
    *said(16)[1:],
    {"role": "user", "content": "Look."},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": "Seen. " * 300},
    {"role": "assistant", "content": "Done."},
]
STEPS = 10
ASKED: tuple[tuple[str, dict[str, str]], ...] = (
    ("ledger", {}),
    ("ledger", {"provider": "anthropic", "model": "claude-sonnet-4-5"}),
    ("ledger", {"model": "gpt-4"}),
    ("ledger", {"operation": "o1"}),
    ("context", {}),
    ("context", {"active_tags": "lean"}),
    ("suggestions", {}),
    ("suggestions", {"include_folded": "true"}),
)


@pytest.fixture
def session_id(agent: Client) -> str:
    session_id = make_session(agent, TALK, system="Be brief.")
    operate(agent, session_id, "digest", range=[3, 6], summary="Sum")
    return session_id


class Reader:
    """Asks for what may be kept; what is kept is kept at once, for no test ever commits."""

    def __init__(self, committing: Any, client: Client) -> None:
        self._committing, self._client = committing, client

    def __call__(self, session_id: str, place: str, **query: str) -> Any:
        with self._committing(execute=True):
            return get(self._client, f"/api/sessions/{session_id}/{place}", **query)

    def all(self, session_id: str) -> list[Any]:
        return [self(session_id, place, **query) for place, query in ASKED]


@pytest.fixture
def read(django_capture_on_commit_callbacks: Any, agent: Client) -> Reader:
    return Reader(django_capture_on_commit_callbacks, agent)


class Changes:
    """Changes at random of all that a context depends on."""

    def __init__(self, agent: Client, owner: User, session_id: str, seed: int) -> None:
        self._agent, self._owner, self._session_id = agent, owner, session_id
        self._chance = random.Random(seed)
        self._path = f"/api/sessions/{session_id}"
        self._all: list[Callable[[], object]] = [
            *(self._edit, self._edit, self._edit, self._toggle, self._undo),
            *(self._redact, self._patch, self._put, self._slice, self._grow),
        ]

    def next(self) -> str:
        """Make one, and say which."""
        change = self._chance.choice(self._all)
        change()
        return change.__name__

    def _edit(self) -> None:
        first = self._chance.randint(2, 20)
        fields: dict[str, Any] = self._chance.choice(
            (
                {"type": "digest", "summary": "Sum"},
                {"type": "snip"},
                {"type": "snip", "tags": ["lean"]},
                {"type": "snip", "propose": True},
            )
        )
        body = {**fields, "range": [first, first + self._chance.randint(0, 3)]}
        # One that conflicts with another is refused, which leaves all as it was.
        self._agent.post(f"{self._path}/operations", body, "application/json")

    def _toggle(self) -> None:
        found = get(self._agent, f"{self._path}/operations")["operations"]
        one = self._chance.choice(found)["id"]
        body = {"active": self._chance.random() < 0.5}
        self._agent.post(f"/api/operations/{one}/toggle", body, "application/json")

    def _undo(self) -> None:
        self._agent.post(f"{self._path}/undo", {}, "application/json")

    def _redact(self) -> None:
        text = f"message {self._chance.randint(0, 23)}"
        body = {"type": "redact", "patterns": [{"start": text, "all": True}]}
        self._agent.post(f"{self._path}/operations", body, "application/json")

    def _patch(self) -> None:
        member = self._chance.choice(
            ({"objective": "lean"}, {"model": "gpt-4"}, {"title": "Another"})
        )
        self._agent.patch(self._path, member, "application/json")

    def _put(self) -> None:
        place, body = self._chance.choice(
            (
                ("policy", {"policy": {"window": 2}}),
                ("policy", {"policy": {"markers": True, "memos": "relevant"}}),
                ("scratchpad", {"content": f"- [ ] {self._chance.random()}"}),
                ("state", {"content": f"Goal: {self._chance.random()}"}),
            )
        )
        answer = self._agent.put(f"{self._path}/{place}", body, "application/json")
        assert answer.status_code == 200, answer.content

    def _slice(self) -> None:
        end = self._chance.randint(5, 20)
        slice = {"start_message_index": 0, "end_message_index": end}
        body = {"session_id": self._session_id, **slice}
        post(self._agent, "/api/tools/request_context_slice", body)

    def _grow(self) -> None:
        more = {"messages": [{"role": "assistant", "content": "You are welcome."}]}
        post(self._agent, f"{self._path}/messages", more, expect=201)


@pytest.mark.parametrize("seed", range(6))
def test_none_outlives_what_it_was_made_of(
    read: Reader, agent: Client, owner: User, session_id: str, seed: int
) -> None:
    changes = Changes(agent, owner, session_id, seed)
    done = []
    for _ in range(STEPS):
        done.append(changes.next())
        found = read.all(session_id)
        assert read.all(session_id) == found, done
        forget_everything()
        assert read.all(session_id) == found, done


class Compiling:
    """Counts how often a request is compiled."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times = 0
        compiling = pipeline.compile_request

        def counted(*arguments: Any) -> Any:
            self.times += 1
            return compiling(*arguments)

        monkeypatch.setattr(pipeline, "compile_request", counted)


def test_a_ledger_compiles_the_originals_once_and_what_is_sent_once_a_change(
    read: Reader, agent: Client, session_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = Compiling(monkeypatch)
    read(session_id, "ledger")
    assert work.times == 2
    read(session_id, "ledger")
    read(session_id, "context")
    assert work.times == 2
    operate(agent, session_id, "snip", range=[9, 9])
    read(session_id, "ledger")
    assert work.times == 3


def test_a_context_of_too_many_messages_is_not_kept(
    read: Reader, session_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "MAX_KEPT", Session.objects.get().message_count - 9)
    work = Compiling(monkeypatch)
    for _ in range(2):
        read(session_id, "context")
    assert work.times == 2


def test_a_context_with_an_image_is_not_kept_for_its_bytes_are_in_it(
    read: Reader, agent: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"data:image/png;base64,{PIXEL}"
    image = {"type": "image_url", "image_url": {"url": address}}
    session_id = make_session(agent, [{"role": "user", "content": [image]}])
    work = Compiling(monkeypatch)
    first = read(session_id, "context")
    assert address in str(first)
    assert read(session_id, "context") == first
    assert work.times == 2
