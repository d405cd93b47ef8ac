"""State, scratchpad, window, tiers and layers through REST, by worked examples."""

import json
from typing import Any

import pytest
from django.test import Client

from operations.context.layers import LayerWords, register_layer
from tests.operations.support.rest import (
    adds_up,
    context,
    get,
    make_session,
    operate,
    post,
    put,
)

STATE = """### STATE
Goal: [Short description of current task]
Context: [Active files/classes being edited]
Resolved: [List of things finished this session]
Technical Anchors: [Ports, IPs, constant values]"""


def answered(text: str) -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": "Go on."},
        {"role": "assistant", "content": text},
    ]


def state(client: Client, session_id: str) -> Any:
    return get(client, f"/api/sessions/{session_id}/state")


def test_state_at_the_end_of_a_response_is_kept_and_injected(agent: Client) -> None:
    session_id = make_session(agent, answered(f"Done.\n\n{STATE}"), system="Help.")
    found = state(agent, session_id)
    assert found["state"]["text"] == STATE
    assert found["state"]["technical_anchors"] == "[Ports, IPs, constant values]"
    assert (found["state"]["key"], found["state"]["version"]) == ("m2", 1)
    assert found["objective_suggested"] == "[Short description of current task]"
    sent = context(agent, session_id)
    assert [one["name"] for one in sent["layers"]] == ["system", "state"]
    assert STATE in sent["messages"][0]["content"]
    assert adds_up(sent)


def test_the_latest_state_counts_and_undoing_its_message_takes_it_back(
    agent: Client,
) -> None:
    talk = [*answered("### STATE\nGoal: one"), *answered("### STATE\nGoal: two")]
    session_id = make_session(agent, [*talk, *answered("No state.")])
    assert state(agent, session_id)["state"]["goal"] == "two"
    operate(agent, session_id, "digest", range=[0, 3], summary="Both.")
    assert state(agent, session_id)["state"]["goal"] == "two"
    snip = operate(agent, session_id, "snip", range=[0, 3])
    assert state(agent, session_id)["state"] is None
    post(agent, f"/api/operations/{snip['operation_id']}/toggle", {"active": False})
    versions = state(agent, session_id)["versions"]
    assert [one["in_force"] for one in versions] == [False, True]


def test_state_that_is_set_holds_until_a_response_brings_its_own(agent: Client) -> None:
    session_id = make_session(agent, answered("### STATE\nGoal: said"))
    path = f"/api/sessions/{session_id}"
    put(agent, f"{path}/state", {"content": " "}, expect=422)
    written = put(agent, f"{path}/state", {"content": "Goal: set"})
    assert (written["goal"], written["version"], written["key"]) == ("set", 2, None)
    assert state(agent, session_id)["state"]["goal"] == "set"
    body = {"messages": answered("### STATE\nGoal: newer")}
    post(agent, f"{path}/messages", body, expect=201)
    found = state(agent, session_id)
    assert [one["goal"] for one in found["versions"]] == ["said", "set", "newer"]
    assert found["state"]["goal"] == "newer"


def test_what_a_user_or_code_says_of_state_is_none(agent: Client) -> None:
    fenced = f"As in\n```\n{STATE}\n```"
    session_id = make_session(
        agent, [{"role": "user", "content": STATE}, *answered(fenced)[1:]]
    )
    assert state(agent, session_id)["state"] is None


def test_an_objective_of_its_own_needs_no_suggestion(agent: Client) -> None:
    session_id = make_session(agent, answered(STATE))
    agent.patch(
        f"/api/sessions/{session_id}", {"objective": "Ship"}, "application/json"
    )
    assert state(agent, session_id)["objective_suggested"] == ""


def test_the_scratchpad_is_read_updated_and_appended_to(agent: Client) -> None:
    session_id = make_session(agent, 2)
    path = f"/api/sessions/{session_id}/scratchpad"
    assert get(agent, path)["version"] == 0
    put(agent, path, {"content": "# Plan"})
    put(agent, path, {"content": "- [ ] ship", "action": "append"})
    found = put(agent, path, {"content": "- [ ] rest\n", "action": "append"})
    assert found["content"] == "# Plan\n- [ ] ship\n- [ ] rest\n"
    assert found["version"] == 3
    assert get(agent, path, version=1)["content"] == "# Plan"
    items = get(agent, f"{path}/versions")["items"]
    assert [one["version"] for one in items] == [3, 2, 1]
    get(agent, path, version=9, expect=404)
    stale = put(agent, path, {"content": "x", "expected_version": 1}, expect=409)
    assert (stale["code"], stale["version"]) == ("stale_version", 3)
    put(agent, path, {"content": "x" * 200_001}, expect=422)
    layers = context(agent, session_id)["layers"]
    assert [one["name"] for one in layers] == ["scratchpad"]


def test_a_window_keeps_the_last_groups_and_the_system_prompt(agent: Client) -> None:
    session_id = make_session(agent, 6, system="Help.")
    put(agent, f"/api/sessions/{session_id}/policy", {"policy": {"window": 2}})
    found = context(agent, session_id)
    assert [one["content"] for one in found["messages"]] == [
        "Help.",
        *(f"message {index}" for index in (2, 3, 4, 5)),
    ]
    window = found["steps"][1]
    assert [one["key"] for one in window["left_out"]] == ["m1", "m2"]
    assert adds_up(found)


def results(count: int, size: int) -> list[dict[str, Any]]:
    """A question, and as many calls with results, one after another."""
    found: list[dict[str, Any]] = [{"role": "user", "content": "Look."}]
    for place in range(count):
        function = {"name": "read", "arguments": "{}"}
        call = {"id": f"c{place}-{size}", "type": "function", "function": function}
        found += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": "x" * size},
        ]
    return found


def test_results_are_cut_by_how_recent_they_are(agent: Client) -> None:
    """5 of the active group at 5,000 characters, its others at 1,000, all others at 300."""
    talk = [*results(1, 6000), *results(7, 6001)]
    session_id = make_session(agent, talk)
    put(agent, f"/api/sessions/{session_id}/policy", {"policy": {"preset": "slop"}})
    found = context(agent, session_id)
    cut = [
        one["content"].count("x") - one["content"].partition("[TRUNC")[2].count("x")
        for one in found["messages"]
        if one["role"] == "tool"
    ]
    assert cut == [300, 1000, 1000, 5000, 5000, 5000, 5000, 5000]
    assert adds_up(found)


def test_layers_stand_in_the_order_of_the_document(
    agent: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("operations.context.layers._providers", dict(providers()))
    asked: list[str] = []

    def memos(surroundings: Any) -> LayerWords:
        asked.append(surroundings.question())
        return LayerWords("Memo.")

    register_layer("memos", memos)
    with pytest.raises(ValueError, match="none of"):
        register_layer("history", memos)
    session_id = make_session(agent, answered(STATE), system="Help.")
    path = f"/api/sessions/{session_id}"
    put(agent, f"{path}/scratchpad", {"content": "Plan"})
    put(agent, f"{path}/policy", {"policy": {"preset": "slop"}})
    found = context(agent, session_id)
    assert [one["name"] for one in found["layers"]] == [
        *("system", "guidelines", "state", "scratchpad", "memos"),
    ]
    assert set(asked) == {"Go on."}
    assert adds_up(found)


def providers() -> dict[str, Any]:
    from operations.context import layers

    return layers._providers


def test_a_policy_shows_its_effect_before_it_is_saved(agent: Client) -> None:
    session_id = make_session(agent, results(2, 6000))
    path = f"/api/sessions/{session_id}/policy"
    dry = put(
        agent,
        path,
        {"policy": {"truncation": {"recent": 100}, "window": 1}, "dry_run": True},
    )
    assert dry["after"] < dry["before"]
    assert dry["policy"]["preset"] == "custom"
    cut = next(step for step in dry["steps"] if step["name"] == "truncation")
    assert [one["key"] for one in cut["left_out"]] == ["m2", "m4"]
    assert get(agent, path)["policy"]["preset"] == "replay"
    refused = put(agent, path, {"policy": {"window": -1}}, expect=422)
    assert refused["at"] == ["window"]


def test_a_project_has_a_default_and_a_session_may_have_its_own(agent: Client) -> None:
    session_id = make_session(agent, 2)
    path = f"/api/sessions/{session_id}/policy"
    default = "/api/projects/demo/policy"
    assert get(agent, default)["policy"]["preset"] == "replay"
    put(agent, default, {"policy": {"preset": "nexora"}})
    found = get(agent, path)
    assert (found["policy"]["preset"], found["own"]) == ("nexora", False)
    assert found["presets"]["slop"]["truncation"]["inactive"] == 300
    own = put(agent, path, {"policy": {"preset": "slop"}})
    assert (own["policy"]["preset"], own["own"]) == ("slop", True)
    back = put(agent, path, {"policy": None, "dry_run": True})
    assert back["policy"]["preset"] == "nexora"
    assert put(agent, path, {"policy": None})["policy"]["preset"] == "nexora"
    put(agent, default, {"policy": None, "dry_run": True}, expect=422)
    assert get(agent, default)["policy"]["preset"] == "nexora"
    assert put(agent, default, {"policy": None})["policy"]["preset"] == "replay"
    assert json.dumps(get(agent, default))
