"""Answers of `apply` that are kept: the same as those that are made, and never of another state."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from contextstudio.accounts.models import Project, User
from operations.forwarding import services
from operations.log.cache import forget_everything
from tests.operations.support.rest import get, make_session, operate, post, said
from tests.people import client_of

pytestmark = pytest.mark.usefixtures("memory")

COUNT = 12
CALL = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
TALK = [
    *said(COUNT),
    {"role": "user", "content": "Look."},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": "Seen. " * 300},
    {"role": "assistant", "content": "Done."},
    {"role": "user", "content": "Thanks."},
]
Change = Callable[[Client, str, User], object]


@pytest.fixture
def session_id(agent: Client) -> str:
    session_id = make_session(agent, TALK)
    operate(agent, session_id, "digest", range=[2, 4], summary="Sum")
    operate(agent, session_id, "snip", range=[7, 7])
    return session_id


def body_of(**members: Any) -> bytes:
    """A request in the spelling of a client of its own."""
    return json.dumps({"messages": TALK, **members}, indent=2).encode()


class Apply:
    """Calls `apply`; what it keeps is kept at once, for no test ever commits."""

    def __init__(self, committing: Any) -> None:
        self._committing = committing

    def __call__(self, client: Client, session_id: str, body: bytes) -> Any:
        path = f"/api/sessions/{session_id}/apply"
        with self._committing(execute=True):
            answer = client.post(path, body, "application/json")
        return answer.status_code, answer.json()


@pytest.fixture
def apply(django_capture_on_commit_callbacks: Any) -> Apply:
    return Apply(django_capture_on_commit_callbacks)


def patch(**members: Any) -> Change:
    def change(agent: Client, session_id: str, _: User) -> None:
        path = f"/api/sessions/{session_id}"
        answer = agent.patch(path, members, "application/json")
        assert answer.status_code == 200, answer.content

    return change


def put(place: str, **members: Any) -> Change:
    def change(agent: Client, session_id: str, _: User) -> None:
        path = f"/api/sessions/{session_id}/{place}"
        answer = agent.put(path, members, "application/json")
        assert answer.status_code == 200, answer.content

    return change


def record(kind: str, **members: Any) -> Change:
    return lambda agent, session_id, _: operate(agent, session_id, kind, **members)


def request_slice(agent: Client, session_id: str, _: User) -> None:
    slice = {"start_message_index": 1, "end_message_index": 3}
    body = {"session_id": session_id, **slice}
    post(agent, "/api/tools/request_context_slice", body)


def grow(agent: Client, session_id: str, _: User) -> None:
    more = {"messages": [{"role": "assistant", "content": "You are welcome."}]}
    post(agent, f"/api/sessions/{session_id}/messages", more, expect=201)


CHANGES: dict[str, Change] = {
    "snip": record("snip", range=[8, 8]),
    "replace": record("replace", spans=[{"key": "m14", "start": 0, "end": 60}]),
    "condition": record("snip", range=[9, 9], tags=["lean"]),
    "objective": patch(objective="ship"),
    "model": patch(model="gpt-4"),
    "policy": put("policy", policy={"window": 1}),
    "tiers": put("policy", policy={"truncation": {"inactive": 100, "keep": "head"}}),
    "scratchpad": put("scratchpad", content="- [ ] ship"),
    "state": put("state", content="Goal: ship"),
    "slice": request_slice,
    "growth": grow,
}
SILENT = ("objective", "model", "growth")
"""Changes of which such a request need not tell."""
REQUESTS: list[dict[str, Any]] = [
    {"format": "anthropic"},
    {"format": "anthropic", "system": "Be brief."},
    {"active_tags": []},
    {"model": "gpt-4"},
    {"tools": [{"type": "function", "function": {"name": "look"}}]},
    {"append": False},
]


def test_a_request_that_comes_again_is_answered_without_being_read(
    apply: Apply, agent: Client, session_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put("scratchpad", content="Plan")(agent, session_id, User())
    first = apply(agent, session_id, body_of())
    monkeypatch.setattr(services, "apply", None)
    assert apply(agent, session_id, body_of()) == first
    assert first[1]["messages"][-1] == TALK[-1]


def test_what_passes_is_the_clients_own_bytes(agent: Client, session_id: str) -> None:
    own = b'{"x": 1.50e0, "role":"user",\n "content": "message 0"}'
    rest = json.dumps(TALK[1:])[1:-1].encode()
    body = b'{"messages": [' + own + b", " + rest + b"]}"
    for _ in range(2):
        answer = agent.post(
            f"/api/sessions/{session_id}/apply", body, "application/json"
        )
        assert own in answer.content


def test_no_answer_outlives_what_it_was_made_of(
    apply: Apply, agent: Client, owner: User, session_id: str
) -> None:
    """What is answered after each change is what is answered where nothing is kept."""
    body = body_of(append=False, active_tags=["lean"])
    for name, change in CHANGES.items():
        before = apply(agent, session_id, body)
        assert apply(agent, session_id, body) == before, name
        change(agent, session_id, owner)
        after = apply(agent, session_id, body)
        forget_everything()
        if name == "slice":
            request_slice(agent, session_id, owner)
        assert after == apply(agent, session_id, body), name
        assert after != before or name in SILENT, name


def test_another_request_is_not_given_the_same_answer(
    apply: Apply, agent: Client, session_id: str
) -> None:
    put("scratchpad", content="Plan")(agent, session_id, User())
    apply(agent, session_id, body_of())
    for members in REQUESTS:
        found = apply(agent, session_id, body_of(**members))
        forget_everything()
        assert found == apply(agent, session_id, body_of(**members)), members


def test_who_may_not_read_is_told_nothing(
    apply: Apply,
    agent: Client,
    session_id: str,
    viewer: User,
    stranger: User,
    project: Project,
) -> None:
    body = body_of()
    assert apply(agent, session_id, body)[0] == 200
    reading = client_of(viewer, project)
    assert apply(reading, session_id, body)[0] == 403
    assert apply(reading, session_id, body_of(append=False))[0] == 200
    unknown = Client(headers={"Authorization": "Bearer cs_none"})
    assert apply(unknown, session_id, body)[0] == 401
    browser = Client()
    browser.force_login(stranger)
    assert apply(browser, session_id, body)[0] == 404


def test_an_answer_is_kept_only_where_the_session_holds_all_that_was_sent(
    apply: Apply, agent: Client, session_id: str
) -> None:
    more = [*TALK, {"role": "user", "content": "One more."}]
    body = body_of(messages=more, append=False)
    first = apply(agent, session_id, body)
    assert apply(agent, session_id, body) == first
    assert apply(agent, session_id, body_of(messages=more))[0] == 200
    count = get(agent, f"/api/sessions/{session_id}")["message_count"]
    assert count == len(more)


def test_what_is_too_large_is_refused_as_at_other_addresses(
    agent: Client, session_id: str, settings: Any
) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    path = f"/api/sessions/{session_id}"
    answer, other = (
        agent.post(f"{path}/{place}", body_of(), "application/json")
        for place in ("apply", "messages")
    )
    assert 400 <= answer.status_code == other.status_code < 500
