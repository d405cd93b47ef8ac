"""What every tool's arguments and its request's headers may hold, besides its own fields."""

import pytest

from contextstudio.accounts.models import Project, User
from tests.operations.support.sessions import session_of

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
