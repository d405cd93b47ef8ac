"""A client that sends only its last messages: one entry a turn, and a log that stays small."""

import json
from typing import Any

import pytest
from django.test import Client

from operations.models import LogEntry
from tests.operations.support.rest import get, make_session, post

pytestmark = pytest.mark.sqlite
"""What is recorded, and how often, is the same on each database."""

WINDOW = 12


def message(at: int) -> dict[str, Any]:
    role = "assistant" if at % 2 else "user"
    return {
        "role": role,
        "content": f"Message {at} says something of its own: {at * at}.",
    }


def slide(
    agent: Client, session_id: str, by: int, prompt: list[Any], turns: int
) -> None:
    for turn in range(turns):
        last = WINDOW + by * turn
        sent = [*prompt, *map(message, range(last - WINDOW, last))]
        answer = post(agent, f"/api/sessions/{session_id}/apply", {"messages": sent})
        assert answer["messages"] == sent


@pytest.mark.parametrize(
    ("turns", "by", "prompt"),
    [(64, 1, []), (30, 2, [{"role": "system", "content": "Be brief."}])],
    ids=["one", "two and a prompt"],
)
def test_a_sliding_head_is_one_entry_a_turn(
    agent: Client, turns: int, by: int, prompt: list[Any]
) -> None:
    session_id = make_session(agent, [])
    slide(agent, session_id, by, prompt, turns)
    rows = LogEntry.objects.filter(session_id=session_id)
    assert [row.kind for row in rows] == ["snip"] * (turns - 1)
    gone = by * (turns - 1)
    named = sum(len(json.loads(bytes(row.payload))["targets"]) for row in rows)
    assert named <= gone * (gone.bit_length() + 1)
    thread = get(agent, f"/api/sessions/{session_id}/thread?limit=500")
    folds = [node for node in thread["nodes"] if node["kind"] == "fold"]
    assert len(folds) <= gone.bit_length()
    assert sum(fold["count"] for fold in folds) == gone
    assert thread["total"] - len(folds) == WINDOW + len(prompt)


def test_what_is_sent_again_is_shown_again(agent: Client) -> None:
    """The others stay left out; no entry says anything twice."""
    session_id = make_session(agent, [])
    slide(agent, session_id, 2, [], 8)
    whole = [*map(message, range(WINDOW + 14))]
    for first in (3, 0, 9):
        path = f"/api/sessions/{session_id}/apply"
        assert (
            post(agent, path, {"messages": whole[first:]})["messages"] == whole[first:]
        )
        thread = get(agent, f"/api/sessions/{session_id}/thread?limit=500")
        shown = [node["index"] for node in thread["nodes"] if node["kind"] == "message"]
        assert shown == [*range(first, len(whole))]
