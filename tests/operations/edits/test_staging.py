"""Staged operations: collected by their author, and committed together as one bundle."""

import uuid
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.test import Client

from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import Project, User
from operations.domain.log.entry import EditState, Entry
from operations.domain.log.history import (
    count_staged,
    redo,
    staged,
    staged_by_others,
    undo,
    waiting_moves,
)
from operations.domain.log.operation import Resequence, Revert
from tests.operations.support.builders import AUTHOR, OTHER, entries, log, snip
from tests.operations.support.rest import effective, get, make_session, operate, post
from tests.people import client_of
from threads.models import Session

DIGEST = {"type": "digest", "range": [4, 5], "summary": "They spoke."}
SNIP = {"type": "snip", "range": [1, 2]}


@pytest.fixture
def session_id(agent: Client) -> str:
    return make_session(agent, 10)


def of(user: User) -> Client:
    person = Client()
    person.force_login(user)
    return person


def stage(client: Client, session_id: str, *edits: Any, expect: int = 201) -> Any:
    path = f"/api/sessions/{session_id}/staged"
    return post(client, path, {"operations": list(edits)}, expect=expect)


def look(client: Client, session_id: str) -> Any:
    return get(client, f"/api/sessions/{session_id}/staged")


def end(
    client: Client, session_id: str, how: str, *, expect: int = 200, **headers: Any
) -> Any:
    path = f"/api/sessions/{session_id}/staged/{how}"
    return post(client, path, expect=expect, **headers)


def statuses(client: Client, session_id: str) -> list[str]:
    found = get(client, f"/api/sessions/{session_id}/operations")["operations"]
    return [one["status"] for one in found]


def test_what_is_staged_waits_and_is_committed_as_one_bundle(
    agent: Client, session_id: str
) -> None:
    first, second = (stage(agent, session_id, edit) for edit in (SNIP, DIGEST))
    assert first["bundle_id"] == second["bundle_id"]
    assert len(effective(agent, session_id)) == 10
    found = look(agent, session_id)
    assert (found["operations"], found["bundle_id"]) == (
        ["o1", "o2"],
        first["bundle_id"],
    )
    before, total = len(effective(agent, session_id)), found["total"]
    assert total["exact"]
    assert total["first"] == "m3"  # what stands where the snipped ones stood
    committed = end(agent, session_id, "commit")
    assert committed["head"] == 3  # one entry for both
    assert statuses(agent, session_id) == ["applied", "applied"]
    assert len(effective(agent, session_id)) == before - 3
    context = get(agent, f"/api/sessions/{session_id}/context")
    assert context["tokens"]["sent"] == total["tokens"]["after"]
    assert look(agent, session_id)["operations"] == []
    assert look(agent, session_id)["total"] is None
    path = f"/api/bundles/{first['bundle_id']}/toggle"
    post(agent, path, {"active": False})
    assert statuses(agent, session_id) == ["off", "off"]
    assert stage(agent, session_id, SNIP)["bundle_id"] != first["bundle_id"]


def test_undoing_a_commit_stages_again_and_then_goes_one_by_one(
    agent: Client, session_id: str
) -> None:
    stage(agent, session_id, SNIP)
    stage(agent, session_id, DIGEST)
    end(agent, session_id, "commit")
    undone = f"/api/sessions/{session_id}/undo"
    post(agent, undone)
    assert look(agent, session_id)["operations"] == ["o1", "o2"]
    post(agent, undone)
    assert look(agent, session_id)["operations"] == ["o1"]
    assert statuses(agent, session_id) == ["proposed", "reverted"]
    post(agent, f"/api/sessions/{session_id}/redo")
    assert look(agent, session_id)["operations"] == ["o1", "o2"]


def test_what_is_discarded_is_taken_back_and_can_be_restored(
    agent: Client, session_id: str
) -> None:
    stage(agent, session_id, SNIP, DIGEST)
    assert end(agent, session_id, "discard")["head"] == 3
    assert statuses(agent, session_id) == ["reverted", "reverted"]
    assert look(agent, session_id)["operations"] == []
    post(agent, f"/api/sessions/{session_id}/undo")
    assert look(agent, session_id)["operations"] == ["o1", "o2"]


def test_all_is_committed_or_nothing(agent: Client, session_id: str) -> None:
    operate(agent, session_id, "digest", range=[5, 8], summary="In the way.")
    stage(agent, session_id, SNIP)
    stage(agent, session_id, {"type": "digest", "range": [4, 6], "summary": "x"})
    refused = end(agent, session_id, "commit", expect=409)
    assert refused["operations"] == ["o1"]
    assert statuses(agent, session_id) == ["applied", "proposed", "proposed"]


def test_staging_follows_the_rules_of_every_door(
    agent: Client, session_id: str
) -> None:
    assert end(agent, session_id, "commit")["head"] == 0  # nothing is staged
    key = {"Idempotency-Key": "once"}
    path = f"/api/sessions/{session_id}/staged"
    body = {"operations": [SNIP], "expected_head": 0}
    assert post(agent, path, body, expect=201, **key) == post(
        agent, path, body, expect=201, **key
    )
    stale = post(agent, path, body, expect=409)
    assert (stale["code"], stale["head"]) == ("stale_head", 1)
    for how in ("commit", "discard"):
        stale = end(agent, session_id, how, expect=409, **{"If-Match": '"0"'})
        assert stale["code"] == "stale_head"
    bad = {"type": "snip", "range": [1, 99]}
    assert stage(agent, session_id, SNIP, bad, expect=422)["at"][:2] == [
        "operations",
        1,
    ]
    (recorded,) = get(agent, f"/api/sessions/{session_id}/operations")["operations"]
    assert (recorded["staged"], recorded["status"]) == (True, "proposed")


def test_everyone_has_their_own_stage(
    agent: Client,
    session_id: str,
    viewer: User,
    reviewer: User,
    editor: User,
    stranger: User,
) -> None:
    stage(agent, session_id, SNIP)
    for user, status in ((viewer, 403), (stranger, 404)):
        stage(of(user), session_id, DIGEST, expect=status)
        for how in ("commit", "discard"):
            end(of(user), session_id, how, expect=status)
    for user in (reviewer, editor):
        mine = stage(of(user), session_id, DIGEST)
        assert look(of(user), session_id)["operations"] == [
            one["key"] for one in mine["operations"]
        ]
        end(of(user), session_id, "discard")
    end(of(editor), session_id, "commit")
    assert look(agent, session_id)["operations"] == ["o1"]
    assert statuses(agent, session_id)[0] == "proposed"


def staging(*numbers: int) -> list[Entry]:
    return [
        Entry(number, snip(number, number), AUTHOR, "bundle", True, True)
        for number in numbers
    ]


@pytest.mark.parametrize("way", ["operations/{0}/accept", "operations/{0}/reject"])
def test_what_somebody_stages_nobody_else_decides_on(
    agent: Client, session_id: str, owner: User, way: str
) -> None:
    made = stage(agent, session_id, SNIP, DIGEST)
    key = made["operations"][0]["operation_id"]
    bundle = f"bundles/{made['bundle_id']}/{way.rpartition('/')[2]}"
    for path in (way.format(key), bundle):
        refused = post(of(owner), f"/api/{path}", expect=409)
        assert refused["code"] == "staged"
        assert refused["operations"][0] == "o1"
        assert "can commit or amend what" in refused["detail"]
    post(of(owner), f"/api/operations/{key}/amend", {"tags": ["x"]}, expect=409)
    assert statuses(agent, session_id) == ["proposed", "proposed"]
    # Whoever may edit can take it back, and who staged it decides on each of theirs.
    post(of(owner), f"/api/operations/{key}/revert")
    other = made["operations"][1]["operation_id"]
    post(agent, f"/api/operations/{other}/accept")
    assert statuses(agent, session_id) == ["reverted", "applied"]


def test_what_is_staged_is_not_counted_as_waiting_for_review(
    agent: Client, session_id: str, owner: User
) -> None:
    stage(agent, session_id, SNIP)
    (recorded,) = get(agent, f"/api/sessions/{session_id}/operations")["operations"]
    assert recorded["reason"] == "Its author has not committed it yet."
    (author,) = get(agent, f"/api/sessions/{session_id}/actors")["actors"]
    assert author["proposed"] == 0
    shown = of(owner).get("/sessions/").content.decode()
    assert "proposed" not in shown
    assert "awaiting review" not in shown
    session = Session.objects.get(pk=session_id)
    assert session.overview is not None
    assert session.overview["proposed"] == 0
    operate(agent, session_id, "snip", range=[4, 5], propose=True)
    (author,) = get(agent, f"/api/sessions/{session_id}/actors")["actors"]
    assert author["proposed"] == 1
    assert "1 proposed" in of(owner).get("/sessions/").content.decode()


def test_sessions_whose_drafts_were_counted_as_proposed_are_counted_again(
    agent: Client, session_id: str
) -> None:
    stage(agent, session_id, SNIP)
    other = make_session(agent, 3)
    Session.objects.update(overview={"proposed": 1})
    name = "operations.migrations.0015_staged_awaits_no_review"
    import_module(name).forget(apps, None)
    known = dict(Session.objects.values_list("pk", "overview"))
    assert known == {uuid.UUID(session_id): None, uuid.UUID(other): {"proposed": 1}}


def test_only_what_waits_of_the_actors_own_is_staged() -> None:
    found = log(*staging(1, 2), *entries(snip(7, 7)))
    assert staged(found, AUTHOR) == (1, 2)
    assert staged(found, OTHER) == ()
    undone = found.extended([Entry(4, undo(found, AUTHOR), AUTHOR)])
    undone = undone.extended([Entry(5, undo(undone, AUTHOR), AUTHOR)])
    assert staged(undone, AUTHOR) == (1,)
    assert undone.edits[3].state is EditState.REVERTED
    assert redo(undone, AUTHOR).entries == (2,)


def test_who_staged_a_move_is_known_by_what_it_moves() -> None:
    move = Resequence(order=("m4", "m3"), moved=("m4",))
    found = log(Entry(1, move, AUTHOR, "bundle", True, True))
    for actor, leaves, is_staged, expected in (
        (AUTHOR, ["m4"], True, (1,)),
        (AUTHOR, ["m4", "m5"], True, (1,)),
        (AUTHOR, ["m4"], False, ()),
        (AUTHOR, ["m3"], True, ()),
        (OTHER, ["m4"], True, ()),
    ):
        waiting = waiting_moves(found, actor, leaves, is_staged=is_staged)
        assert waiting == expected
    assert staged_by_others(found, ["o1", "o9"], OTHER) == (1,)
    assert staged_by_others(found, ["o1"], AUTHOR) == ()
    assert count_staged(found) == 1


def test_undoing_what_took_the_place_of_another_brings_that_back() -> None:
    first, second = staging(1, 3)
    instead = Entry(2, Revert(operations=("o1",)), AUTHOR, "bundle")
    found = log(first, instead, second)
    assert staged(found, AUTHOR) == (3,)
    undone = found.extended([Entry(4, undo(found, AUTHOR), AUTHOR)])
    assert staged(undone, AUTHOR) == (1,)
    redone = undone.extended([Entry(5, redo(undone, AUTHOR), AUTHOR)])
    assert staged(redone, AUTHOR) == (3,)


@pytest.mark.parametrize("scope", [Right.PROPOSE, Right.OWN_SESSION])
def test_who_could_not_commit_a_draft_is_refused_before_it_is_begun(
    owner: User, project: Project, session_id: str, scope: Right
) -> None:
    proposer = client_of(owner, project, scope)
    refused = stage(proposer, session_id, SNIP, expect=403)
    assert (refused["code"], refused["right"]) == ("forbidden", "edit")
    assert look(proposer, session_id)["operations"] == []


@pytest.mark.parametrize("scope", [Right.EDIT, Right.REVIEW])
def test_who_may_edit_or_review_commits_what_they_staged_and_undoes_the_commit(
    owner: User, project: Project, session_id: str, scope: Right
) -> None:
    key = client_of(owner, project, Right.PROPOSE, scope)
    stage(key, session_id, SNIP)
    end(key, session_id, "commit")
    assert statuses(key, session_id) == ["applied"]
    post(key, f"/api/sessions/{session_id}/undo")
    assert statuses(key, session_id) == ["proposed"]
