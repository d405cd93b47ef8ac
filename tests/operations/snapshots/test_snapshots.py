"""Snapshots through REST: points that are named, seen again and gone back to."""

from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client

from contextstudio.accounts.models import Project, User
from tests.operations.support.rest import get, make_session, operate, post
from tests.people import client_of

COUNT = 8


@pytest.fixture
def session_id(agent: Client) -> str:
    return make_session(agent, COUNT)


@pytest.fixture
def path(session_id: str) -> str:
    return f"/api/sessions/{session_id}"


@pytest.fixture
def proposer(reviewer: User, project: Project) -> Client:
    """A client of one who may propose and review, but not edit."""
    return client_of(reviewer, project)


def take(
    client: Client, path: str, name: str, *, expect: int = 201, **more: Any
) -> Any:
    return post(client, f"{path}/snapshots", {"name": name, **more}, expect=expect)


def append(client: Client, path: str, text: str) -> None:
    messages = [{"role": "user", "content": text}]
    post(client, f"{path}/messages", {"messages": messages}, expect=201)


def restore(client: Client, path: str, name: str, *, expect: int = 200) -> Any:
    return post(client, f"{path}/snapshots/{quote(name)}/restore", expect=expect)


def read_by_models(client: Client, path: str, **query: Any) -> list[Any]:
    body = get(client, f"{path}/context", provider="openai", **query)
    messages: list[Any] = body["messages"]
    return messages


def test_a_snapshot_is_taken_listed_read_and_deleted(agent: Client, path: str) -> None:
    first = take(agent, path, " Before the review ")
    assert first["name"] == "Before the review"
    assert (first["head"], first["message_count"]) == (0, COUNT)
    second = take(agent, path, "After it")
    assert get(agent, f"{path}/snapshots") == {"items": [second, first]}
    address = f"{path}/snapshots/Before%20the%20review"
    assert get(agent, address) == first
    for _ in range(2):
        assert agent.delete(address).status_code == 204
    assert get(agent, address, expect=404)["at"] == ["name"]


def test_the_context_is_shown_as_it_was(
    agent: Client, session_id: str, path: str
) -> None:
    operate(agent, session_id, "digest", range=[0, 2], summary="Then")
    before = read_by_models(agent, path)
    take(agent, path, "then")
    operate(agent, session_id, "snip", range=[4, 5])
    append(agent, path, "New")
    assert read_by_models(agent, path) != before
    assert read_by_models(agent, path, snapshot="then") == before


def test_going_back_is_recorded_as_one_bundle_and_one_undo_takes_it_back(
    agent: Client, session_id: str, path: str
) -> None:
    digest = operate(agent, session_id, "digest", range=[0, 2], summary="Then")
    before = read_by_models(agent, path)
    take(agent, path, "then")
    post(
        agent,
        f"/api/operations/{digest['operation_id']}/amend",
        {"summary": "Otherwise"},
    )
    operate(agent, session_id, "snip", range=[4, 5])
    after = read_by_models(agent, path)
    restore(agent, path, "then")
    assert read_by_models(agent, path) == before
    entries = get(agent, f"{path}/log")["items"]
    assert [entry["type"] for entry in entries[3:]] == ["revert", "amend"]
    assert len({entry["bundle_id"] for entry in entries[3:]}) == 1
    post(agent, f"{path}/undo")
    assert read_by_models(agent, path) == after
    post(agent, f"{path}/redo")
    assert read_by_models(agent, path) == before


def test_messages_that_came_since_stay(agent: Client, path: str) -> None:
    take(agent, path, "then")
    append(agent, path, "New")
    head = restore(agent, path, "then")["head"]
    assert head == 0  # there was nothing to record
    assert len(read_by_models(agent, path)) == COUNT + 1


def test_what_was_redacted_since_is_masked_in_what_was(
    agent: Client, session_id: str, path: str
) -> None:
    take(agent, path, "then")
    operate(agent, session_id, "redact", patterns=[{"start": "message 3"}])
    assert "message 3" not in str(read_by_models(agent, path, snapshot="then"))
    restore(agent, path, "then")
    assert "message 3" not in str(read_by_models(agent, path))


def test_what_was_redacted_since_is_masked_in_the_words_that_a_digest_had(
    agent: Client, session_id: str, path: str
) -> None:
    digest = operate(agent, session_id, "digest", range=[0, 3], summary="Key abcdef12")
    append(agent, path, "abcdef12")
    take(agent, path, "then")
    post(
        agent, f"/api/operations/{digest['operation_id']}/amend", {"summary": "No key"}
    )
    operate(agent, session_id, "redact", patterns=[{"start": "abcdef12"}])
    assert "abcdef12" not in str(read_by_models(agent, path, snapshot="then"))
    restore(agent, path, "then")
    assert "abcdef12" not in str(read_by_models(agent, path))


@pytest.mark.parametrize(
    "name", ["", " ", "a/b", ".", " .. ", "a\nb", "\x00", "\ud800", "x" * 101]
)
def test_a_name_that_is_none_is_refused(agent: Client, path: str, name: str) -> None:
    assert take(agent, path, name, expect=422)["at"] == ["name"]
    assert get(agent, f"{path}/snapshots")["items"] == []


def test_a_name_is_given_once(agent: Client, path: str) -> None:
    take(agent, path, "then")
    refusal = take(agent, path, "then", expect=409)
    assert (refusal["code"], refusal["at"]) == ("taken", ["name"])


def test_a_point_that_is_another_by_now_is_not_named(
    agent: Client, session_id: str, path: str
) -> None:
    operate(agent, session_id, "snip", range=[1, 1])
    refusal = take(agent, path, "then", expect=409, expected_head=0)
    assert refusal["code"] == "stale_head"


def test_there_are_not_endlessly_many(
    agent: Client, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("operations.snapshots.services.MAX_SNAPSHOTS", 1)
    take(agent, path, "one")
    assert take(agent, path, "two", expect=409)["code"] == "too_many"


@pytest.mark.parametrize("name", ["none", "%00", "x" * 101])
def test_a_snapshot_that_there_is_none_of_is_not_found(
    agent: Client, path: str, name: str
) -> None:
    get(agent, f"{path}/snapshots/{name}", expect=404)
    post(agent, f"{path}/snapshots/{name}/restore", expect=404)
    get(agent, f"{path}/context", expect=404, snapshot="none")


def test_who_may_propose_names_points_and_deletes_their_own(
    agent: Client, proposer: Client, path: str
) -> None:
    take(agent, path, "theirs")
    take(proposer, path, "mine")
    assert proposer.delete(f"{path}/snapshots/theirs").status_code == 403
    assert proposer.delete(f"{path}/snapshots/mine").status_code == 204
    restore(proposer, path, "theirs", expect=403)
    assert agent.delete(f"{path}/snapshots/theirs").status_code == 204


def test_text_that_a_waiting_proposal_changes_too_is_not_changed_twice(
    agent: Client, session_id: str, path: str
) -> None:
    text = "words that are enough of them for a pattern"
    append(agent, path, text)
    pattern = {"start": text, "replacement": "fewer"}
    first = operate(agent, session_id, "replace", patterns=[pattern])
    take(agent, path, "then")
    post(agent, f"/api/operations/{first['operation_id']}/revert")
    operate(agent, session_id, "replace", patterns=[pattern], propose=True)
    refusal = restore(agent, path, "then", expect=409)
    assert (refusal["code"], refusal["operations"]) == ("overlap", ["o3"])
