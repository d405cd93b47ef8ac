"""Search, then a preference for the next context: two worked examples, word for word."""

import pytest
from django.conf import LazySettings
from django.test import Client

from operations.tools.definitions import history
from tests.operations.support.rest import Tools, make_session

SAYING = {5: "the database", 12: "Database design", 34: "PostgreSQL is our DATABASE"}
COUNT = 46


@pytest.fixture
def tools(agent: Client) -> Tools:
    messages = [
        {
            "role": ("user", "assistant")[index % 2],
            "content": SAYING.get(index, f"message {index}"),
        }
        for index in range(COUNT)
    ]
    return Tools(agent, make_session(agent, messages))


def sent(tools: Tools) -> list[str]:
    path = f"/api/sessions/{tools.session_id}/context"
    body = tools.client.get(path, {"provider": "openai"}).json()
    return [message["content"] for message in body["messages"]]


def applied(tools: Tools) -> list[str]:
    """What the next request of the agent's own sends."""
    path = f"/api/sessions/{tools.session_id}"
    items = tools.client.get(f"{path}/messages").json()["items"]
    given = [{"role": one["role"], "content": one["content"]} for one in items]
    body = tools.post("apply", {"messages": given})
    return [message["content"] for message in body["messages"]]


def test_what_did_we_decide_about_the_database(tools: Tools) -> None:
    found = tools("search_session_history", query="database")
    assert [index for index, _ in found["matches"]] == [5, 12, 34]
    assert found["total_matches"] == 3
    tools("request_context_slice", start_message_index=30, end_message_index=40)
    focused = sent(tools)
    assert (focused[0], focused[9]) == ("message 30", "message 39")
    assert focused[10:] == ["message 44", "message 45"]  # the open turn
    assert sent(tools) == focused  # looking at it uses nothing up
    assert applied(tools) == focused
    assert len(sent(tools)) == COUNT  # preferences are consumed once


def test_a_search_lists_the_words_around_each_match_and_goes_on_from_an_index(
    agent: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = {"role": "user", "content": f"{'a ' * 5_000}the DATABASE{' z' * 5_000}"}
    tools = Tools(agent, make_session(agent, [long] * 3))
    query = {"query": "database", "excerpts": True}
    found = tools("search_session_history", **query)
    assert [index for index, _ in found["matches"]] == [0, 1, 2]
    first = found["matches"][0][1]
    assert (first["key"], first["role"]) == ("m0", "user")
    assert first["excerpt"].startswith("…") and first["excerpt"].endswith("…")
    assert "a the DATABASE z" in first["excerpt"]
    assert "next_cursor" not in found
    monkeypatch.setattr(history, "MAX_MATCHES", 1)
    found = tools("search_session_history", **query, start=1)
    assert (found["matches"][0][0], found["total_matches"]) == (1, 2)


def test_a_slice_holds_the_newest_and_what_the_search_found(tools: Tools) -> None:
    tools("search_session_history", query="database")
    turn = ["message 44", "message 45"]
    query = {"start_message_index": 40, "end_message_index": 42}
    slice = {**query, "include_search_results": True}
    tools("request_context_slice", **slice)
    assert sent(tools) == [*SAYING.values(), "message 40", "message 41", *turn]
    tools("request_context_slice", **slice, max_context_messages=3)
    assert sent(tools) == [SAYING[34], "message 40", "message 41", *turn]
    tools("request_context_slice", include_search_results=True)
    assert sent(tools) == [*SAYING.values(), *turn]
    kept = tools("request_context_slice", max_context_messages=4)
    assert kept["message_range"] is None
    assert sent(tools) == ["message 42", "message 43", *turn]
    kept = tools("request_context_slice", start_message_index=30, end_message_index=99)
    assert kept["message_range"] == [30, COUNT]
    for wrong in ({}, {"start_message_index": 3}, {"end_message_index": 3}):
        refused = tools.refused("request_context_slice", **wrong)
        assert refused["at"] == ["start_message_index"]
    for wrong in (0, 1_000_001, 2**31, 2**63):
        refused = tools.refused("request_context_slice", max_context_messages=wrong)
        assert refused["at"] == ["max_context_messages"]
    refused = tools.refused(
        "request_context_slice", start_message_index=46, end_message_index=50
    )
    assert refused["at"] == ["start_message_index"]


def test_a_slice_holds_what_has_left_the_window(tools: Tools) -> None:
    turn = ["message 44", "message 45"]
    tools("set_context_window", n=1)
    assert sent(tools) == turn
    tools("request_context_slice", start_message_index=30, end_message_index=32)
    assert sent(tools) == ["message 30", "message 31", *turn]
    tools("search_session_history", query="database")
    tools("request_context_slice", include_search_results=True)
    assert applied(tools) == [*SAYING.values(), *turn]
    assert sent(tools) == turn  # the window is the next request's again
    tools("request_context_slice", max_context_messages=9)
    assert sent(tools) == turn  # a limit alone names nothing


def test_summarize_our_discussion_so_far(tools: Tools) -> None:
    made = tools("summarize_message_range", start_idx=0, end_idx=COUNT)
    assert made["summary"].startswith("Messages 0 to 45")
    assert (made["status"], made["resolved"]["count"]) == ("proposed", COUNT)
    assert len(sent(tools)) == COUNT  # the raw messages stay, the summary beside them
    tools("accept_operation", operation_id=made["operation_id"])
    assert len(sent(tools)) == 1
    for wrong in ({"start_idx": 3, "end_idx": 3}, {"start_idx": 0, "end_idx": 47}):
        assert tools.refused("summarize_message_range", **wrong)["at"] == ["end_idx"]


def test_a_range_is_half_open_and_ends_with_the_session(tools: Tools) -> None:
    found = tools("get_message_range", start=44, end=90)
    assert (found["start"], found["end"]) == (44, COUNT)
    assert [one["index"] for one in found["messages"]] == [44, 45]
    assert tools("get_message_range", start=60, end=90)["messages"] == []
    assert tools.refused("get_message_range", start=3, end=2)["at"] == ["start"]


@pytest.mark.meaning
def test_what_was_meant_is_found_whatever_the_words(
    tools: Tools, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MEANING_SEARCH = True
    query = {"query": "the databases", "meaning": True}
    found = tools("search_session_history", **query)
    assert (found["truncated"], found["pending"]) == (False, 0)
    assert 12 in [index for index, _ in found["matches"]]
    assert len(found["similarities"]) == found["total_matches"]
    assert found["similarities"] == sorted(found["similarities"], reverse=True)
    brief = tools("search_session_history", **query, excerpts=True)
    assert dict(brief["matches"])[12]["excerpt"] == "Database design"
    refused = tools.refused("search_session_history", **query, start=3)
    assert refused["at"] == ["start"]
    monkeypatch.setattr(history, "MAX_MATCHES", found["total_matches"] - 1)
    assert tools("search_session_history", **query)["truncated"] is True


def test_meaning_is_refused_with_the_name_of_its_setting(tools: Tools) -> None:
    refused = tools.refused("search_session_history", query="it", meaning=True)
    assert refused["setting"] == "CONTEXTSTUDIO_MEANING_SEARCH"
