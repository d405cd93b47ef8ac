"""An operation is named by its id, or in its session by the key that other answers give."""

import uuid

import pytest
from django.test import Client

from tests.operations.support.rest import Tools, keys, make_session


@pytest.fixture
def tools(agent: Client) -> Tools:
    return Tools(agent, make_session(agent, 8))


def test_what_is_in_the_way_is_taken_back_by_the_key_that_the_refusal_gives(
    tools: Tools,
) -> None:
    tools("snip_messages", range=[2, 3])
    refused = tools.refused("digest_messages", range=[3, 5], summary="Short")
    (key,) = refused["operations"]
    here = {"session_id": tools.session_id}
    tools("revert_operation", operation_id=key, **here)
    assert tools("digest_messages", range=[3, 5], summary="Short")["key"] == "o3"
    tools("amend_operation", operation_id="o3", summary="Shorter", **here)
    tools("toggle_operation", operation_id="o3", active=False, **here)
    assert keys(tools.client, tools.session_id) == [f"m{index}" for index in range(8)]


def test_a_key_needs_its_session_and_must_be_there(tools: Tools) -> None:
    refused = tools.refused("revert_operation", operation_id="o1")
    assert refused["at"] == ["session_id"]
    for key in ("o1", "o999999999"):
        refused = tools.refused(
            "revert_operation", operation_id=key, session_id=tools.session_id
        )
        assert refused["detail"] == f"There is no operation {key}."
    unknown = {"operation_id": "o1", "session_id": str(uuid.uuid4())}
    assert tools.refused("revert_operation", **unknown)["status"] == 404


@pytest.mark.parametrize("name", ["7", "o7.0", "m7", "", "o0"])
def test_what_names_no_operation_is_refused_in_words(tools: Tools, name: str) -> None:
    refused = tools.refused("revert_operation", operation_id=name)
    assert refused["detail"] == (
        "Give an operation's id, a UUID, or its key, such as o7."
    )
    assert refused["at"] == ["operation_id"]
