"""Operations through REST: read, switched, reviewed, amended."""

import re

import pytest
from django.test import Client

from contextstudio.accounts.models import ApiKey
from tests.operations.support.rest import effective, get, operate, post

from .editing import act, digest, statuses


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
    assert refused["detail"] == "o1 is proposed: accept or reject it."
    assert act(agent, made, "reject")["head"] == 2
    refused = act(agent, made, "toggle", {"active": True}, expect=409)
    assert refused["detail"] == "o1 is rejected: accept it first."
    assert act(agent, made, "reject")["head"] == 2
    assert statuses(agent, session_id) == ["rejected"]
    (told,) = get(agent, f"/api/sessions/{session_id}/operations")["operations"]
    assert told["reason"] == f"{ApiKey.objects.get().name} rejected it in review."
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
    blank = {"replacements": [two[0], {"role": "user", "content": ""}]}
    refused = act(agent, revised, "amend", blank, expect=422)
    assert refused["at"] == ["replacements", 1]
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
        assert "then ask again with 1 as If-Match" in refused["detail"]
        assert refused["at"] == ["If-Match"]
        refused = post(agent, address, sent | {"expected_head": 0}, expect=409)
        assert "then ask again with 1 as expected_head" in refused["detail"]
        assert refused["at"] == ["expected_head"]
    for header in ("*", '"x"', '"١"', "9" * 5_000):
        sent = {"If-Match": header.encode().decode("latin-1")}
        refused = post(agent, f"{path}/undo", expect=422, **sent)
        assert refused["at"] == ["If-Match"]
    both = {"expected_head": 1}
    refused = post(agent, f"{path}/undo", both, expect=422, **{"If-Match": '"0"'})
    assert (
        refused["detail"] == "If-Match says 0, and expected_head 1: send one of them."
    )
    post(agent, f"{path}/undo", both, **{"If-Match": "1"})


@pytest.mark.parametrize("verb", ["revert", "accept", "reject", "undo", "redo"])
def test_the_head_that_a_caller_knows_may_be_in_the_body_of_every_write(
    verb: str, agent: Client, session_id: str, path: str
) -> None:
    made = digest(agent, session_id, 1, 2)
    addresses = [f"/api/operations/{made['operation_id']}/{verb}"]
    if verb in ("undo", "redo"):
        addresses = [f"{path}/{verb}"]
    elif verb != "accept":
        edits = [{"type": "snip", "range": [4, 5]}]
        bundle = post(agent, f"{path}/bundles", {"operations": edits}, expect=201)
        addresses.append(f"/api/bundles/{bundle['bundle_id']}/{verb}")
    for address in addresses:
        refused = post(agent, address, {"expected_head": 0}, expect=409)
        assert refused["code"] == "stale_head"
        assert post(agent, address, {"head": 0}, expect=422)["at"] == ["head"]


def test_an_edit_of_no_kind_is_told_the_kinds(agent: Client, path: str) -> None:
    refused = post(
        agent, f"{path}/operations", {"type": "dance", "range": [1, 2]}, expect=422
    )
    kinds = "tag, digest, revise, snip, condense, insert, resequence, replace, redact"
    assert refused["detail"] == f"There is no type dance; the types are {kinds}."
    assert refused["at"] == ["type"]
    refused = post(agent, f"{path}/operations", {"range": [1, 2]}, expect=422)
    given = f"Give a type: one of {kinds}."
    assert (refused["detail"], refused["at"]) == (given, ["type"])


def test_an_edit_with_an_unknown_field_is_told_the_fields_of_its_kind(
    agent: Client, path: str
) -> None:
    snip = {"type": "snip", "range": [1, 2], "colour": "red"}
    refused = post(agent, f"{path}/operations", snip, expect=422)
    told = refused["detail"]
    assert told.startswith("There is no field colour; the fields are ")
    assert {"range", "targets", "condition"} <= {*re.findall(r"\w+", told)}
    assert "summary" not in told
    bundle = {"operations": [snip | {"type": "digest", "summary": "Sum"}]}
    refused = post(agent, f"{path}/bundles", bundle, expect=422)
    assert refused["at"] == ["operations", 0, "colour"]
    assert {"range", "summary"} <= {*re.findall(r"\w+", refused["detail"])}
    refused = post(agent, f"{path}/undo", {"head": 0}, expect=422)
    assert (
        refused["detail"] == "There is no field head; the only field is expected_head."
    )
