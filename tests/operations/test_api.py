"""The thread, operations, bundles, the log, undo and lenses through REST (DESIGN 6)."""

from typing import Any

import pytest
from django.test import Client

from contextstudio.accounts.models import Project, User
from tests.operations.rest import (
    effective,
    get,
    keys,
    make_session,
    operate,
    post,
    thread,
)
from tests.people import key_of

COUNT = 10


@pytest.fixture
def session_id(agent: Client) -> str:
    return make_session(agent, COUNT)


@pytest.fixture
def path(session_id: str) -> str:
    return f"/api/sessions/{session_id}"


@pytest.fixture
def colleague(editor: User, project: Project) -> Client:
    """A client of somebody else who may edit."""
    return client_of(editor, project)


@pytest.fixture
def proposer(reviewer: User, project: Project) -> Client:
    """A client of one who may propose and review, but not edit."""
    return client_of(reviewer, project)


def client_of(user: User, project: Project) -> Client:
    return Client(headers={"Authorization": f"Bearer {key_of(user, project)}"})


def digest(client: Client, session_id: str, first: int, last: int, **more: Any) -> Any:
    fields = {"range": [first, last], "summary": "Sum"} | more
    return operate(client, session_id, "digest", **fields)


def act(
    client: Client, operation: Any, verb: str, body: Any = None, **more: Any
) -> Any:
    path = f"/api/operations/{operation['operation_id']}/{verb}"
    return post(client, path, body, **more)


def statuses(client: Client, session_id: str) -> list[str]:
    listed = get(client, f"/api/sessions/{session_id}/operations")["operations"]
    return [operation["status"] for operation in listed]


# The thread


def test_a_thread_says_all_that_the_contract_promises(
    agent: Client, session_id: str
) -> None:
    operate(agent, session_id, "tag", range=[1, 1], tags=["design"])
    made = digest(agent, session_id, 2, 4)
    whole = thread(agent, session_id)
    assert set(whole) == {
        "session_id",
        "head",
        "message_count",
        "total",
        "nodes",
        "operations",
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


def test_an_objective_counts_as_an_active_tag(
    agent: Client, session_id: str, path: str
) -> None:
    condition = {"objectives": ["ship it"]}
    operate(agent, session_id, "snip", range=[1, 2], condition=condition)
    assert statuses(agent, session_id) == ["unmet"]
    agent.patch(path, {"objective": "ship it"}, "application/json")
    assert statuses(agent, session_id) == ["applied"]
    assert thread(agent, session_id)["active_tags"] == ["objective:ship it"]


# Operations


def test_an_operation_is_read_with_all_that_it_was_recorded_with(
    agent: Client, session_id: str
) -> None:
    made = digest(agent, session_id, 2, 4, condition={"tags": ["a"], "match": "none"})
    address = f"/api/operations/{made['operation_id']}"
    found = get(agent, address)
    assert found["targets"] == ["m2", "m3", "m4"]
    assert [(m["key"], m["content"]) for m in found["messages"]] == [("o1.0", "Sum")]
    assert found["condition"] == {"tags": ["a"], "objectives": [], "match": "none"}
    assert found["amended"] == []
    act(agent, made, "amend", {"summary": "Better"})
    found = get(agent, address)
    assert [message["content"] for message in found["messages"]] == ["Better"]
    assert [entry["key"] for entry in found["amended"]] == ["o2"]
    inserted = operate(
        agent,
        session_id,
        "insert",
        after_idx=-1,
        messages=[{"role": "user", "content": "x"}],
    )
    assert get(agent, f"/api/operations/{inserted['operation_id']}")["after"] is None
    tag = operate(agent, session_id, "tag", range=[1, 1], tags=["x", "y"])
    assert get(agent, f"/api/operations/{tag['operation_id']}")["tags"] == ["x", "y"]


def test_an_entry_that_is_no_edit_is_no_operation(
    agent: Client, session_id: str, path: str
) -> None:
    made = digest(agent, session_id, 2, 4)
    act(agent, made, "revert")
    control = get(agent, f"{path}/log")["items"][1]["id"]
    get(agent, f"/api/operations/{control}", expect=404)
    of_control = {"operation_id": control}
    act(agent, of_control, "toggle", {"active": True}, expect=404)
    act(agent, of_control, "amend", {"summary": "x"}, expect=422)
    unknown = {"operation_id": "00000000-0000-4000-8000-000000000000"}
    for verb in ("revert", "accept", "reject"):
        refused = act(agent, unknown, verb, expect=404)
        assert refused["at"] == ["operation_id"]


def test_switching_to_the_state_that_is_succeeds_without_an_entry(
    agent: Client, session_id: str
) -> None:
    made = digest(agent, session_id, 2, 4)
    assert act(agent, made, "toggle", {"active": True})["head"] == 1
    assert act(agent, made, "toggle", {"active": False})["head"] == 2
    assert act(agent, made, "toggle", {"active": False})["head"] == 2
    assert act(agent, made, "revert")["head"] == 3
    assert act(agent, made, "revert")["head"] == 3
    assert act(agent, made, "toggle", {"active": False})["head"] == 3
    restored = act(agent, made, "toggle", {"active": True})
    assert (restored["success"], restored["head"]) == (True, 4)
    assert act(agent, made, "amend", {"summary": "Sum"})["head"] == 4
    assert act(agent, made, "accept")["head"] == 4
    assert statuses(agent, session_id) == ["applied"]


def test_what_fares_otherwise_is_listed_in_the_answer(
    agent: Client, session_id: str
) -> None:
    inner = digest(agent, session_id, 4, 5)
    off = act(agent, inner, "toggle", {"active": False})
    assert off["changed"] == [
        {
            "key": "o1",
            "id": inner["operation_id"],
            "type": "digest",
            "before": "applied",
            "status": "off",
            "reason": "It is switched off.",
        }
    ]
    digest(agent, session_id, 5, 7)
    on = act(agent, inner, "toggle", {"active": True})
    assert [(c["key"], c["status"]) for c in on["changed"]] == [
        ("o1", "applied"),
        ("o3", "conflict"),
    ]


def test_a_proposal_is_accepted_rejected_and_accepted_after_all(
    agent: Client, session_id: str
) -> None:
    made = digest(agent, session_id, 2, 4, propose=True)
    assert statuses(agent, session_id) == ["proposed"]
    refused = act(agent, made, "toggle", {"active": True}, expect=409)
    assert refused["code"] == "is_proposed"
    assert act(agent, made, "reject")["head"] == 2
    assert act(agent, made, "reject")["head"] == 2
    assert statuses(agent, session_id) == ["rejected"]
    refused = act(agent, made, "toggle", {"active": False}, expect=409)
    assert refused["code"] == "is_rejected"
    assert act(agent, made, "accept")["head"] == 3
    assert statuses(agent, session_id) == ["applied"]
    assert act(agent, made, "reject", expect=409)["operations"] == ["o1"]
    act(agent, made, "revert")
    assert act(agent, made, "accept", expect=409)["code"] == "is_reverted"


def test_accepting_checks_for_conflict(agent: Client, session_id: str) -> None:
    digest(agent, session_id, 2, 4)
    made = operate(agent, session_id, "snip", range=[4, 6], propose=True)
    refused = act(agent, made, "accept", expect=409)
    assert refused["operations"] == ["o1"]
    assert refused["needs"] == {
        "keys": ["m2", "m3", "m4", "m5", "m6"],
        "first": 2,
        "last": 6,
    }
    assert refused["at"] == ["operations", 0]


def test_an_amendment_changes_words_and_condition_of_its_own_kind_only(
    agent: Client, session_id: str
) -> None:
    made = digest(agent, session_id, 2, 4)
    revised = operate(
        agent,
        session_id,
        "revise",
        range=[6, 7],
        replacements=[{"role": "user", "content": "x"}],
    )
    two = [{"role": "user", "content": word} for word in ("y", "z")]
    act(agent, revised, "amend", {"replacements": two})
    assert [node["content"] for node in effective(agent, session_id)[4:6]] == ["y", "z"]
    amended = {"condition": {"objectives": ["ship"]}, "expected_head": 3}
    act(agent, made, "amend", amended)
    assert statuses(agent, session_id) == ["unmet", "applied"]
    act(agent, made, "amend", {"tags": []})
    assert statuses(agent, session_id) == ["applied", "applied"]
    tag = operate(agent, session_id, "tag", range=[0, 0], tags=["x"])
    act(agent, tag, "amend", {"tags": ["y"], "condition": {"tags": ["lean"]}})
    found = get(agent, f"/api/operations/{tag['operation_id']}")
    assert (found["tags"], found["condition"]["tags"]) == (["y"], ["lean"])
    both = {"tags": ["a"], "condition": {"tags": ["b"]}}
    for body, at in (
        ({"replacements": two}, ["replacements"]),
        ({"targets": ["m1"]}, ["targets"]),
        ({}, []),
        (both, ["tags"]),
        ({"summary": ""}, ["summary"]),
    ):
        assert act(agent, made, "amend", body, expect=422)["at"] == at
    stale = {"summary": "New", "expected_head": 3}
    assert act(agent, made, "amend", stale, expect=409)["code"] == "stale_head"


def test_only_active_operations_are_listed_where_that_is_asked(
    agent: Client, session_id: str, path: str
) -> None:
    digest(agent, session_id, 2, 4)
    act(agent, operate(agent, session_id, "snip", range=[6, 7]), "revert")
    active = get(agent, f"{path}/operations", active_only=True)["operations"]
    assert [operation["key"] for operation in active] == ["o1"]
    assert len(get(agent, f"{path}/operations")["operations"]) == 2


def test_the_head_that_a_caller_knows_may_be_a_header(
    agent: Client, session_id: str, path: str
) -> None:
    body = {"type": "snip", "range": [1, 2]}
    made = post(agent, f"{path}/operations", body, expect=201, **{"If-Match": '"0"'})
    for address, sent in (
        (f"{path}/operations", body),
        (f"{path}/undo", {}),
        (f"/api/operations/{made['operation_id']}/revert", {}),
        (f"/api/operations/{made['operation_id']}/toggle", {"active": False}),
    ):
        refused = post(agent, address, sent, expect=409, **{"If-Match": 'W/"0"'})
        assert (refused["code"], refused["head"]) == ("stale_head", 1)
    for header in ("*", '"x"', '"١"'):
        sent = {"If-Match": header.encode().decode("latin-1")}
        refused = post(agent, f"{path}/undo", expect=422, **sent)
        assert refused["at"] == ["If-Match"]
    post(agent, f"{path}/undo", **{"If-Match": "1"})


# Bundles


def test_a_bundle_is_recorded_whole_with_numbers_in_a_row(
    agent: Client, session_id: str, path: str
) -> None:
    edits = [
        {
            "type": "insert",
            "after_idx": 2,
            "messages": [{"role": "user", "content": "x"}],
        },
        {"type": "digest", "range": [2, 3], "summary": "Sum"},
        {"type": "snip", "targets": ["m6"]},
    ]
    body = {"title": "Tidy", "operations": edits, "expected_head": 0}
    bundle = post(agent, f"{path}/bundles", body, expect=201)
    assert bundle["head"] == 3
    recorded = bundle["operations"]
    assert [operation["key"] for operation in recorded] == ["o1", "o2", "o3"]
    assert recorded[1]["resolved"]["keys"] == ["m2", "m3", "o1.0"]
    listed = thread(agent, session_id)["operations"]
    assert {operation["bundle_id"] for operation in listed} == {bundle["bundle_id"]}
    undone = post(agent, f"{path}/undo")
    assert undone["head"] == 4
    assert statuses(agent, session_id) == ["reverted"] * 3
    post(agent, f"{path}/redo")
    assert statuses(agent, session_id) == ["applied"] * 3


def test_a_bundle_is_refused_whole_with_the_place_of_each_fault(
    agent: Client, session_id: str, path: str
) -> None:
    good = {"type": "snip", "range": [1, 2]}
    for bad, status, at in (
        ({"type": "snip", "targets": ["m99"]}, 422, ["operations", 1, "targets", 0]),
        ({"type": "snip", "range": [5, 99]}, 422, ["operations", 1, "end_idx"]),
        ({"type": "snip", "range": [2, 3]}, 409, ["operations", 1]),
        ({"type": "digest", "range": [5, 6]}, 422, ["operations", 1, "summary"]),
        ({"type": "undo"}, 422, ["operations", 1, "type"]),
        ({}, 422, ["operations", 1, "type"]),
    ):
        body = {"operations": [good, bad]}
        refused = post(agent, f"{path}/bundles", body, expect=status)
        assert refused["at"] == at
    post(agent, f"{path}/bundles", {"operations": []}, expect=422)
    assert get(agent, path)["head"] == 0


def test_a_bundle_is_switched_reviewed_and_taken_back_as_one(
    agent: Client, session_id: str, path: str
) -> None:
    edits = [
        {"type": "snip", "range": [1, 2], "propose": True},
        {"type": "digest", "range": [4, 5], "summary": "Sum"},
    ]
    bundle = post(agent, f"{path}/bundles", {"operations": edits}, expect=201)
    address = f"/api/bundles/{bundle['bundle_id']}"
    assert statuses(agent, session_id) == ["proposed"] * 2
    assert post(agent, f"{address}/reject")["head"] == 3
    assert statuses(agent, session_id) == ["rejected"] * 2
    assert post(agent, f"{address}/accept")["head"] == 4
    assert statuses(agent, session_id) == ["applied"] * 2
    assert post(agent, f"{address}/toggle", {"active": False})["head"] == 5
    assert statuses(agent, session_id) == ["off"] * 2
    assert post(agent, f"{address}/toggle", {"active": False})["head"] == 5
    assert post(agent, f"{address}/revert")["head"] == 6
    assert statuses(agent, session_id) == ["reverted"] * 2
    stale = {"active": True, "expected_head": 5}
    assert post(agent, f"{address}/toggle", stale, expect=409)["head"] == 6
    unknown = "/api/bundles/00000000-0000-4000-8000-000000000000/revert"
    assert post(agent, unknown, expect=404)["at"] == ["bundle_id"]


# The log, undo and redo


def test_the_log_is_paged_from_first_to_last(
    agent: Client, session_id: str, path: str
) -> None:
    made = digest(agent, session_id, 2, 4)
    act(agent, made, "toggle", {"active": False})
    act(agent, made, "amend", {"summary": "Better"})
    first = get(agent, f"{path}/log", limit=2)
    assert [entry["type"] for entry in first["items"]] == ["digest", "toggle"]
    assert first["items"][0]["entry"]["targets"] == ["m2", "m3", "m4"]
    assert first["items"][1]["entry"] == {"operations": ["o1"], "active": False}
    rest = get(agent, f"{path}/log", limit=2, cursor=first["next_cursor"])
    assert [entry["number"] for entry in rest["items"]] == [3]
    assert rest["next_cursor"] is None
    assert rest["items"][0]["entry"]["edit"]["messages"][0]["parts"][0] == {
        "type": "text",
        "text": "Better",
    }


@pytest.mark.parametrize(
    "cursor", ["x", "WzFd=", "Wy01XQ", "W1siYSJdXQ", "é", "WyJhIl0"]
)
def test_a_cursor_that_is_none_of_the_list_is_refused(
    agent: Client, path: str, cursor: str
) -> None:
    for address in (f"{path}/log", "/api/sessions"):
        answer = agent.get(address, {"cursor": cursor})
        assert answer.status_code in (200, 422), answer.content
        if answer.status_code == 422:
            assert answer.json()["at"] == ["cursor"]


def test_undo_and_redo_are_each_callers_own(
    agent: Client, colleague: Client, session_id: str, path: str
) -> None:
    operate(agent, session_id, "snip", range=[1, 1])
    operate(colleague, session_id, "snip", range=[3, 3])
    assert post(agent, f"{path}/undo")["success"]
    assert statuses(agent, session_id) == ["reverted", "applied"]
    assert post(agent, f"{path}/undo", expect=409)["code"] == "nothing_to_undo"
    assert post(colleague, f"{path}/redo", expect=409)["code"] == "nothing_to_redo"
    assert post(agent, f"{path}/redo")["success"]
    assert statuses(agent, session_id) == ["applied", "applied"]
    post(agent, f"{path}/undo")
    operate(agent, session_id, "tag", range=[5, 5], tags=["x"])
    assert post(agent, f"{path}/redo", expect=409)["code"] == "nothing_to_redo"


def test_undo_of_what_somebody_else_needs_is_refused_and_lists_it(
    agent: Client, colleague: Client, session_id: str, path: str
) -> None:
    said = [{"role": "user", "content": "in between"}]
    operate(agent, session_id, "insert", after_idx=3, messages=said)
    digest(colleague, session_id, 3, 4)
    refused = post(agent, f"{path}/undo", expect=409)
    assert (refused["code"], refused["operations"]) == ("needed", ["o2"])


def test_a_proposer_undoes_what_waits_but_not_what_has_come_to_apply(
    agent: Client, proposer: Client, session_id: str, path: str
) -> None:
    made = operate(proposer, session_id, "snip", range=[1, 1])
    post(proposer, f"{path}/undo")
    assert statuses(agent, session_id) == ["reverted"]
    post(proposer, f"{path}/redo")
    assert statuses(agent, session_id) == ["proposed"]
    act(agent, made, "accept")
    refused = post(proposer, f"{path}/undo", expect=403)
    assert refused["code"] == "forbidden"
    assert statuses(agent, session_id) == ["applied"]
    assert get(agent, path)["head"] == 4


def test_a_reviewer_takes_back_a_verdict_and_an_own_proposal(
    agent: Client, proposer: Client, session_id: str, path: str
) -> None:
    made = operate(agent, session_id, "snip", range=[1, 1], propose=True)
    act(proposer, made, "accept")
    post(proposer, f"{path}/undo")
    assert statuses(agent, session_id) == ["proposed"]
    act(proposer, made, "revert", expect=403)
    own = operate(proposer, session_id, "snip", range=[3, 3])
    act(proposer, own, "revert")
    post(proposer, f"{path}/undo")
    assert statuses(agent, session_id) == ["proposed", "proposed"]
    act(proposer, own, "amend", {"tags": ["x"]}, expect=403)


def test_tags_that_were_activated_are_taken_back(
    agent: Client, session_id: str, path: str
) -> None:
    tags = {"session_id": session_id, "tags": ["lean"]}
    post(agent, "/api/tools/set_active_tags", tags)
    post(agent, f"{path}/undo")
    assert thread(agent, session_id)["active_tags"] == []


# Lenses


def test_a_lens_is_kept_changed_read_and_forgotten(agent: Client, path: str) -> None:
    address = f"{path}/lenses/Handover%20notes"
    for tags in (["a", "b", "a"], ["b"]):
        answer = agent.put(address, {"tags": tags}, "application/json")
        assert answer.status_code == 200
    expected = {"name": "Handover notes", "tags": ["b"]}
    assert get(agent, address) == expected
    assert get(agent, f"{path}/lenses") == [expected]
    assert agent.delete(address).status_code == 204
    assert agent.delete(address).status_code == 204
    assert get(agent, address, expect=404)["at"] == ["name"]


@pytest.mark.parametrize("name", ["%00", "x" * 101, "a%0Ab"])
def test_a_lens_without_a_name_fit_for_people_is_refused(
    agent: Client, path: str, name: str
) -> None:
    address = f"{path}/lenses/{name}"
    answer = agent.put(address, {"tags": ["a"]}, "application/json")
    assert answer.status_code == 422
    assert answer.json()["at"] == ["name"]
    get(agent, address, expect=404)
    assert agent.delete(address).status_code == 204


def test_a_lens_of_a_tag_that_is_none_is_refused(agent: Client, path: str) -> None:
    for tag in ("\x00", "\ud800", "", "x" * 101):
        answer = agent.put(f"{path}/lenses/x", {"tags": [tag]}, "application/json")
        assert answer.json()["at"] == ["tags", 0]


def test_what_an_operation_is_for_is_said_with_it(
    agent: Client, session_id: str, path: str
) -> None:
    operate(agent, session_id, "snip", range=[1, 1], title="Seen twice")
    edits = [{"type": "snip", "range": [3, 3]}]
    body = {"title": "Tidy up", "operations": edits}
    post(agent, f"{path}/bundles", body, expect=201)
    listed = get(agent, f"{path}/operations")["operations"]
    assert [operation["title"] for operation in listed] == ["Seen twice", "Tidy up"]
