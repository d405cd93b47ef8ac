"""Groups, undo, state, scratchpad and query_db through the tools, by worked examples."""

from typing import Any

import pytest
from django.test import Client

from tests.operations.support.rest import Tools, context, make_session

STATE = """\
### STATE
Goal: {goal}
Context: core/orchestrator.cpp
Resolved: the parser
Technical Anchors: port 8080"""


def response(words: str, goal: str) -> dict[str, Any]:
    content = f"{words}\n\n{STATE.format(goal=goal)}"
    return {"role": "assistant", "content": content}


SAID = [
    {"role": "system", "content": "You are careful."},
    {"role": "user", "content": "Write a refactor plan."},
    response("Here is the refactor plan.", "plan"),
    {"role": "user", "content": "Now do it."},
    response("Done, with the refactor plan in hand.", "refactor"),
    {"role": "user", "content": "Drop the tables."},
    response("Dropped.", "destroy"),
]


@pytest.fixture
def tools(agent: Client) -> Tools:
    return Tools(agent, make_session(agent, SAID))


def layers(tools: Tools) -> dict[str, str]:
    shown = context(tools.client, tools.session_id)["layers"]
    return {layer["name"]: layer["text"] for layer in shown}


def test_message_list_n_lists_the_last_groups_with_tokens(tools: Tools) -> None:
    two = tools("list_groups", n=2)
    assert [group["title"] for group in two] == ["Now do it.", "Drop the tables."]
    assert all(group["tokens"] > 0 for group in two)
    assert [group["group_id"] for group in tools("list_groups", n=0)] == [0, 1, 2, 3]


def test_message_show_gid_shows_the_whole_group(tools: Tools) -> None:
    shown = tools("show_group", group_id=1)["messages"]
    assert [message["index"] for message in shown] == [1, 2]
    assert tools.refused("show_group", group_id=9)["at"] == ["group_id"]


def test_undo_rolls_back_the_last_interaction_and_its_state(tools: Tools) -> None:
    assert "Goal: destroy" in layers(tools)["state"]
    undone = tools("undo")
    assert (undone["group_id"], undone["resolved"]["first"]) == (3, 5)
    assert "Goal: refactor" in undone["state"]
    assert "Goal: refactor" in layers(tools)["state"]
    assert tools("undo")["group_id"] == 2
    assert tools("undo")["group_id"] == 1
    tools("undo")  # the system message is group 0
    assert tools.refused("undo")["code"] == "nothing_to_undo"


def test_context_drop_gid_leaves_a_group_out_without_deleting_it(tools: Tools) -> None:
    tools("drop_group", group_id=2)
    assert [group["status"] for group in tools("list_groups", n=0)] == [
        *("active", "active", "dropped", "active"),
    ]
    assert tools("show_group", group_id=2)["messages"][0]["content"] == "Now do it."


def test_context_window_n_keeps_the_last_groups_and_0_all(tools: Tools) -> None:
    def sent() -> list[str]:
        messages = tools("show_context", provider="openai")["request"]["messages"]
        return [one["content"] for one in messages if one["role"] == "user"]

    assert tools("set_context_window", n=1)["window"] == 1
    assert sent() == ["Drop the tables."]
    window = tools("set_context_window", n=0)
    assert window["tokens"] == tools("show_context")["tokens"]
    assert len(sent()) == 3


def test_the_tokens_of_a_window_are_those_of_the_slice_that_waits(
    tools: Tools,
) -> None:
    tools("request_context_slice", start_message_index=1, end_message_index=2)
    window = tools("set_context_window", n=0)
    assert window["tokens"] == tools("show_context")["tokens"]


def test_context_rebuild_takes_state_from_the_current_window(tools: Tools) -> None:
    assert tools("rebuild_state")["status"] == "unchanged"
    path = f"/api/sessions/{tools.session_id}/state"
    body = {"content": "Goal: by hand"}
    put = tools.client.put(path, body, content_type="application/json")
    assert put.status_code == 200, put.content
    rebuilt = tools("rebuild_state")
    assert (rebuilt["status"], rebuilt["made_by"]) == ("proposed", "rules")
    assert (rebuilt["key"], rebuilt["previous"]) == ("m6", "### STATE\nGoal: by hand")
    assert "-Goal: by hand\n+Goal: destroy" in rebuilt["difference"]
    for group in (1, 2, 3):
        tools("drop_group", group_id=group)
    assert tools("rebuild_state")["status"] == "none"


def test_the_scratchpad_is_read_updated_and_appended(tools: Tools) -> None:
    assert tools("manage_scratchpad", action="read") == {"content": "", "version": 0}
    assert tools("manage_scratchpad", action="update", content="# Plan")["version"] == 1
    added = tools("manage_scratchpad", action="append", content="- [ ] tests")
    assert added == {"content": "# Plan\n- [ ] tests", "version": 2}
    assert "- [ ] tests" in layers(tools)["scratchpad"]
    for action, content in (("append", None), ("read", "x")):
        refused = tools.refused("manage_scratchpad", action=action, content=content)
        assert refused["at"] == ["content"]


def test_the_example_of_query_db_finds_the_plan_and_passes_over_what_was_undone(
    tools: Tools,
) -> None:
    sql = (
        "SELECT role, content FROM messages WHERE status != 'dropped' AND"
        " content LIKE '%refactor plan%' ORDER BY id DESC LIMIT 5;"
    )
    rows = tools("query_db", sql=sql)["rows"]
    assert [role for role, _ in rows] == ["assistant", "assistant", "user"]
    tools("drop_group", group_id=2)
    assert len(tools("query_db", sql=sql)["rows"]) == 2
