"""Projects and their members, by REST and from the page: who may what, and who must stay."""

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client

from contextstudio.accounts.domain.errors import Forbidden, NotFound
from contextstudio.accounts.domain.rights import ProjectRole, Right
from contextstudio.accounts.models import (
    ApiKey,
    AuditEntry,
    Job,
    Membership,
    Project,
    User,
)
from contextstudio.accounts.services import set_member
from contextstudio.accounts.views import projects as page_of_projects
from tests.operations.support.rest import make_session
from tests.people import caller, client_of


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def roles(project: Project) -> dict[str, str]:
    return dict(project.memberships.values_list("user__username", "role"))


def members(project: Project) -> str:
    return f"/api/projects/{project.slug}/members"


def put(client: Client, path: str, role: str) -> Any:
    return client.put(path, {"role": role}, content_type="application/json")


def test_the_projects_of_a_caller_are_listed_with_its_rights(
    project: Project, reviewer: User, stranger: User
) -> None:
    listed = signed_in(reviewer).get("/api/projects").json()
    assert [one["slug"] for one in listed["items"]] == ["demo"]
    assert listed["items"][0]["rights"] == ["read", "propose", "review"]
    assert listed["next_cursor"] is None
    key = client_of(reviewer, project, Right.READ)
    assert key.get("/api/projects").json()["items"][0]["rights"] == ["read"]
    assert Client().get("/api/projects").status_code == 401


def test_lists_of_projects_and_members_are_paged(
    project: Project, owner: User, editor: User, viewer: User
) -> None:
    client = signed_in(owner)
    for path in ("/api/projects", members(project)):
        seen, cursor = [], ""
        client.post("/api/projects", {"slug": "a"}, content_type="application/json")
        while cursor is not None:
            answer = client.get(
                path, {"limit": 1, **({"cursor": cursor} if cursor else {})}
            )
            seen += [
                one.get("username", one.get("slug")) for one in answer.json()["items"]
            ]
            cursor = answer.json()["next_cursor"]
        assert seen == sorted(seen)
        assert len(seen) == len(set(seen)) > 1
    assert client.get("/api/projects?cursor=WzFd").status_code == 422


def test_a_person_makes_a_project_and_owns_it(viewer: User, project: Project) -> None:
    client = signed_in(viewer)
    body = {"slug": "harbour", "name": "Harbour"}
    made = client.post("/api/projects", body, content_type="application/json")
    assert made.status_code == 201
    assert made.json()["rights"] == [right.value for right in Right]
    assert roles(Project.objects.get(slug="harbour")) == {"viewer": "owner"}
    again = client.post("/api/projects", body, content_type="application/json")
    assert again.status_code == 409
    assert again.json()["at"] == ["slug"]
    none = client.post("/api/projects", {"slug": "_"}, content_type="application/json")
    assert (none.status_code, none.json()["at"]) == (422, ["slug"])


def test_a_name_that_no_database_holds_is_refused_with_its_place(
    owner: User, project: Project
) -> None:
    client = signed_in(owner)
    for path, body in (
        ("/api/projects", {"slug": "harbour", "name": "a\x00b"}),
        ("/api/keys", {"project": "demo", "name": "a\x00b"}),
    ):
        refused = client.post(path, body, content_type="application/json")
        assert (refused.status_code, refused.json()["at"]) == (422, ["name"])


def test_a_key_makes_no_project(agent: Client) -> None:
    made = agent.post("/api/projects", {"slug": "x"}, content_type="application/json")
    assert made.status_code == 403


def test_an_owner_adds_changes_and_removes_members(
    project: Project, owner: User, stranger: User
) -> None:
    client, path = signed_in(owner), f"{members(project)}/stranger"
    assert put(client, path, "reviewer").json()["role"] == "reviewer"
    assert put(client, path, "editor").status_code == 200
    assert roles(project)["stranger"] == "editor"
    assert client.delete(path).status_code == 204
    assert "stranger" not in roles(project)
    assert client.delete(path).status_code == 404
    assert put(client, f"{members(project)}/nobody", "viewer").status_code == 404
    assert put(client, path, "emperor").status_code == 422
    assert AuditEntry.objects.filter(action__startswith="member.").count() == 3


def test_adding_a_member_never_changes_the_role_of_one(
    project: Project, owner: User, reviewer: User, stranger: User
) -> None:
    client, page = signed_in(owner), f"/settings/projects/{project.slug}/"
    shown = client.post(page, {"username": "reviewer", "role": "owner"})
    assert shown.status_code == 422
    told = (
        "reviewer is already a member, with the role reviewer."
        " Change it in the list of members above."
    )
    assert told in unescape(shown.content.decode())
    body = {"username": "reviewer", "role": "owner"}
    path, kind = members(project), "application/json"
    refused = client.post(path, body, content_type=kind)
    assert (refused.status_code, refused.json()["code"]) == (409, "member")
    assert (refused.json()["at"], refused.json()["role"]) == (["username"], "reviewer")
    assert f"PUT {path}/reviewer." in refused.json()["detail"]
    assert roles(project)["reviewer"] == "reviewer"
    assert not AuditEntry.objects.filter(action__startswith="member.").exists()
    body = {"username": "stranger", "role": "viewer"}
    added = client.post(path, body, content_type=kind)
    assert (added.status_code, added.json()["role"]) == (201, "viewer")
    assert roles(project)["stranger"] == "viewer"
    assert AuditEntry.objects.get(action="member.viewer")


@pytest.mark.parametrize("role", ["viewer", "reviewer", "editor"])
def test_who_is_no_owner_sees_the_members_and_changes_none(
    request: pytest.FixtureRequest, project: Project, owner: User, role: str
) -> None:
    client = signed_in(request.getfixturevalue(role))
    listed = client.get(members(project)).json()["items"]
    assert {one["username"]: one["role"] for one in listed} == {
        "owner": "owner",
        role: role,
    }
    assert put(client, f"{members(project)}/{role}", "owner").status_code == 403
    assert client.delete(f"{members(project)}/owner").status_code == 403
    assert client.delete(f"{members(project)}/{role}").status_code == 204  # leaves
    assert client.get(members(project)).status_code == 404


def test_a_stranger_finds_no_project_at_any_door(
    project: Project, owner: User, stranger: User
) -> None:
    client = signed_in(stranger)
    path = f"{members(project)}/stranger"
    page = f"/settings/projects/{project.slug}/"
    assert client.get(members(project)).status_code == 404
    assert put(client, path, "owner").status_code == 404
    assert client.delete(f"{members(project)}/owner").status_code == 404
    assert client.get(page).status_code == 404
    body = {"username": "stranger", "role": "owner"}
    assert client.post(page, body).status_code == 404
    assert client.post(f"{page}remove", {"username": "owner"}).status_code == 404
    assert roles(project) == {"owner": "owner"}


def test_the_last_owner_neither_leaves_nor_steps_down(
    project: Project, owner: User, editor: User
) -> None:
    client = signed_in(owner)
    path = f"{members(project)}/owner"
    assert client.delete(path).json()["code"] == "last_owner"
    assert put(client, path, "viewer").status_code == 409
    page = f"/settings/projects/{project.slug}/"
    stepping_down = {"username": "owner", "role": "viewer", "change": "1"}
    shown = client.post(page, stepping_down, follow=True)
    assert "A project needs an owner:" in shown.content.decode()
    left = client.post(f"{page}remove", {"username": "owner"}, follow=True)
    assert "A project needs an owner:" in left.content.decode()
    put(client, f"{members(project)}/editor", "owner")
    assert client.delete(path).status_code == 204
    assert roles(project) == {"editor": "owner"}


@pytest.mark.parametrize(
    ("role", "refusal"), [(None, NotFound), (ProjectRole.EDITOR, Forbidden)]
)
def test_an_owner_whom_another_removes_at_the_same_time_removes_nobody(
    project: Project,
    owner: User,
    editor: User,
    viewer: User,
    role: ProjectRole | None,
    refusal: type[Exception],
) -> None:
    set_member(caller(owner), project, editor, ProjectRole.OWNER)
    second = caller(editor)  # known before, as by a request under way
    set_member(caller(owner), project, editor, role)
    for person in (owner, viewer):
        with pytest.raises(refusal):
            set_member(second, project, person, None)
    assert roles(project).keys() >= {"owner", "viewer"}


def test_a_project_is_made_and_filled_from_its_pages(
    project: Project, owner: User, stranger: User
) -> None:
    client = signed_in(owner)
    assert "Demonstration" in client.get("/settings/projects/").content.decode()
    refused = client.post("/settings/projects/", {"name": "X", "slug": "a b"})
    assert refused.status_code == 422
    assert "letters, digits" in refused.content.decode()
    made = client.post("/settings/projects/", {"name": "Harbour", "slug": "harbour"})
    assert made["Location"] == "/settings/projects/harbour/"
    page = made["Location"]
    nobody = client.post(page, {"username": "nobody", "role": "viewer"})
    assert "There is no user nobody." in nobody.content.decode()
    added = client.post(page, {"username": "stranger", "role": "editor"}, follow=True)
    assert "stranger is now an editor." in added.content.decode()
    shown = signed_in(stranger).get(page).content.decode()
    assert "Leave" in shown
    assert "Add member" not in shown
    gone = client.post(f"{page}remove", {"username": "stranger"}, follow=True)
    assert "stranger is no longer a member." in gone.content.decode()
    assert roles(Project.objects.get(slug="harbour")) == {"owner": "owner"}


def test_what_stands_below_a_long_list_is_led_to_from_above_it(
    owner: User, viewer: User, project: Project
) -> None:
    for person, path, place in (
        (owner, "/settings/projects/", "create"),
        (owner, f"/settings/projects/{project.slug}/", "invite"),
    ):
        browser = Client()
        browser.force_login(person)
        shown = browser.get(path).content.decode()
        assert shown.index(f'href="#{place}"') < shown.index("<table")
        assert shown.index("</table>") < shown.index(f'<h2 id="{place}">')
    browser.force_login(viewer)
    assert "#invite" not in browser.get(path).content.decode()


def test_on_a_page_drawn_before_one_was_removed_they_are_not_added_by_another_role(
    project: Project, owner: User, viewer: User
) -> None:
    client = signed_in(owner)
    page = f"/settings/projects/{project.slug}/"
    own = {"username": "owner", "role": "viewer", "change": "1"}
    assert 'name="change"' in client.get(page).content.decode()
    last = client.post(page, own, follow=True).content.decode()
    assert "A project needs an owner:" in last.partition('id="toasts"')[2]
    set_member(caller(owner), project, viewer, None)
    other = {"username": "viewer", "role": "owner", "change": "1"}
    for path in (page, f"{page}remove"):
        told = client.post(path, other, follow=True)
        assert told.redirect_chain == [(page, 302)]
        assert "There is no such member." in told.content.decode()
    assert "viewer" not in roles(project)


def test_who_leaves_is_led_to_the_list(project: Project, editor: User) -> None:
    Membership.objects.create(
        project=project,
        user=User.objects.create_user("second"),
        role=ProjectRole.OWNER,
    )
    page = f"/settings/projects/{project.slug}/remove"
    left = signed_in(editor).post(page, {"username": "editor"}, follow=True)
    assert left.redirect_chain == [("/settings/projects/", 302)]
    assert "You left Demonstration." in left.content.decode()


def test_members_that_do_not_fit_the_page_are_on_the_next(
    project: Project, owner: User, editor: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, page = signed_in(owner), f"/settings/projects/{project.slug}/"
    assert "Search members" not in client.get(page).content.decode()
    monkeypatch.setattr(page_of_projects, "SHOWN_MEMBERS", 1)
    first = client.get(page).content.decode()
    assert 'value="editor">' in first
    assert 'name="username" value="owner"' not in first
    assert "Search members" in first
    (more,) = re.findall(r'href="([^"]*cursor=[^"]*)"', first)
    second = client.get(unescape(more)).content.decode()
    assert 'name="username" value="owner"' in second
    assert "cursor=" not in second.partition("Pages of the members")[2]
    (start,) = re.findall(r'href="([^"]*)">[^>]*>[^>]*></svg>First', second)
    assert 'value="editor">' in client.get(start).content.decode()


def test_members_are_found_by_either_of_their_names_and_changed_where_they_were_found(
    project: Project, owner: User, editor: User, viewer: User
) -> None:
    User.objects.filter(pk=viewer.pk).update(display_name="Vera of the Harbour")
    client, page = signed_in(owner), f"/settings/projects/{project.slug}/"

    def found(query: str) -> list[str]:
        shown = client.get(page, {"q": query}).content.decode()
        return re.findall(r'name="username" value="(\w+)"><input type="hidden"', shown)

    assert found("VERA har") == found("view") == ["viewer"]
    assert found("\0") == found("100%") == []
    assert "No matching members" in client.get(f"{page}?q=%25").content.decode()
    shown = client.get(f"{page}?q=harbour").content.decode()
    (action,) = re.findall(r'class="role-form" method="post" action="([^"]*)"', shown)
    change = {"username": "viewer", "role": "reviewer", "change": "1"}
    told = client.post(unescape(action), change, follow=True)
    assert told.redirect_chain == [(f"{page}?q=harbour", 302)]
    (action,) = re.findall(r'action="([^"]*remove[^"]*)"', told.content.decode())
    gone = client.post(unescape(action), {"username": "viewer"}, follow=True)
    assert gone.redirect_chain == [(f"{page}?q=harbour", 302)]
    assert "viewer" not in roles(project)


def test_a_project_gets_another_name_and_keeps_its_slug(
    project: Project, owner: User
) -> None:
    client, body = signed_in(owner), {"name": " Harbour "}
    path = f"/api/projects/{project.slug}"
    renamed = client.patch(path, body, content_type="application/json")
    assert (renamed.status_code, renamed.json()["name"]) == (200, "Harbour")
    assert renamed.json()["slug"] == "demo"
    page = f"/settings/projects/{project.slug}/"
    told = client.post(f"{page}rename", {"name": "Quay"}, follow=True)
    assert "The project is now called Quay." in told.content.decode()
    project.refresh_from_db()
    assert (project.name, project.slug) == ("Quay", "demo")


@pytest.mark.parametrize("name", ["", "  ", "x" * 151, "a\0b"])
def test_a_name_that_is_none_is_refused_at_its_field(
    project: Project, owner: User, name: str
) -> None:
    client = signed_in(owner)
    path = f"/api/projects/{project.slug}"
    answer = client.patch(path, {"name": name}, content_type="application/json")
    assert (answer.status_code, answer.json()["at"]) == (422, ["name"])
    page = client.post(f"/settings/projects/{project.slug}/rename", {"name": name})
    assert page.status_code == 422
    assert 'id="project_name_error"' in page.content.decode()
    project.refresh_from_db()
    assert project.name == "Demonstration"


def test_a_project_without_sessions_is_deleted_with_all_it_has(
    project: Project, owner: User, viewer: User, stranger: User
) -> None:
    client = signed_in(owner)
    client_of(owner, project)
    memo = {"project": project.slug, "text": "Mind the tide."}
    client.post("/api/memos", memo, content_type="application/json")
    assert (
        "Delete…" in client.get(f"/settings/projects/{project.slug}/").content.decode()
    )
    assert client.delete(f"/api/projects/{project.slug}").status_code == 204
    assert [one.slug for one in Project.objects.all()] == ["other"]
    assert not ApiKey.objects.exists()
    assert client.get(f"/api/projects/{project.slug}/members").status_code == 404
    assert User.objects.filter(pk=viewer.pk).exists()
    (entry,) = AuditEntry.objects.filter(action="project.delete")
    assert (entry.actor, entry.project_id) == (f"user:{owner.pk}", None)


def test_a_project_with_sessions_or_unfinished_jobs_is_not_deleted(
    project: Project, owner: User, agent: Client
) -> None:
    client, page = signed_in(owner), f"/settings/projects/{project.slug}/"
    session_id = make_session(agent, 2)
    client.delete(f"/api/sessions/{session_id}")
    answer = client.delete(f"/api/projects/{project.slug}")
    assert (answer.status_code, answer.json()["code"]) == (409, "has_sessions")
    assert answer.json()["sessions"] == 1
    shown = client.get(page).content.decode()
    assert "1 session</a>, deleted ones included" in shown and "Delete…" not in shown
    client.post(f"/sessions/{session_id}/purge")
    job = Job.objects.create(project=project, actor="system", kind="import")
    told = client.post(f"{page}delete", follow=True).content.decode()
    assert "A job of Demonstration is not finished." in told
    job.delete()
    told = client.post(f"{page}delete", follow=True).content.decode()
    assert "Deleted the project Demonstration." in told
    assert not Project.objects.exists()


def test_a_key_deletes_no_project(project: Project, agent: Client) -> None:
    answer = agent.delete(f"/api/projects/{project.slug}")
    assert answer.status_code == 403
    assert Project.objects.exists()
