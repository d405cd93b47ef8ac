"""What every tool's arguments and its request's headers may hold, besides its own fields."""

import pytest

from contextstudio.accounts.models import Project, User
from tests.operations.support.rest import post
from tests.operations.support.sessions import session_of
from tests.people import client_of

from .cases import COUNT
from .doors import every_door


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_json_lacks_is_refused_at_every_door(
    number: float, owner: User, project: Project
) -> None:
    session = session_of(owner, project, COUNT)
    block = {"type": "tool_use", "id": "a", "name": "f", "input": {"x": number}}
    said = {"role": "assistant", "content": [block]}
    at = ["messages", 0, "content", 0, "input", "x"]
    for place, door in every_door(owner, project).items():
        refused = door("append_messages", session_id=str(session.pk), messages=[said])
        assert (refused.status, refused.body["code"]) == (422, "json_invalid"), place
        assert refused.body["at"] == ([] if place == "rest" else at), place


def test_rest_takes_the_head_that_a_caller_of_a_tool_knows_as_a_header(
    owner: User, project: Project
) -> None:
    agent, path = client_of(owner, project), "/api/tools/snip_messages"
    call = {"session_id": str(session_of(owner, project, COUNT).pk)}
    post(agent, path, {**call, "range": [1, 2]}, **{"If-Match": '"0"'})
    later = {**call, "range": [3, 4]}
    refused = post(agent, path, later, expect=409, **{"If-Match": '"0"'})
    assert (refused["code"], refused["at"]) == ("stale_head", ["If-Match"])
    post(agent, path, later, **{"If-Match": '"1"'})
