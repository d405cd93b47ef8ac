"""An agent names a point, tries something, and goes back."""

from typing import Any

import pytest
from django.test import Client

from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import Project, User
from tests.operations.support.rest import Tools, make_session
from tests.people import client_of

COUNT = 8
TOOL = "manage_snapshots"


@pytest.fixture
def tools(agent: Client) -> Tools:
    return Tools(agent, make_session(agent, COUNT))


def act(tools: Tools, action: str, snapshot: str | None = None) -> Any:
    return tools(TOOL, action=action, snapshot=snapshot)


def names(tools: Tools) -> list[str]:
    return [one["name"] for one in act(tools, "list")["snapshots"]]


def test_a_point_is_named_listed_gone_back_to_and_forgotten(tools: Tools) -> None:
    assert act(tools, "take", "then")["message_count"] == COUNT
    tools("snip_messages", start_idx=1, end_idx=3)
    assert tools.thread()["total"] == COUNT - 2
    assert act(tools, "restore", "then")["head"] == 2
    assert tools.thread()["total"] == COUNT
    assert names(tools) == ["then"]
    tools("undo_operation", session_id=tools.session_id)
    assert tools.thread()["total"] == COUNT - 2
    assert act(tools, "delete", "then") == {"success": True}
    assert names(tools) == []


@pytest.mark.parametrize(
    ("action", "snapshot", "status"),
    [
        ("take", None, 422),
        ("list", "then", 422),
        ("take", "a/b", 422),
        ("take", "taken", 409),
        ("restore", "none", 404),
    ],
)
def test_what_is_refused_names_the_field(
    tools: Tools, action: str, snapshot: str | None, status: int
) -> None:
    act(tools, "take", "taken")
    refused = tools.refused(TOOL, action=action, snapshot=snapshot)
    assert (refused["status"], refused["at"]) == (status, ["snapshot"])


@pytest.mark.parametrize("action", ["take", "restore", "delete", "list"])
def test_a_log_that_has_grown_is_not_acted_on(tools: Tools, action: str) -> None:
    act(tools, "take", "then")
    tools("snip_messages", start_idx=1, end_idx=3)
    named = None if action == "list" else "then"
    about = {"action": action, "snapshot": named, "expected_head": 0}
    refused = tools.refused(TOOL, **about)
    assert refused["code"] == "stale_head"


def test_who_may_only_propose_names_points_and_does_not_go_back(
    tools: Tools, owner: User, project: Project
) -> None:
    client = client_of(owner, project, Right.READ, Right.PROPOSE)
    proposer = Tools(client, tools.session_id)
    act(tools, "take", "theirs")
    act(proposer, "take", "own")
    for action in ("restore", "delete"):
        refused = proposer.refused(TOOL, action=action, snapshot="theirs")
        assert refused["status"] == 403
    act(proposer, "delete", "own")
    assert names(tools) == ["theirs"]
