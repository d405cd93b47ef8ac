"""The archive searched by what its messages are about, over REST and on its page."""

from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client

from contextstudio.accounts.models import Project, User
from tests.operations.support.rest import get, make_session, operate, post
from tests.people import client_of
from threads.search.bodies import BODIES

pytestmark = pytest.mark.meaning

LOCKED = "SQLite raises OperationalError: another process holds the write lock"
TEXTS = [
    "Changed the background in tokens.css so that dark mode has contrast",
    LOCKED,
    "Login fails: the hash of the password is compared wrongly",
    "The write lock of SQLite again: a worker waits and OperationalError is raised",
]
QUESTION = "the database is locked when two workers write"


@pytest.fixture(autouse=True)
def switched_on(settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MEANING_SEARCH = True
    monkeypatch.setattr(BODIES.database, "all_ended_before", lambda _: True)


@pytest.fixture
def session_id(agent: Client) -> str:
    messages = [{"role": "user", "content": text} for text in TEXTS]
    made = make_session(agent, messages)
    post(agent, "/api/archive", {"session_id": made, "start": 0, "end": 2}, expect=201)
    return made


def listed(client: Client, **query: Any) -> list[str]:
    given = {"q": QUESTION, "meaning": "true"} | query
    answer = client.get("/api/archive", given)
    return [one["message"] for one in answer.json()["items"]]


def test_document_1_entries_are_found_by_what_their_messages_are_about(
    agent: Client, session_id: str
) -> None:
    body = get(agent, "/api/archive", q=QUESTION, meaning="true")
    assert [one["message"] for one in body["items"]] == ["m1"]  # m3 isn't archived
    assert 0.2 < body["items"][0]["similarity"] < 1
    assert body["pending"] == 0
    assert listed(agent, session=session_id) == ["m1"]
    plain = get(agent, "/api/archive", q="SQLite")
    assert [one["similarity"] for one in plain["items"]] == [None]


def test_the_other_facets_hold(agent: Client, session_id: str) -> None:
    assert listed(agent, type="other") == ["m1"]
    assert listed(agent, type="grep") == []
    assert listed(agent, path="src/app.py") == []
    assert listed(agent, project="none") == []


def test_pages_hold_each_entry_once(agent: Client, session_id: str) -> None:
    body = {"session_id": session_id, "start": 3, "end": 3}
    post(agent, "/api/archive", body, expect=201)
    found, cursor = [], ""
    while cursor is not None:
        given = {"limit": 1} | ({"cursor": cursor} if cursor else {})
        page = get(agent, "/api/archive", q=QUESTION, meaning="true", **given)
        found += [one["message"] for one in page["items"]]
        cursor = page["next_cursor"]
    assert sorted(found) == ["m1", "m3"]


def test_masked_text_is_not_found_in_the_archive(
    agent: Client, session_id: str
) -> None:
    operate(agent, session_id, "redact", patterns=[{"start": LOCKED}])
    assert listed(agent) == []


def test_a_stranger_finds_nothing(
    agent: Client, session_id: str, stranger: User
) -> None:
    own = Project.objects.get(slug="other")
    assert listed(client_of(stranger, own)) == []


def test_a_question_is_needed_and_that_it_is_on(
    agent: Client, session_id: str, settings: LazySettings
) -> None:
    answer = agent.get("/api/archive", {"meaning": "true"})
    assert answer.status_code == 422
    settings.MEANING_SEARCH = False
    answer = agent.get("/api/archive", {"meaning": "true", "q": "it"})
    assert answer.status_code == 409
    assert answer.json()["code"] == "meaning_search_off"


def test_the_page_offers_it_where_it_is_on(
    agent: Client,
    session_id: str,
    owner: User,
    project: Project,
    settings: LazySettings,
) -> None:
    page = client_of(owner, project)
    page.force_login(owner)
    address = f"/sessions/{session_id}/archive"
    asked = {"q": QUESTION, "meaning": "on"}
    shown = page.get(address, asked).content.decode()
    assert "Search by meaning" in shown
    assert "another process holds the write lock" in shown
    settings.MEANING_SEARCH = False
    shown = page.get(address, asked).content.decode()
    assert "Search by meaning" not in shown
    assert "No matching entries." in shown
