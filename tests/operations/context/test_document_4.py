"""What an agent asked its next request to hold, by worked examples."""

from typing import Any

import pytest
from django.test import Client

from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import Project, User
from operations.context import policies
from tests.operations.support.rest import (
    adds_up,
    context,
    get,
    make_session,
    operate,
    post,
    said,
)
from tests.people import client_of

COUNT = 45
TURN = 44
"""The last user's message, which is always sent."""


@pytest.fixture
def session_id(agent: Client) -> str:
    return make_session(agent, COUNT)


def ask(client: Client, session_id: str, *range: int, **more: Any) -> None:
    names = ("start_message_index", "end_message_index")
    body = {"session_id": session_id, **dict(zip(names, range, strict=False)), **more}
    post(client, "/api/tools/request_context_slice", body)


def sent(client: Client, session_id: str, **query: Any) -> list[str]:
    found = context(client, session_id, **query)
    assert adds_up(found)
    return [one["content"] for one in found["messages"]]


def texts(*indexes: int) -> list[str]:
    return [f"message {index}" for index in indexes]


def test_the_next_request_includes_messages_30_to_39(
    agent: Client, session_id: str
) -> None:
    ask(agent, session_id, 30, 40)
    assert sent(agent, session_id) == texts(*range(30, 40), TURN)
    assert sent(agent, session_id, consume=True) == texts(*range(30, 40), TURN)
    body = {"messages": said(COUNT)}
    found = post(agent, f"/api/sessions/{session_id}/apply", body)["messages"]
    assert [one["content"] for one in found] == texts(*range(30, 40), TURN)
    assert len(sent(agent, session_id)) == COUNT


def test_a_limit_alone_keeps_the_newest(agent: Client, session_id: str) -> None:
    ask(agent, session_id, max_context_messages=3)
    assert sent(agent, session_id) == texts(42, 43, 44)


def test_a_fold_in_the_range_is_kept_whole(agent: Client, session_id: str) -> None:
    operate(agent, session_id, "digest", range=[25, 31], summary="Sum")
    operate(agent, session_id, "insert", after_idx=31, messages=said(1))
    ask(agent, session_id, 30, 33)
    digest, *others = sent(agent, session_id)
    assert "Sum" in digest
    assert others == ["message 0", "message 32", "message 44"]


def test_the_later_wish_counts(agent: Client, session_id: str) -> None:
    ask(agent, session_id, 0, 5)
    ask(agent, session_id, 7, 8)
    assert sent(agent, session_id) == texts(7, TURN)


def test_a_slice_is_of_the_key_that_set_it(
    agent: Client, session_id: str, owner: User, project: Project
) -> None:
    other = client_of(owner, project)
    ask(agent, session_id, 7, 8)
    ask(other, session_id, 3, 5)
    assert sent(agent, session_id) == texts(7, TURN)
    assert sent(other, session_id) == texts(3, 4, TURN)
    body = {"messages": said(COUNT)}
    path = f"/api/sessions/{session_id}/apply"
    assert len(post(other, path, body)["messages"]) == 3
    assert len(post(other, path, body)["messages"]) == COUNT
    assert len(post(agent, path, body)["messages"]) == 2


def test_a_slice_needs_the_right_to_edit(
    agent: Client, session_id: str, owner: User, project: Project
) -> None:
    reader = client_of(owner, project, Right.READ, Right.PROPOSE)
    body = {"session_id": session_id, "max_context_messages": 3}
    refused = post(reader, "/api/tools/request_context_slice", body, expect=403)
    assert refused["code"] == "forbidden"
    assert len(sent(agent, session_id)) == COUNT


def test_of_too_many_matches_the_newest_are_kept(
    agent: Client, session_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policies, "MAX_MATCHES", 3)
    query = {"session_id": session_id, "query": "message 1"}  # 1 and 10 to 19
    post(agent, "/api/tools/search_session_history", query)
    ask(agent, session_id, include_search_results=True)
    assert sent(agent, session_id) == texts(17, 18, 19, TURN)


def test_a_limit_counts_what_was_found(agent: Client, session_id: str) -> None:
    query = {"session_id": session_id, "query": "message 1"}  # 1 and 10 to 19
    found = get(agent, f"/api/sessions/{session_id}")["message_count"]
    assert found == COUNT
    post(agent, "/api/tools/search_session_history", query)
    ask(agent, session_id, include_search_results=True)
    assert sent(agent, session_id) == texts(1, *range(10, 20), TURN)
    ask(agent, session_id, include_search_results=True, max_context_messages=3)
    assert sent(agent, session_id) == texts(42, 43, TURN)
    ask(agent, session_id, 0, 5, include_search_results=True, max_context_messages=3)
    assert sent(agent, session_id) == texts(17, 18, 19, TURN)
