"""All operations of one actor, off and back on: with one entry, at every door."""

import uuid
from typing import Any

import pytest
from django.test import Client

from contextstudio.accounts.domain.errors import Forbidden, NotFound
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import ApiKey, Project, User
from operations.edits.own_entries import undo
from operations.edits.services import switch_all
from operations.log.selectors import load_thread
from tests.operations.support.builders import shape
from tests.operations.support.sessions import session_of
from tests.people import caller, client_of
from threads.models import Session

COUNT = 12


@pytest.fixture
def session(owner: User, project: Project) -> Session:
    return session_of(owner, project, COUNT)


@pytest.fixture
def agent(owner: User, project: Project, session: Session) -> str:
    """An agent that snipped twice in the session, and digested what a person then switched off."""
    client = client_of(owner, project, Right.EDIT)
    sent: list[dict[str, Any]] = [
        {"type": "snip", "range": [1, 2]},
        {"type": "digest", "range": [4, 5], "summary": "Sum"},
        {"type": "snip", "range": [7, 7]},
    ]
    for body in sent:
        client.post(f"/api/sessions/{session.pk}/operations", body, "application/json")
    actor = f"key:{ApiKey.objects.latest('pk').pk}"
    operations = client.get(f"/api/sessions/{session.pk}/operations").json()
    digest = operations["operations"][1]["id"]
    client.post(
        f"/api/operations/{digest}/toggle", {"active": False}, "application/json"
    )
    return actor


def shown(session: Session) -> Any:
    session.refresh_from_db()
    return shape(load_thread(session))


def test_off_shows_the_thread_without_them_and_on_as_it_was(
    owner: User, session: Session, agent: str
) -> None:
    before = shown(session)
    services = {"session_id": session.pk, "actor": agent}
    off = switch_all(caller(owner), **services, active=False)
    assert len(off.numbers) == 1
    assert shown(session) == " ".join(f"m{index}" for index in range(COUNT))
    again = switch_all(caller(owner), **services, active=False)
    assert again.numbers == []
    switch_all(caller(owner), **services, active=True)
    assert shown(session) == before


def test_one_undo_takes_it_back(owner: User, session: Session, agent: str) -> None:
    before = shown(session)
    switch_all(caller(owner), session.pk, agent, active=False)
    undo(caller(owner), session.pk)
    assert shown(session) == before


def test_it_takes_the_right_to_edit_and_somebody_who_recorded(
    owner: User, reviewer: User, stranger: User, session: Session, agent: str
) -> None:
    with pytest.raises(Forbidden):
        switch_all(caller(reviewer), session.pk, agent, active=False)
    with pytest.raises(NotFound):
        switch_all(caller(stranger), session.pk, agent, active=False)
    with pytest.raises(NotFound, match="no operation"):
        switch_all(caller(owner), session.pk, f"user:{reviewer.pk}", active=False)
    with pytest.raises(NotFound):
        switch_all(caller(owner), uuid.uuid4(), agent, active=False)


def test_rest_lists_who_recorded_and_switches_all_of_one(
    client: Client, owner: User, session: Session, agent: str
) -> None:
    client.force_login(owner)
    path = f"/api/sessions/{session.pk}/actors"
    (listed,) = client.get(path).json()["actors"]
    counts = {"on": 2, "off": 1, "proposed": 0}
    assert listed == {"id": agent, "name": "agent", "is_agent": True, **counts}
    answer = client.post(
        f"{path}/{agent}/toggle", {"active": False}, "application/json"
    )
    assert answer.json()["success"]
    (listed,) = client.get(path).json()["actors"]
    assert (listed["on"], listed["off"]) == (0, 3)
    stale = {"active": True, "expected_head": 1}
    refused = client.post(f"{path}/{agent}/toggle", stale, "application/json")
    assert refused.json()["code"] == "stale_head"
    log = client.get(f"/api/sessions/{session.pk}/log").json()["items"]
    assert log[-1]["entry"]["actor"] == agent


def test_the_page_names_the_agent_and_switches_all_of_it(
    client: Client, owner: User, session: Session, agent: str
) -> None:
    client.force_login(owner)
    panel = f"/sessions/{session.pk}/panel"
    words = client.get(panel).content.decode()
    assert '<span class="badge">agent</span>' in words
    assert "2 on, 1 off" in words
    assert "Switch all off" in words
    answer = client.post(f"/sessions/{session.pk}/actors/{agent}/off")
    assert "All by agent off" in answer.content.decode()
    assert "Switch 2 back on" in client.get(panel).content.decode()
    client.post(f"/sessions/{session.pk}/actors/{agent}/on")
    log = client.get(f"/sessions/{session.pk}/log").content.decode()
    assert "all by agent: " in log
    assert client.get(panel).content.decode().count("Switch all off") == 1


def test_people_and_viewers_are_offered_nothing_to_switch(
    client: Client, viewer: User, session: Session, agent: str
) -> None:
    client.force_login(viewer)
    panel = client.get(f"/sessions/{session.pk}/panel").content.decode()
    assert "Switch all off" not in panel
