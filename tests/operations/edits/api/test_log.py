"""The log, undo and redo through REST."""

import pytest
from django.test import Client

from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import Project, User
from tests.operations.support.rest import get, operate, post, thread
from tests.people import client_of

from .editing import act, digest, statuses


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


@pytest.mark.parametrize("cursor", ["x", "Wy01XQ", "W1siYSJdXQ", "é", "WyJhIl0"])
def test_a_cursor_that_is_none_of_the_list_is_refused(
    agent: Client, path: str, cursor: str
) -> None:
    for address in (f"{path}/log", "/api/sessions"):
        answer = agent.get(address, {"cursor": cursor})
        assert answer.status_code == 422, answer.content
        assert answer.json()["at"] == ["cursor"]


def test_a_cursor_of_the_log_is_none_of_the_sessions(agent: Client, path: str) -> None:
    behind_the_first = "WzFd="
    assert get(agent, f"{path}/log", cursor=behind_the_first)["items"] == []
    refused = agent.get("/api/sessions", {"cursor": behind_the_first})
    assert (refused.status_code, refused.json()["at"]) == (422, ["cursor"])


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


def test_a_key_that_may_only_review_decides_and_takes_its_verdict_back(
    agent: Client, reviewer: User, project: Project, session_id: str, path: str
) -> None:
    review = client_of(reviewer, project, Right.REVIEW)
    made = operate(agent, session_id, "snip", range=[1, 1], propose=True)
    for verdict, status in (("accept", "applied"), ("reject", "rejected")):
        act(review, made, verdict)
        assert statuses(agent, session_id) == [status]
        post(review, f"{path}/undo")
        assert statuses(agent, session_id) == ["proposed"]
    post(review, f"{path}/redo")
    assert statuses(agent, session_id) == ["rejected"]
    act(review, made, "revert", expect=403)
    snip = {"type": "snip", "range": [3, 3]}
    post(review, f"{path}/operations", snip, expect=403)


def test_a_proposal_that_was_withdrawn_is_withdrawn_again_without_an_entry(
    agent: Client, proposer: Client, session_id: str, path: str
) -> None:
    own = operate(proposer, session_id, "snip", range=[3, 3])
    head = act(proposer, own, "revert")["head"]
    assert act(proposer, own, "revert")["head"] == head
    act(proposer, own, "toggle", {"active": True}, expect=403)
    assert statuses(agent, session_id) == ["reverted"]


def test_tags_that_were_activated_are_taken_back(
    agent: Client, session_id: str, path: str
) -> None:
    tags = {"session_id": session_id, "tags": ["lean"]}
    post(agent, "/api/tools/set_active_tags", tags)
    post(agent, f"{path}/undo")
    assert thread(agent, session_id)["active_tags"] == []
