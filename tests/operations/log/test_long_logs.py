"""A log may be long: what is answered of it comes in pages."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from operations.domain.log.operation import Tag
from operations.log.codec import encode
from operations.messages.api import MAX_OPERATIONS
from operations.models import LogEntry
from tests.operations.support.rest import get, make_session, operate, post
from threads.models import Session

ENTRIES = 1200


@pytest.fixture
def long_log(agent: Client) -> str:
    """A session with many operations."""
    session_id = make_session(agent, 60)
    rows = []
    for number in range(1, ENTRIES + 1):
        tag = Tag(targets=(f"m{number % 60}",), tags=(f"tag-{number % 7}",))
        kind, payload = encode(tag)
        rows.append(
            LogEntry(
                session_id=session_id,
                number=number,
                kind=kind,
                payload=payload,
                actor="system",
                actor_name="A test",
                created_at=timezone.now(),
            )
        )
    LogEntry.objects.bulk_create(rows, batch_size=500)
    Session.objects.filter(pk=session_id).update(head=ENTRIES)
    return session_id


def test_a_thread_lists_the_newest_operations_and_says_how_many_there_are(
    agent: Client, long_log: str
) -> None:
    answer = agent.get(f"/api/sessions/{long_log}/thread", {"limit": 50})
    thread = answer.json()
    keys = [one["key"] for one in thread["operations"]]
    first = ENTRIES - MAX_OPERATIONS + 1
    assert keys == [f"o{number}" for number in range(first, ENTRIES + 1)]
    assert thread["operations_total"] == ENTRIES
    assert len(answer.content) < 300_000


@pytest.mark.parametrize("limit", [7, 500, 10_000])
def test_all_operations_are_had_in_pages_each_once(
    agent: Client, long_log: str, limit: int
) -> None:
    found, query = list[str](), dict[str, Any](limit=limit)
    path = f"/api/sessions/{long_log}/operations"
    pages = 0
    while True:
        page = get(agent, path, **query)
        pages += 1
        assert len(page["operations"]) <= min(limit, 500)
        found += [one["key"] for one in page["operations"]]
        if page["next_cursor"] is None or pages == 30:
            break
        query["cursor"] = page["next_cursor"]
    expected = [f"o{number}" for number in range(1, ENTRIES + 1)]
    assert found == expected[: len(found)]
    assert pages == 30 or len(found) == ENTRIES
    assert len(get(agent, path)["operations"]) == 100
    get(agent, path, cursor="x", expect=422)
    get(agent, path, cursor="WyJhIl0", expect=422)


def test_pages_of_those_that_apply_leave_out_the_others(agent: Client) -> None:
    session_id = make_session(agent, 5)
    made = [operate(agent, session_id, "tag", range=[0, 0], tags=["a"]) for _ in "abc"]
    post(agent, f"/api/operations/{made[1]['operation_id']}/revert")
    path = f"/api/sessions/{session_id}/operations"
    page = get(agent, path, active_only=True, limit=1)
    assert [one["key"] for one in page["operations"]] == ["o1"]
    page = get(agent, path, active_only=True, limit=1, cursor=page["next_cursor"])
    assert [one["key"] for one in page["operations"]] == ["o3"]
    assert page["next_cursor"] is None
