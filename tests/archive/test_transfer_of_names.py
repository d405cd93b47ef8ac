"""Snapshots and lenses of a session that is taken elsewhere."""

import re
from typing import Any
from urllib.parse import quote

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from contextstudio.accounts.models import Project, User
from contextstudio.accounts.responses import dump
from tests.operations.support.rest import (
    Tools,
    context,
    get,
    make_session,
    operate,
    post,
)
from tests.people import client_of
from threads.models import Import, Session

SECRET = "sk-123456"


@pytest.fixture
def session_id(agent: Client) -> str:
    return make_session(agent, 12)


@pytest.fixture
def elsewhere(stranger: User) -> Client:
    return client_of(stranger, Project.objects.get(slug="other"))


def take(client: Client, session_id: str, name: str) -> None:
    post(client, f"/api/sessions/{session_id}/snapshots", {"name": name}, expect=201)


def names(client: Client, session_id: str) -> list[str]:
    items = get(client, f"/api/sessions/{session_id}/snapshots")["items"]
    return [one["name"] for one in items]


def written(client: Client, session_id: str) -> dict[str, Any]:
    found: dict[str, Any] = get(client, f"/api/sessions/{session_id}/transfer")
    return found


def moved(client: Client, document: dict[str, Any]) -> str:
    made: str = post(client, "/api/sessions/transfer", document, expect=201)["id"]
    return made


def at(client: Client, session_id: str, name: str) -> Any:
    return context(client, session_id, provider="openai", snapshot=name)["messages"]


def prepare(agent: Client, session_id: str) -> None:
    """Snapshots at four points, with something between them that doesn't leave."""
    Tools(agent, session_id)("set_active_tags", tags=["on"])
    take(agent, session_id, "first")
    undone = operate(agent, session_id, "snip", range=[9, 9])
    post(agent, f"/api/operations/{undone['operation_id']}/revert")
    operate(agent, session_id, "digest", range=[1, 3], summary="Three")
    take(agent, session_id, "digested")
    said = {"messages": [{"role": "user", "content": "More"}]}
    post(agent, f"/api/sessions/{session_id}/messages", said, expect=201)
    operate(agent, session_id, "snip", range=[6, 7])
    take(agent, session_id, "now")


def test_each_shows_elsewhere_what_it_shows_here(
    agent: Client, session_id: str, elsewhere: Client
) -> None:
    prepare(agent, session_id)
    there = moved(elsewhere, written(agent, session_id))
    assert names(elsewhere, there) == ["now", "digested", "first"]
    for name in names(elsewhere, there):
        assert at(elsewhere, there, name) == at(agent, session_id, name)
    post(elsewhere, f"/api/sessions/{there}/snapshots/digested/restore")
    post(agent, f"/api/sessions/{session_id}/snapshots/digested/restore")
    here, back = (
        context(client, one, provider="openai")["messages"]
        for client, one in ((agent, session_id), (elsewhere, there))
    )
    assert here == back


def test_a_file_that_is_imported_brings_them_and_the_report_says_so(
    agent: Client, session_id: str
) -> None:
    prepare(agent, session_id)
    lens = f"/api/sessions/{session_id}/lenses/draft"
    agent.put(lens, {"tags": ["on"]}, content_type="application/json")
    file = SimpleUploadedFile("it.session.json", dump(written(agent, session_id)))
    answer = agent.post("/api/sessions/import", {"file": file})
    (made,) = answer.json()["sessions"]
    assert names(agent, made["id"]) == ["now", "digested", "first"]
    row = Import.objects.latest("created_at")
    (source,) = row.sources.all()
    assert source.report["brought"] == {"operations": 2, "snapshots": 3, "lens": 1}
    report = agent.get(f"/imports/{row.pk}/").content.decode()
    (brought,) = re.findall(r'class="reason">with ([^<]*)<', report)
    assert set(re.split(", | and ", brought)) == {
        *("2 operations", "3 snapshots", "1 lens")
    }


@pytest.mark.parametrize("change", ["off", "amended", "tags", "on"])
def test_one_at_which_operations_applied_otherwise_stays_behind(
    agent: Client, session_id: str, change: str
) -> None:
    made = operate(agent, session_id, "digest", range=[1, 3], summary="Three")
    operation = f"/api/operations/{made['operation_id']}"
    if change == "on":
        post(agent, f"{operation}/toggle", {"active": False})
    take(agent, session_id, "then")
    if change in ("off", "on"):
        post(agent, f"{operation}/toggle", {"active": change == "on"})
    elif change == "amended":
        post(agent, f"{operation}/amend", {"summary": "Otherwise"})
    else:
        Tools(agent, session_id)("set_active_tags", tags=["on"])
    take(agent, session_id, "now")
    names = [one["name"] for one in written(agent, session_id)["snapshots"]]
    assert names == ["now"]


def test_lenses_come_along(agent: Client, session_id: str, elsewhere: Client) -> None:
    lenses = f"/api/sessions/{session_id}/lenses"
    for name in ("b", "a/ö"):
        agent.put(
            f"{lenses}/{quote(name, '')}",
            {"tags": [name, "x"]},
            content_type="application/json",
        )
    there = moved(elsewhere, written(agent, session_id))
    found = get(elsewhere, f"/api/sessions/{there}/lenses")
    assert found == get(agent, lenses) != []


def test_what_is_redacted_does_not_leave_in_a_name(
    agent: Client, elsewhere: Client
) -> None:
    session_id = make_session(agent, [{"role": "user", "content": SECRET}])
    take(agent, session_id, f"At {SECRET}")
    operate(agent, session_id, "redact", patterns=[{"start": SECRET}])
    document = written(agent, session_id)
    assert SECRET not in str(document)
    assert names(elsewhere, moved(elsewhere, document)) == ["At [redacted]"]


SNAPSHOT = {"name": "then", "after": None, "message_count": 0}
LENS = {"name": "mine", "tags": []}


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"snapshots": {}}, ["snapshots"]),
        ({"snapshots": [3]}, ["snapshots", 0]),
        ({"snapshots": [{**SNAPSHOT, "name": "a/b"}]}, ["snapshots", 0, "name"]),
        ({"snapshots": [{**SNAPSHOT, "name": 3}]}, ["snapshots", 0, "name"]),
        ({"snapshots": [SNAPSHOT, SNAPSHOT]}, ["snapshots", 1, "name"]),
        ({"snapshots": [{**SNAPSHOT, "after": "o9"}]}, ["snapshots", 0, "after"]),
        ({"snapshots": [{**SNAPSHOT, "after": []}]}, ["snapshots", 0, "after"]),
        *(
            (
                {"snapshots": [{**SNAPSHOT, "message_count": wrong}]},
                ["snapshots", 0, "message_count"],
            )
            for wrong in (13, -1, True, None)
        ),
        ({"lenses": [3]}, ["lenses", 0]),
        ({"lenses": [{**LENS, "name": ""}]}, ["lenses", 0, "name"]),
        ({"lenses": [{**LENS, "name": 3}]}, ["lenses", 0, "name"]),
        ({"lenses": [{**LENS, "tags": [3]}]}, ["lenses", 0, "tags"]),
    ],
)
def test_what_is_none_is_refused_with_its_place_and_nothing_is_kept(
    agent: Client, session_id: str, change: dict[str, Any], place: list[Any]
) -> None:
    document = written(agent, session_id) | change
    before = Session.objects.count()
    refused = post(agent, "/api/sessions/transfer", document, expect=422)
    assert refused["at"] == place
    assert Session.objects.count() == before
