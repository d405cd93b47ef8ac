"""Sessions through REST: made, listed, changed, deleted."""

import base64
import json
from typing import Any

import pytest
from django.test import Client

from contextstudio.accounts.domain.rights import ProjectRole
from contextstudio.accounts.models import AuditEntry, Membership, Project, User
from tests.operations.support.rest import get, make_session, operate, post, said
from tests.people import client_of
from tests.threads.imports.uploads import CHAT, upload
from threads.models import Session


def test_a_session_is_made_with_its_system_prompt_as_original_0(agent: Client) -> None:
    made = post(
        agent,
        "/api/sessions",
        {
            "title": " Two\nlines\x00 ",
            "project": "demo",
            "external_id": "run-1",
            "parsing_strategy": "anthropic",
            "model": "gpt-4o",
            "system": "Be brief.",
            "messages": said(2),
        },
        expect=201,
    )
    assert (made["title"], made["project"]) == ("Two lines", "demo")
    assert (made["message_count"], made["head"]) == (3, 0)
    assert (made["external_id"], made["model"]) == ("run-1", "gpt-4o")
    items = get(agent, f"/api/sessions/{made['id']}/messages")["items"]
    assert [(item["role"], item["content"]) for item in items][:2] == [
        ("system", "Be brief."),
        ("user", "message 0"),
    ]
    assert {item["parsing_strategy"] for item in items} == {"anthropic"}
    assert get(agent, f"/api/sessions/{made['id']}") == made


def test_a_session_needs_nothing_and_is_named_by_its_first_question(
    agent: Client,
) -> None:
    empty = post(agent, "/api/sessions", {}, expect=201)
    assert (empty["title"], empty["message_count"]) == ("Untitled session", 0)
    asked = post(agent, "/api/sessions", {"messages": said(1)}, expect=201)
    assert asked["title"] == "message 0"


@pytest.mark.parametrize(
    ("body", "at"),
    [
        ({"colour": "red"}, ["colour"]),
        ({"external_id": ""}, ["external_id"]),
        ({"external_id": "a\x00"}, ["external_id"]),
        ({"model": "\ud800"}, ["model"]),
        ({"model": "a\x00"}, ["model"]),
        ({"parsing_strategy": "other"}, ["parsing_strategy"]),
        ({"messages": [*said(1), {"content": "x"}]}, ["messages", 1, "role"]),
        ({"messages": [{"role": "user"}]}, ["messages", 0, "content"]),
        ({"messages": [{"role": "user", "content": 5}]}, ["messages", 0, "content"]),
        ({"messages": "hello"}, ["messages"]),
        ([], []),
    ],
)
def test_a_session_that_is_malformed_is_refused_at_the_place(
    agent: Client, body: Any, at: list[Any]
) -> None:
    refused = post(agent, "/api/sessions", body, expect=422)
    assert refused["errors"][0]["at"] == refused["at"] == at
    assert not Session.objects.exists()


@pytest.mark.parametrize("slug", ["other", "de mo", "\x00", "é"])
def test_a_project_that_is_not_the_callers_is_not_there(
    agent: Client, stranger: User, slug: str
) -> None:
    refused = post(agent, "/api/sessions", {"project": slug}, expect=404)
    assert refused["at"] == ["project"]
    get(agent, "/api/sessions", project=slug, expect=404)


def test_one_who_edits_in_two_projects_names_the_one(
    client: Client, owner: User, stranger: User
) -> None:
    other = Project.objects.get(slug="other")
    Membership.objects.create(project=other, user=owner, role=ProjectRole.EDITOR)
    client.force_login(owner)
    assert post(client, "/api/sessions", expect=422)["at"] == ["project"]
    made = post(client, "/api/sessions", {"project": "other"}, expect=201)
    answer = upload(client, CHAT, session=made["id"])
    assert answer.status_code == 200, answer.content
    assert get(client, f"/api/sessions/{made['id']}")["message_count"] == 3


def test_an_external_id_names_one_session_of_a_project(agent: Client) -> None:
    made = post(agent, "/api/sessions", {"external_id": "run-1"}, expect=201)
    refused = post(agent, "/api/sessions", {"external_id": "run-1"}, expect=409)
    assert refused["at"] == ["external_id"]
    [listed] = get(agent, "/api/sessions?external_id=run-1")["items"]
    assert listed["id"] == made["id"]
    for other in ("run", "RUN-1", "run-1%00", ""):
        assert get(agent, f"/api/sessions?external_id={other}")["items"] == []
    assert agent.delete(f"/api/sessions/{made['id']}").status_code == 204
    post(agent, "/api/sessions", {"external_id": "run-1"}, expect=201)


def test_sessions_are_listed_newest_change_first_in_pages(agent: Client) -> None:
    ids = [make_session(agent, 1, title=f"Session {n}") for n in range(5)]
    operate(agent, ids[0], "tag", range=[0, 0], tags=["x"])
    expected, found, cursor = [ids[0], *ids[:0:-1]], [], None
    while cursor is not None or not found:
        query = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = get(agent, "/api/sessions", **query)
        found += [session["id"] for session in page["items"]]
        cursor = page["next_cursor"]
    assert found == expected
    assert len(get(agent, "/api/sessions", limit=0)["items"]) == 1
    (one,) = get(agent, "/api/sessions", q="SESSION 3\x00")["items"]
    assert one["id"] == ids[3]
    assert get(agent, "/api/sessions", project="demo", q="nothing")["items"] == []


@pytest.mark.parametrize("words", ["ÄRGER", "ärger", "(Über", "häf%"])
def test_a_part_of_a_title_is_found_in_capitals_and_without(
    agent: Client, words: str
) -> None:
    for title in ("Ärger (über Häf%n)", "Arger Uber Hafen"):
        post(agent, "/api/sessions", {"title": title, "project": "demo"}, expect=201)
    (found,) = get(agent, "/api/sessions", q=words)["items"]
    assert found["title"] == "Ärger (über Häf%n)"


@pytest.mark.parametrize(
    "position",
    [["2026-01-01T00:00:00", "x"], ["2026-01-01", 5], [1, 2], ["0001-01-01", "x"]],
)
def test_a_forged_cursor_is_refused(agent: Client, position: list[Any]) -> None:
    cursor = base64.urlsafe_b64encode(json.dumps(position).encode()).decode()
    refused = get(agent, "/api/sessions", cursor=cursor, expect=422)
    assert refused["at"] == ["cursor"]


def test_a_session_is_renamed_and_given_an_objective(agent: Client) -> None:
    path = f"/api/sessions/{make_session(agent, 1)}"

    def patch(body: dict[str, Any]) -> Any:
        return agent.patch(path, body, "application/json").json()

    changed = patch({"title": " New ", "objective": "ship\x00 it", "model": "o3"})
    assert (changed["title"], changed["objective"]) == ("New", "ship it")
    assert patch({"title": ""})["title"] == "Untitled session"
    assert patch({})["model"] == "o3"
    assert patch({"head": 7})["at"] == ["head"]


def test_a_deleted_session_is_gone_for_every_door(agent: Client) -> None:
    session_id = make_session(agent, 3)
    made = operate(agent, session_id, "snip", range=[0, 1])
    assert agent.delete(f"/api/sessions/{session_id}").status_code == 204
    assert Session.objects.get().deleted_at is not None
    for path in ("", "/messages", "/thread", "/operations", "/log", "/lenses"):
        get(agent, f"/api/sessions/{session_id}{path}", expect=404)
    get(agent, f"/api/operations/{made['operation_id']}", expect=404)
    assert get(agent, "/api/sessions")["items"] == []
    assert agent.delete(f"/api/sessions/{session_id}").status_code == 404


def test_purging_needs_the_right_to_administer_and_is_audited(
    agent: Client, editor: User, project: Project
) -> None:
    path = f"/api/sessions/{make_session(agent, 3)}?purge=1"
    assert client_of(editor, project).delete(path).status_code == 403
    assert agent.delete(path).status_code == 204
    assert not Session.objects.exists()
    assert AuditEntry.objects.filter(action="purge session").exists()


def test_a_deleted_session_is_purged_without_being_restored(
    agent: Client, editor: User, stranger: User, project: Project
) -> None:
    path = f"/api/sessions/{make_session(agent, 3)}"
    agent.delete(path)
    other = Project.objects.get(slug="other")
    assert client_of(stranger, other).delete(f"{path}?purge=1").status_code == 404
    assert client_of(editor, project).delete(f"{path}?purge=1").status_code == 403
    assert agent.delete(f"{path}?purge=1").status_code == 204
    assert not Session.objects.exists()
    assert AuditEntry.objects.filter(action="purge session").exists()
    assert agent.delete(f"{path}?purge=1").status_code == 404


def test_a_deleted_session_is_erased_from_the_page_by_who_may(
    agent: Client, owner: User, editor: User
) -> None:
    session_id = make_session(agent, 1)
    agent.delete(f"/api/sessions/{session_id}")
    address = f"/sessions/{session_id}/purge"
    other, browser = Client(), Client()
    other.force_login(editor)
    assert address not in other.get("/sessions/deleted").content.decode()
    assert other.post(address).status_code == 403
    browser.force_login(owner)
    assert address in browser.get("/sessions/deleted").content.decode()
    gone = browser.post(address, follow=True).content.decode()
    assert "Erased &quot;message 0&quot; for good." in gone
    assert "No deleted sessions" in gone
    assert not Session.objects.exists()


def test_who_may_restore_nothing_is_not_told_that_nothing_was_deleted(
    agent: Client, viewer: User
) -> None:
    agent.delete(f"/api/sessions/{make_session(agent, 1)}")
    browser = Client()
    browser.force_login(viewer)
    page = browser.get("/sessions/deleted").content.decode()
    assert "Nothing that you can restore" in page
    assert "No deleted sessions" not in page


def test_a_deleted_session_comes_back_whole_with_its_id_of_origin(
    agent: Client,
) -> None:
    made = post(
        agent,
        "/api/sessions",
        {"external_id": "run-1", "messages": said(2)},
        expect=201,
    )
    path = f"/api/sessions/{made['id']}"
    agent.delete(path)
    assert post(agent, f"{path}/restore", {}, expect=200) == made
    assert get(agent, path)["message_count"] == 2
    assert agent.post(f"{path}/restore").status_code == 404
    agent.delete(path)
    other = post(agent, "/api/sessions", {"external_id": "run-1"}, expect=201)
    assert post(agent, f"{path}/restore", {}, expect=200)["external_id"] is None
    assert get(agent, f"/api/sessions/{other['id']}")["external_id"] == "run-1"


def test_only_who_may_edit_restores_and_a_stranger_finds_nothing(
    agent: Client, viewer: User, stranger: User, project: Project
) -> None:
    path = f"/api/sessions/{make_session(agent, 1)}"
    agent.delete(path)
    other = Project.objects.get(slug="other")
    assert client_of(viewer, project).post(f"{path}/restore").status_code == 403
    assert client_of(stranger, other).post(f"{path}/restore").status_code == 404


def test_a_session_is_renamed_deleted_and_had_back_from_the_page(
    client: Client, owner: User, agent: Client
) -> None:
    session_id = make_session(agent, 1)
    page, browser = f"/sessions/{session_id}/", Client()
    browser.force_login(owner)
    named = browser.post(f"{page}rename", {"title": "Tides <b>"}, follow=True)
    assert "Renamed to &quot;Tides &lt;b&gt;&quot;." in named.content.decode()
    undo = named.content.decode().split('action="')
    address = next(one.split('"')[0] for one in undo if "title=message" in one)
    browser.post(address.replace("&amp;", "&"))
    assert Session.objects.get().title == "message 0"
    gone = browser.post(f"{page}delete", follow=True)
    assert "Deleted &quot;message 0&quot;." in gone.content.decode()
    assert f'action="{page}restore"' in gone.content.decode()
    assert "1 deleted session<" in gone.content.decode()
    assert "message 0" in browser.get("/sessions/deleted").content.decode()
    back = browser.post(f"{page}restore", follow=True)
    assert "Restored &quot;message 0&quot;." in back.content.decode()
    assert browser.get(page).status_code == 200
    assert "No deleted sessions" in browser.get("/sessions/deleted").content.decode()
    listed = browser.post(f"{page}rename", {"title": "Ebb", "back": "list"})
    assert listed["Location"] == "/sessions/"


def test_a_session_that_was_deleted_elsewhere_is_said_to_be_when_renamed_or_deleted(
    client: Client, owner: User, agent: Client
) -> None:
    session_id = make_session(agent, 1)
    page, browser = f"/sessions/{session_id}/", Client()
    browser.force_login(owner)
    agent.delete(f"/api/sessions/{session_id}")
    named = browser.post(f"{page}rename", {"title": "Tides"}, follow=True)
    said_so = "&quot;message 0&quot; was deleted meanwhile and keeps its title."
    assert said_so in named.content.decode()
    gone = browser.post(f"{page}delete", follow=True)
    assert "&quot;message 0&quot; was already deleted." in gone.content.decode()
    assert "1 deleted session<" in gone.content.decode()


def test_a_viewer_is_offered_nothing_that_changes_a_session(
    agent: Client, viewer: User
) -> None:
    page, browser = f"/sessions/{make_session(agent, 1)}/", Client()
    browser.force_login(viewer)
    for shown in (browser.get(page), browser.get("/sessions/")):
        assert "rename-session" not in shown.content.decode()
    assert browser.post(f"{page}rename", {"title": "x"}).status_code == 403
    assert browser.post(f"{page}delete").status_code == 403


def test_sessions_say_where_they_come_from_and_are_listed_by_it(agent: Client) -> None:
    made = make_session(agent, said(1))
    project = Project.objects.get(slug=get(agent, f"/api/sessions/{made}")["project"])
    Session.objects.create(project=project, title="Tide", format="codex")

    listed = get(agent, "/api/sessions")["items"]
    assert {one["source"] for one in listed} == {"API", "Codex"}
    [tide] = get(agent, "/api/sessions?source=codex")["items"]
    assert tide["title"] == "Tide"
    assert get(agent, "/api/sessions?source=File")["items"] == []
