"""The thread through REST: its views, folds, windows and tags."""

from django.test import Client

from operations.messages.presentation import ThreadOut
from tests.operations.support.rest import effective, get, keys, operate, post, thread

from .editing import COUNT, digest, statuses


def test_a_thread_says_all_that_the_contract_promises(
    agent: Client, session_id: str
) -> None:
    operate(agent, session_id, "tag", range=[1, 1], tags=["design"])
    made = digest(agent, session_id, 2, 4)
    whole = thread(agent, session_id)
    assert set(whole) == set(ThreadOut.model_fields)
    assert set(whole) == {
        "session_id",
        "head",
        "message_count",
        "total",
        "nodes",
        "operations",
        "operations_total",
        "active_tags",
        "tokens",
    }
    assert (whole["session_id"], whole["head"]) == (session_id, 2)
    assert (whole["message_count"], whole["total"]) == (COUNT, COUNT - 2)
    assert whole["tokens"]["original"] > whole["tokens"]["effective"] > 0
    message, fold = whole["nodes"][1], whole["nodes"][2]
    assert message["kind"] == "message"
    assert (message["key"], message["index"], message["tags"]) == ("m1", 1, ["design"])
    assert (message["role"], message["content"]) == ("assistant", "message 1")
    assert message["parts"] == [{"type": "text", "text": "message 1"}]
    assert message["tool_results"] == []
    assert message["short_id"].startswith("msg-")
    assert {
        name: fold[name]
        for name in ("kind", "key", "operation_id", "type", "first", "last", "count")
    } == {
        "kind": "fold",
        "key": "o2",
        "operation_id": made["operation_id"],
        "type": "digest",
        "first": 2,
        "last": 4,
        "count": 3,
    }
    assert fold["tokens_before"] > fold["tokens_after"] > 0
    assert [shown["content"] for shown in fold["replacement"]] == ["Sum"]
    assert "children" not in fold
    (_, listed) = whole["operations"]
    assert listed == {
        "id": made["operation_id"],
        "key": "o2",
        "type": "digest",
        "title": "",
        "status": "applied",
        "staged": False,
        "reason": "",
        "hidden_by": None,
        "condition": None,
        "bundle_id": None,
        "actor": listed["actor"],
        "created_at": listed["created_at"],
        "reverted_at": None,
    }
    assert listed["actor"]["name"] == "agent"


def test_start_and_limit_count_nodes_and_a_limit_is_clamped_never_refused(
    agent: Client, session_id: str
) -> None:
    digest(agent, session_id, 2, 4)
    assert keys(agent, session_id, start=1, limit=3) == ["m1", "o1", "m5"]
    assert keys(agent, session_id, start=7) == ["m9"]
    assert keys(agent, session_id, start=99) == []
    assert keys(agent, session_id, start=-5, limit=0) == ["m0"]
    assert len(keys(agent, session_id, limit=10**30)) == COUNT - 2
    last = thread(agent, session_id, view="effective", start=7, limit=1)
    assert (last["total"], [node["key"] for node in last["nodes"]]) == (8, ["m9"])
    original = thread(agent, session_id, view="original", start=8, limit=9)
    assert original["total"] == COUNT
    assert [node["key"] for node in original["nodes"]] == ["m8", "m9"]
    get(agent, f"/api/sessions/{session_id}/thread", view="other", expect=422)


def test_the_views_show_markers_what_the_model_sees_and_the_originals(
    agent: Client, session_id: str
) -> None:
    operate(agent, session_id, "snip", range=[1, 2])
    inserted = [{"role": "user", "content": "in between"}]
    operate(agent, session_id, "insert", after_idx=3, messages=inserted)
    annotated = thread(agent, session_id)["nodes"]
    assert [node["kind"] for node in annotated[:4]] == [
        "message",
        "fold",
        "message",
        "inserted",
    ]
    seen = effective(agent, session_id)
    assert [node["key"] for node in seen[:3]] == ["m0", "m3", "o2.0"]
    assert (seen[2]["kind"], seen[2]["content"]) == ("inserted", "in between")
    assert keys(agent, session_id, view="original") == [f"m{i}" for i in range(COUNT)]


def test_a_fold_is_unfolded_in_windows_and_nested_folds_with_it(
    agent: Client, session_id: str
) -> None:
    operate(agent, session_id, "snip", range=[5, 6])
    digest(agent, session_id, 2, 8)
    fold = thread(agent, session_id, unfold="o2")["nodes"][2]
    assert [child["key"] for child in fold["children"]] == [
        "m2",
        "m3",
        "m4",
        "o1",
        "m7",
        "m8",
    ]
    assert "children" not in fold["children"][3]
    window = {"unfold": "o1,o2,o99", "children_start": 2, "children_limit": 2}
    fold = thread(agent, session_id, **window)["nodes"][2]
    assert [child["key"] for child in fold["children"]] == ["m4", "o1"]
    inner = fold["children"][1]["children"]
    assert [child["key"] for child in inner] == ["m5", "m6"]


def test_a_request_may_bring_its_own_active_tags(
    agent: Client, session_id: str, path: str
) -> None:
    operate(agent, session_id, "snip", range=[1, 2], tags=["lean"])
    tags = {"session_id": session_id, "tags": ["lean"]}
    post(agent, "/api/tools/set_active_tags", tags)
    assert thread(agent, session_id)["active_tags"] == ["lean"]
    assert len(effective(agent, session_id)) == COUNT - 2
    without = thread(agent, session_id, active_tags="")
    assert (without["active_tags"], without["total"]) == ([], COUNT)
    assert without["operations"][0]["status"] == "unmet"
    assert thread(agent, session_id, active_tags="lean,x")["total"] == COUNT - 1


def test_a_tag_that_is_none_is_refused_in_words(agent: Client, session_id: str) -> None:
    body = {"type": "tag", "range": [1, 1], "tags": ["two\nlines"]}
    path = f"/api/sessions/{session_id}/operations"
    document = post(agent, path, body, expect=422)
    assert document["code"] == "invalid"
    (fault,) = document["errors"]
    assert fault["at"] == ["tags", 0]
    assert fault["code"] == "string_pattern_mismatch"
    assert fault["detail"] == ("A tag is one line of text, without control characters.")


def test_one_edit_gives_at_most_two_hundred_tags(
    agent: Client, session_id: str
) -> None:
    names = [f"tag {number}" for number in range(201)]
    path = f"/api/sessions/{session_id}/operations"
    refused = post(
        agent, path, {"type": "tag", "range": [1, 1], "tags": names}, expect=422
    )
    assert refused["at"] == ["tags"]
    operate(agent, session_id, "tag", range=[1, 1], tags=names[:200])


def test_an_objective_counts_as_an_active_tag(
    agent: Client, session_id: str, path: str
) -> None:
    condition = {"objectives": ["ship it"]}
    operate(agent, session_id, "snip", range=[1, 2], condition=condition)
    assert statuses(agent, session_id) == ["unmet"]
    agent.patch(path, {"objective": "ship it"}, "application/json")
    assert statuses(agent, session_id) == ["applied"]
    assert thread(agent, session_id)["active_tags"] == ["objective:ship it"]
