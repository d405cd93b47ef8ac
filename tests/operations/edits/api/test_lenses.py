"""Lenses through REST, and what an operation is for."""

import pytest
from django.test import Client

from tests.operations.support.rest import get, operate, post


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
