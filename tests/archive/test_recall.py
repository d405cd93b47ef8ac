"""Recalling live messages, and never across what the caller may not see."""

import uuid
from typing import Any

import pytest
from django.test import Client

from contextstudio.accounts.models import Project, User
from tests.operations.support.rest import Tools, get, make_session, post
from tests.people import client_of
from threads.models import Session

LINES = "\n".join(f"line {number}: path/to/file{number}.py" for number in range(1, 121))
SAID = [
    {"role": "user", "content": "Look at path/to/app.py"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "grep", "arguments": '{"pattern": "x"}'},
            },
            {
                "id": "c2",
                "type": "function",
                "function": {"name": "read", "arguments": '{"path": "b.py"}'},
            },
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": LINES},
]


@pytest.fixture
def tools(agent: Client) -> Tools:
    return Tools(agent, make_session(agent, SAID))


def short_id(tools: Tools, index: int) -> str:
    items = get(tools.client, f"/api/sessions/{tools.session_id}/messages")["items"]
    found: str = items[index]["short_id"]
    return found


def test_every_form_of_document_1_is_recalled(tools: Tools) -> None:
    short, session = short_id(tools, 2), tools.session_id
    full = f"nexora://demo/{session[:8]}/{short}"
    for ref_id in (full, f"nexora://_/current/{short}", short, f"[recall:{short}]"):
        answer = tools("recall", ref_id=ref_id, max_tokens=9000)
        assert answer["ref_id"] == full
        assert (answer["content"], answer["truncated"]) == (LINES, False)
    assert tools("recall", ref_id=f"{full}:L50-52")["content"] == "\n".join(
        LINES.split("\n")[49:52]
    )
    assert tools("recall", ref_id=f"{full}:match-3")["content"].startswith("line 3:")
    second = tools("recall", ref_id="m1:tool-2")
    assert second["content"] == 'read {\n "path": "b.py"\n}'
    assert (second["content_type"], second["file_paths"]) == ("file_view", ["b.py"])


def test_a_full_reference_needs_no_session_at_hand(tools: Tools) -> None:
    session = tools.session_id
    body = {"ref_id": f"nexora://demo/{session}/m0"}
    answer = tools.client.post("/api/tools/recall", body, "application/json").json()
    assert answer["content"] == "Look at path/to/app.py"
    assert answer["file_paths"] == ["path/to/app.py"]
    assert answer["summary"] == "Look at path/to/app.py"
    body = {"ref_id": "m0"}
    refused = tools.client.post("/api/tools/recall", body, "application/json")
    assert (refused.status_code, refused.json()["at"]) == (422, ["session_id"])


def test_lines_then_search_then_tokens(tools: Tools) -> None:
    answer = tools("recall", ref_id="m2", lines="10-50", search="FILE1")
    assert len(answer["content"].split("\n")) == 10
    cut = tools("recall", ref_id="m2", max_tokens=20)
    assert cut["truncated"]
    assert cut["token_count"] <= 20
    assert LINES.startswith(cut["content"])
    behind = tools.refused("recall", ref_id="m2", lines="900-950")
    count = len(LINES.splitlines())
    assert behind["detail"] == f"There is no line 900: the text has {count} lines."
    assert behind["at"] == ["lines"]
    assert tools.refused("recall", ref_id="m2", lines="x")["at"] == ["lines"]


def test_a_cursor_leads_on_where_a_character_has_more_tokens_than_are_asked_for(
    agent: Client,
) -> None:
    words = "\U00013000 glyph"
    tools = Tools(agent, make_session(agent, [{"role": "user", "content": words}]))
    found = tools("recall", ref_id="m0", max_tokens=1)
    content = found["content"]
    while cursor := found.get("next_cursor"):
        found = tools("recall", ref_id="m0", max_tokens=1, cursor=cursor)
        assert found["content"]
        content += found["content"]
    assert content == words


def test_what_an_operation_made_is_recalled_by_its_key(tools: Tools) -> None:
    tools("digest_messages", range=[1, 2], summary="Found path/to/it.py")
    assert tools("recall", ref_id="o1.0")["content"] == "Found path/to/it.py"


@pytest.mark.parametrize(
    "ref_id",
    [
        *("msg-00000000", "hello", "m99", "m0:match-9", "o9.0"),
        *("nexora://demo/00000000/m0", "nexora://elsewhere/current/m0"),
    ],
)
def test_what_is_not_there_is_not_found(tools: Tools, ref_id: str) -> None:
    refused = tools.refused("recall", ref_id=ref_id)
    assert (refused["status"], refused["code"]) == (404, "not_found")
    assert refused["detail"] == f"reference not found: {ref_id}"


def test_document_1_an_ambiguous_beginning_lists_its_candidates(
    agent: Client, tools: Tools
) -> None:
    session = Session.objects.get(pk=tools.session_id)
    session.messages.filter(index=0).update(short_id="msg-abcd0001")
    session.messages.filter(index=1).update(short_id="msg-abcd0002")
    refused = tools.refused("recall", ref_id="msg-abcd")
    assert (refused["status"], refused["code"]) == (409, "ambiguous")
    assert refused["candidates"] == [
        f"nexora://demo/{tools.session_id[:8]}/msg-abcd000{number}" for number in (1, 2)
    ]
    assert tools("recall", ref_id="msg-abcd0002")["ref_id"].endswith("0002")


def test_two_sessions_that_begin_alike_are_named_whole(
    agent: Client, project: Project
) -> None:
    ids = [uuid.UUID(f"abc12345-0000-4000-8000-00000000000{n}") for n in (1, 2)]
    for key in ids:
        Session.objects.create(pk=key, project=project, title="x", created_by="x")
        post(agent, f"/api/sessions/{key}/messages", {"messages": SAID}, expect=201)
    refused = Tools(agent, str(ids[0])).refused(
        "recall", ref_id="nexora://_/abc12345/m0"
    )
    assert refused["candidates"] == [f"nexora://demo/{key}/m0" for key in ids]
    whole = f"nexora://_/{ids[1]}/m0"
    assert Tools(agent, str(ids[0]))("recall", ref_id=whole)["content_type"] == "other"


def test_document_1_nothing_is_recalled_that_the_caller_may_not_see(
    tools: Tools, stranger: User
) -> None:
    other = Project.objects.get(slug="other")
    foreign = client_of(stranger, other)
    theirs = Tools(foreign, make_session(foreign, SAID, project="other"))
    for ref_id in (
        f"nexora://demo/{tools.session_id}/m0",
        f"nexora://_/{tools.session_id[:8]}/m0",
        f"nexora://other/{tools.session_id[:8]}/m0",
    ):
        assert theirs.refused("recall", ref_id=ref_id)["status"] == 404
    assert tools.refused("recall", ref_id=f"nexora://other/{theirs.session_id}/m0")


def test_a_result_is_known_by_its_call(agent: Client) -> None:
    def call(id_: str, name: str, arguments: str) -> dict[str, Any]:
        function = {"name": name, "arguments": arguments}
        return {"id": id_, "type": "function", "function": function}

    def answer(*calls: dict[str, Any]) -> dict[str, Any]:
        return {"role": "assistant", "content": None, "tool_calls": [*calls]}

    def result(id_: str, words: str) -> dict[str, Any]:
        return {"role": "tool", "tool_call_id": id_, "content": words}

    legacy = {"name": "read", "arguments": '{"path": "old.py"}'}
    said = [
        {"role": "user", "content": "Go on."},
        answer(
            call("a", "Read", '{"file_path": "/x/a.py"}'),
            call("b", "bash", '{"command": "cat src/b.py"}'),
        ),
        result("b", "its/output.py"),
        *({"role": "assistant", "content": f"Wait {n}."} for n in range(30)),
        result("a", "the text of a"),
        # The same id again, for another tool.
        answer(call("a", "edit", '{"path": "c.py"}')),
        result("a", "done"),
        {"role": "assistant", "content": None, "function_call": legacy},
        {"role": "function", "name": "read", "content": "old words"},
        result("nobody", "lost"),
        {**result("gone", "x"), "name": "grep"},
    ]
    tools = Tools(agent, make_session(agent, said))
    found = {
        key: tools("recall", ref_id=key)
        for key in ("m2", "m33", "m35", "m37", "m38", "m39")
    }
    assert {key: one["content_type"] for key, one in found.items()} == {
        "m2": "bash",
        "m33": "file_view",
        "m35": "edit",
        "m37": "file_view",
        "m38": "other",
        "m39": "grep",
    }
    assert {key: one["file_paths"] for key, one in found.items()} == {
        "m2": ["src/b.py"],
        "m33": ["/x/a.py"],
        "m35": ["c.py"],
        "m37": ["old.py"],
        "m38": [],
        "m39": [],
    }
