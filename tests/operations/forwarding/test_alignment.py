"""A request that goes on from an earlier one is read from there on, to the same end."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from operations.forwarding.alignment import aligning
from operations.log.cache import PROCESS_MEMORY, forget_everything
from tests.operations.support.rest import get, make_session, operate, post, said

pytestmark = pytest.mark.usefixtures("memory")


def call(*ids: str) -> dict[str, Any]:
    calls = [
        {"id": id_, "type": "function", "function": {"name": "look", "arguments": "{}"}}
        for id_ in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def use(*ids: str) -> dict[str, Any]:
    blocks = [
        {"type": "tool_use", "id": id_, "name": "look", "input": {}} for id_ in ids
    ]
    return {"role": "assistant", "content": blocks}


def seen(*ids: str) -> dict[str, Any]:
    blocks = [
        {"type": "tool_result", "tool_use_id": id_, "content": f"Seen {id_}."}
        for id_ in ids
    ]
    return {"role": "user", "content": blocks}


def result(id_: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": f"Seen {id_}."}


NAMELESS = {
    "role": "assistant",
    "content": None,
    "function_call": {"name": "look", "arguments": "{}"},
}
TALKS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "openai": (
        [
            {"role": "system", "content": "Be brief."},
            *said(2),
            call("a", "b"),
            *(result("a"), result("b")),
            {"role": "assistant", "content": ""},
            {"role": "user", "content": ""},
            {"role": "assistant", "content": ""},
            *said(2),
            NAMELESS,
            {"role": "function", "name": "look", "content": "Seen."},
            *said(3),
        ],
        {"format": "openai"},
    ),
    "anthropic": (
        [
            *said(2),
            use("a", "b"),
            seen("a", "b"),
            *said(2)[1:],
            use("c"),
            seen("c"),
            *said(2)[1:],
            {"role": "user", "content": [{"type": "text", "text": ""}]},
            *said(3)[1:],
        ],
        {"format": "anthropic", "system": "Be brief."},
    ),
}


class Sessions:
    """One session with a memory and one without, that are sent the same."""

    def __init__(self, agent: Client, committing: Any, name: str) -> None:
        self.agent, self._committing = agent, committing
        self.talk, self._members = TALKS[name]
        self.ids = [make_session(agent, []) for _ in range(2)]

    def send(self, messages: list[Any], **members: Any) -> Any:
        """What both answer, which is the same."""
        body = {"messages": messages, **self._members, **members}
        remembered = self._answer(self.ids[0], json.dumps(body))
        kept = dict(PROCESS_MEMORY.held)
        forget_everything()
        fresh = self._answer(self.ids[1], json.dumps(body))
        forget_everything()
        PROCESS_MEMORY.held.update(kept)
        assert remembered == fresh
        return remembered

    def both(self, act: Callable[[str], object]) -> None:
        for session_id in self.ids:
            act(session_id)

    def cut(self, session_id: str) -> None:
        operate(self.agent, session_id, "digest", range=[1, 2], summary="Sum")

    def _answer(self, session_id: str, body: str) -> Any:
        path = f"/api/sessions/{session_id}/apply"
        with self._committing(execute=True):
            answer = self.agent.post(path, body, "application/json")
        found = answer.json()
        count = get(self.agent, f"/api/sessions/{session_id}")["message_count"]
        told = ("messages", "system", "tokens", "issues", "code", "at", "detail")
        return answer.status_code, count, {k: found[k] for k in told if k in found}


@pytest.fixture(params=TALKS)
def sessions(
    request: Any, agent: Client, django_capture_on_commit_callbacks: Any
) -> Sessions:
    return Sessions(agent, django_capture_on_commit_callbacks, request.param)


@pytest.mark.parametrize("step", [1, 2, 3])
def test_a_talk_that_grows_is_laid_as_if_each_request_were_the_first(
    sessions: Sessions, step: int
) -> None:
    for end in range(1, len(sessions.talk) + step, step):
        status, _, _ = sessions.send(sessions.talk[:end])
        assert status == 200
        if end == 5:
            sessions.both(sessions.cut)


def test_only_what_is_new_is_read(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions.send(sessions.talk[:4])
    asked: list[int] = []
    read = aligning.read_given

    def count(session: Any, inbound: Any, start: int) -> Any:
        asked.append(len(inbound.messages) - start)
        return read(session, inbound, start)

    monkeypatch.setattr(aligning, "read_given", count)
    sessions.send(sessions.talk[:6])
    assert asked == [2, 6]
    sessions.send(sessions.talk[:6], model="gpt-4")
    assert asked[2:] == [0, 6]


def test_what_another_door_recorded_is_found_behind_it(sessions: Sessions) -> None:
    sessions.send(sessions.talk[:2])

    def record(session_id: str) -> None:
        path = f"/api/sessions/{session_id}/messages"
        post(sessions.agent, path, {"messages": said(2)}, expect=201)

    sessions.both(record)
    assert sessions.send([*sessions.talk[:2], *said(3)])[0] == 200
    again = [*sessions.talk[:2], *said(2), *said(2)]
    status, _, told = sessions.send(again)
    assert (status, told["messages"]) == (200, again)


def test_places_are_counted_from_the_first_message(sessions: Sessions) -> None:
    sessions.send(sessions.talk[:4])
    status, _, told = sessions.send([*sessions.talk[:4], *said(1), {"role": "x"}])
    assert (status, told["at"][:2]) == (422, ["messages", 5])


def test_another_beginning_is_laid_anew(sessions: Sessions) -> None:
    sessions.send(sessions.talk[:4])
    other = [{"role": "user", "content": "Other."}, *sessions.talk[1:5]]
    assert sessions.send(other)[2]["messages"] == other
    assert sessions.send(sessions.talk[:2])[0] == 200
    assert sessions.send(sessions.talk[:4], system="Be long.")[0] == 200
