"""What a tool answers has as many tokens as were asked for, and each text once."""

import json
from typing import Any

import pytest
from django.test import Client

from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import ApiKey, Project, User
from operations.tools import TOOLS
from tests.operations.support.rest import Tools, get, make_session, post
from tests.people import client_of, key_of
from threads import tokens

from .doors import post_mcp

pytestmark = pytest.mark.sqlite
"""What is read is cut when it is answered, whichever database it is from."""

COUNT = 120


def words(number: int) -> str:
    return f"[{number}] " + " ".join(f"word{number}x{place}" for place in range(120))


@pytest.fixture
def tools(agent: Client) -> Tools:
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "look", "arguments": json.dumps({"text": words(7000)})},
    }
    messages: list[dict[str, Any]] = [
        {"role": ("user", "assistant")[number % 2], "content": words(number)}
        for number in range(COUNT)
    ]
    messages += [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": words(8000) * 40},
    ]
    return Tools(agent, make_session(agent, messages))


def size(answer: Any) -> int:
    return tokens.counter(tokens.DEFAULT)(json.dumps(answer, ensure_ascii=False))


def pages(tools: Tools, name: str, **arguments: Any) -> list[Any]:
    """All that a tool answers, page after page."""
    found = [tools(name, **arguments)]
    while cursor := found[-1].get("next_cursor"):
        assert len(found) < 200
        found.append(tools(name, **arguments, cursor=cursor))
    return found


@pytest.mark.parametrize("most", [None, 1_000])
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("get_message_range", {"start": 0, "end": COUNT + 2}),
        ("show_context", {"provider": "openai"}),
        ("show_context", {"provider": "anthropic"}),
        ("search_session_history", {"query": "word"}),
        ("show_group", {"group_id": COUNT // 2}),
        ("query_db", {"sql": "SELECT id, content FROM messages"}),
    ],
)
def test_an_answer_keeps_to_its_tokens_and_the_rest_follows(
    tools: Tools, name: str, arguments: dict[str, Any], most: int | None
) -> None:
    given = arguments if most is None else {**arguments, "max_tokens": most}
    found = pages(tools, name, **given)
    assert len(found) > 1
    for page in found:
        assert size(page) <= (most or 4_000)
    whole = tools(name, **arguments, max_tokens=1_000_000)
    assert "next_cursor" not in whole
    shown, told = json.dumps(found), json.dumps(whole)
    for number in range(COUNT):
        # Each text stands once, in one piece or cut in two.
        expected = told.count(f"word{number}x60 ")
        assert expected <= 1
        assert shown.count(f"word{number}x6") >= expected
        assert shown.count(f"word{number}x60 ") <= expected


@pytest.mark.parametrize(
    ("name", "least"),
    [("get_message_range", 40), ("query_db", 40), ("show_group", 25)],
)
def test_the_least_that_may_be_asked_for_still_holds_some_lines(
    tools: Tools, name: str, least: int
) -> None:
    """What stands beside each piece of a text must not leave room for a letter alone."""
    arguments = {
        "get_message_range": {"start": 0, "end": 1},
        "query_db": {"sql": "SELECT id, content FROM messages LIMIT 1"},
        "show_group": {"group_id": 3},
    }[name]
    given = {**arguments, "max_tokens": 200}
    found = pages(tools, name, **given)
    assert all(size(page) <= 200 for page in found)
    whole = size(tools(name, **arguments, max_tokens=1_000_000))
    assert len(found) <= whole // least


def test_a_recall_goes_on_where_it_was_cut(tools: Tools) -> None:
    ref_id = f"m{COUNT + 1}"
    found = pages(tools, "recall", ref_id=ref_id)
    assert "".join(page["content"] for page in found) == words(8000) * 40
    assert [page["truncated"] for page in found] == [True] * (len(found) - 1) + [False]
    refused = tools.refused("recall", ref_id=ref_id, cursor="WyJ4Il0")
    assert refused["at"] == ["cursor"]


def test_what_acts_is_not_called_again_for_the_rest(tools: Tools) -> None:
    made = tools("snip_messages", range=[0, COUNT - 1], max_tokens=200)
    assert made["truncated"] is True
    assert size(made) <= 200
    refused = tools.refused("snip_messages", range=[0, 1], cursor="W1tdXQ")
    assert refused["at"] == ["cursor"]
    for cursor in ("W1tdXQx", "Wzdd", "W1siYSJdXQ"):
        refused = tools.refused("get_message_range", start=0, end=9, cursor=cursor)
        assert refused["at"] == ["cursor"]


def test_a_wrong_cursor_is_refused_before_a_model_is_paid(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[object] = []
    monkeypatch.setattr(TOOLS["rebuild_state"], "call", lambda *_: called.append(1))
    for cursor in ("1-3", "Wzdd"):
        assert tools.refused("rebuild_state", cursor=cursor)["at"] == ["cursor"]
    assert called == []


def test_a_list_at_the_top_goes_on_too(tools: Tools) -> None:
    found = [tools("list_groups", n=0, max_tokens=500)]
    while cursor := found[-1].get("next_cursor"):
        found.append(tools("list_groups", n=0, max_tokens=500, cursor=cursor))
    groups = {group["group_id"] for page in found for group in page["result"]}
    assert groups == set(range(1, COUNT // 2 + 1))


def test_the_totals_of_a_context_stand_before_what_is_cut(tools: Tools) -> None:
    tools("context", action="discard", targets=[[f"m{place}"] for place in range(99)])
    shown = tools("show_context", budget=5_000, max_tokens=400)
    assert "next_cursor" in shown
    assert shown["tokens"]["sent"] < shown["tokens"]["total"]
    assert (shown["budget"], shown["over_budget"]) == (5_000, True)
    assert shown["heaviest"]


# Groups of tools, and what else a client is told


def test_an_agent_takes_the_groups_that_it_needs(agent: Client, key: str) -> None:
    listed = get(agent, "/api/tools", format="anthropic", tools="edit,recall")["tools"]
    names = [tool["name"] for tool in listed]
    assert len(names) == 7
    assert {"digest_messages", "recall"} <= set(names)
    one = get(agent, "/api/tools", tools="query_db, recall")["tools"]
    assert [tool["function"]["name"] for tool in one] == ["query_db", "recall"]
    assert len(get(agent, "/api/tools")["tools"]) == len(TOOLS)
    refused = agent.get("/api/tools", {"tools": "edit,dance"})
    assert refused.status_code == 422
    assert "dance" in refused.json()["detail"]
    assert "edit" in refused.json()["detail"]


def test_mcp_lists_the_tools_that_its_address_names(key: str) -> None:
    _, all_of_them = post_mcp("tools/list", key)
    _, some = post_mcp("tools/list", key, query=b"tools=edit,recall")
    assert len(all_of_them["result"]["tools"]) == len(TOOLS)
    assert len(some["result"]["tools"]) == 7
    _, refused = post_mcp("tools/list", key, query=b"tools=dance")
    assert "dance" in refused["error"]["message"]
    status, unknown = post_mcp("tools/list", key, query=b"tool=edit")
    assert (status, unknown["at"]) == (422, ["tool"])
    assert unknown["detail"].endswith("the only query parameter is tools.")


def test_each_tool_has_a_path_and_a_schema_of_its_own(agent: Client) -> None:
    described = agent.get("/api/openapi.json").json()["paths"]
    for name in TOOLS:
        route = described[f"/api/tools/{name}"]["post"]
        content = route["requestBody"]["content"]["application/json"]
        assert "max_tokens" in content["schema"]["properties"], name
        assert route["operationId"] == f"tool_{name}"


def test_a_refusal_names_the_right_and_what_gives_it(
    agent: Client, viewer: User, owner: User, project: Project
) -> None:
    session = make_session(agent, 2)
    body = {"session_id": session, "n": 3}
    reader = client_of(owner, project, Right.READ)
    reader_of_its_own = client_of(owner, project, Right.OWN_SESSION)
    refused = post(reader, "/api/tools/set_context_window", body, expect=403)
    assert refused["right"] == "edit"
    assert "the scope edit" in refused["detail"]
    own = {**body, "session_id": make_session(reader_of_its_own, 2)}
    ApiKey.objects.update(scopes=["read"])
    refused = post(reader_of_its_own, "/api/tools/set_context_window", own, expect=403)
    assert refused["right"] == "own_session"
    assert "the scope own_session" in refused["detail"]
    person = Client()
    person.force_login(viewer)
    path = f"/api/sessions/{session}"
    refused = person.delete(path)
    assert refused.status_code == 403
    assert "editor or owner" in refused.json()["detail"]


def test_mcp_makes_a_session_and_appends_to_it(owner: User, project: Project) -> None:
    key = key_of(owner, project)

    def call(name: str, **arguments: Any) -> Any:
        _, answer = post_mcp("tools/call", key, name=name, arguments=arguments)
        assert not answer["result"]["isError"], answer
        return answer["result"]["structuredContent"]

    said = [{"role": "user", "content": "Hello", "tags": ["opening"]}]
    made = call("create_session", title="Mine", external_id="x1", messages=said)
    grown = call("append_messages", session_id=made["id"], messages=said)
    assert (made["message_count"], grown["message_count"]) == (1, 2)
    read = call("get_message_range", session_id=made["id"], start=0, end=9)
    assert [one["tags"] for one in read["messages"]] == [["opening"], ["opening"]]


def test_words_that_no_database_takes_are_refused_with_their_place(
    agent: Client,
) -> None:
    for field in ("external_id", "model"):
        answer = agent.post(
            "/api/tools/create_session", {field: "a\0b"}, "application/json"
        )
        assert (answer.status_code, answer.json()["at"]) == (422, [field])
