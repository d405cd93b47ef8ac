"""Bundles through REST: recorded, refused and switched as one."""

import pytest
from django.test import Client

from tests.operations.support.rest import get, post, thread

from .editing import statuses


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


def test_of_a_bundle_that_does_not_fit_whole_the_others_are_accepted_on_request(
    agent: Client, session_id: str, path: str
) -> None:
    edits = [
        {"type": "digest", "range": [1, 2], "summary": "Sum", "propose": True},
        {"type": "snip", "range": [5, 5]},
    ]
    post(agent, f"{path}/operations", {"type": "snip", "range": [2, 3]}, expect=201)
    bundle = post(agent, f"{path}/bundles", {"operations": edits}, expect=201)
    address = f"/api/bundles/{bundle['bundle_id']}/accept"
    refused = post(agent, address, expect=409)
    assert refused["detail"] == "1 of 2 proposals can't be accepted: o2."
    assert refused["fitting"] == ["o3"]
    assert refused["operations"] == ["o1"]
    (error,) = refused["errors"]
    assert error["operation"] == "o2"
    assert error["at"] == ["operations", 0]
    assert error["needs"]["keys"] == ["m1", "m2", "m3"]
    assert statuses(agent, session_id) == ["applied", "proposed", "proposed"]
    accepted = post(agent, address, {"skip_conflicts": True})
    (warning,) = accepted["warnings"]
    assert warning["code"] == "skipped"
    assert warning["detail"].startswith("o2 was not accepted: ")
    assert statuses(agent, session_id) == ["applied", "proposed", "applied"]
    assert post(agent, address, {"skip_conflicts": True}, expect=409)["fitting"] == []


@pytest.mark.parametrize("door", ["bundles", "staged"])
def test_what_each_edit_of_a_bundle_says_of_itself_counts(
    door: str, agent: Client, session_id: str, path: str
) -> None:
    def titles() -> list[str]:
        found = thread(agent, session_id)["operations"]
        return [operation["title"] for operation in found]

    first = {"type": "snip", "range": [1, 2], "title": "Small talk"}
    second = {"type": "snip", "range": [4, 5], "title": "A dead end"}
    edits = [first, second | {"expected_head": 7}]
    refused = post(agent, f"{path}/{door}", {"operations": edits}, expect=409)
    assert refused["at"] == ["operations", 1, "expected_head"]
    edits = [first, second | {"expected_head": 0}]
    post(agent, f"{path}/{door}", {"operations": edits}, expect=201)
    assert titles() == ["Small talk", "A dead end"]
    third = {"type": "tag", "range": [7, 8], "tags": ["a"], "title": "A topic"}
    body = {"operations": [third], "title": "Tidy"}
    post(agent, f"{path}/{door}", body, expect=201)
    assert titles()[-1] == "Tidy"
