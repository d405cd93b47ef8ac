"""API keys: stored as digests, shown once, never with more rights than their maker has."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone
from django.utils.html import strip_tags

from contextstudio.accounts import services
from contextstudio.accounts.credentials import key_digest, token_digest
from contextstudio.accounts.domain.errors import Invalid, NotFound
from contextstudio.accounts.domain.rights import ProjectRole, Right
from contextstudio.accounts.keys.services import create_key, revoke_key
from contextstudio.accounts.models import ApiKey, Membership, Project, User
from contextstudio.accounts.selectors import caller_of_key, find_key, list_keys
from tests.people import caller, key_of


def test_a_key_is_known_again_and_its_text_is_not_in_the_database(key: str) -> None:
    assert key.startswith("cs_")
    found = find_key(key)
    assert found is not None
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM accounts_apikey")
        assert key not in str(cursor.fetchall())
    assert key.startswith(found.prefix)


@pytest.mark.parametrize(
    "text", ["", "cs_", "cs_00000000_" + "0" * 40, "\x00", "ä" * 9]
)
def test_any_other_text_is_no_key(key: str, text: str) -> None:
    assert find_key(text) is None
    assert find_key(key[:-1]) is None
    assert find_key(key + "x") is None


def test_a_digest_of_one_purpose_proves_nothing_for_another() -> None:
    assert key_digest("x") != token_digest("x")


def test_a_key_may_what_it_was_made_for_and_always_read(
    owner: User, project: Project
) -> None:
    found = find_key(key_of(owner, project, Right.PROPOSE))
    assert found is not None
    assert caller_of_key(found).rights == {project.pk: {Right.READ, Right.PROPOSE}}


def test_a_key_loses_what_its_maker_loses(
    owner: User, editor: User, project: Project
) -> None:
    text = key_of(editor, project, *Right)
    services.set_member(caller(owner), project, editor, ProjectRole.VIEWER)
    found = find_key(text)
    assert found is not None
    assert caller_of_key(found).rights == {project.pk: {Right.READ}}
    services.set_member(caller(owner), project, editor, None)
    found = find_key(text)
    assert found is not None
    assert caller_of_key(found).rights == {}


def test_a_key_recalls_from_other_projects_only_while_its_maker_is_in_them(
    owner: User, editor: User, stranger: User, project: Project
) -> None:
    other = Project.objects.get(slug="other")
    wide = {"name": "wide", "scopes": frozenset({Right.READ}), "recalls": [other]}
    with pytest.raises(NotFound):
        create_key(editor, project, **wide)
    services.set_member(caller(stranger), other, editor, ProjectRole.VIEWER)
    text = create_key(editor, project, **wide).text

    def recalled() -> frozenset[int]:
        found = find_key(text)
        assert found is not None
        return caller_of_key(found).recalls

    assert recalled() == {other.pk}
    services.set_member(caller(stranger), other, editor, None)
    assert recalled() == set()
    services.set_member(caller(stranger), other, editor, ProjectRole.VIEWER)
    services.set_member(caller(owner), project, editor, None)
    assert recalled() == set()


def test_the_keys_of_one_who_left_are_dead(
    owner: User, project: Project, key: str
) -> None:
    owner.is_active = False
    owner.save()
    assert find_key(key) is None


def test_a_revoked_key_is_worthless_at_once(agent: Client, owner: User) -> None:
    assert agent.get("/api/sessions").status_code == 200
    revoke_key(caller(owner), ApiKey.objects.get().pk)
    assert agent.get("/api/sessions").status_code == 401


def test_one_revokes_ones_own_keys_and_an_owner_all(
    owner: User, editor: User, viewer: User, stranger: User, project: Project
) -> None:
    for maker in (owner, editor, editor):
        key_of(maker, project)
    of_owner, first, second = ApiKey.objects.order_by("pk")
    for asker, key in ((stranger, first), (viewer, first), (editor, of_owner)):
        with pytest.raises(NotFound):
            revoke_key(caller(asker), key.pk)
    revoke_key(caller(editor), first.pk)
    revoke_key(caller(owner), second.pk)
    assert list(list_keys(caller(owner))) == [of_owner]
    assert list(list_keys(caller(editor))) == []


def test_a_key_needs_a_scope_and_a_maker_in_the_project(
    owner: User, stranger: User, project: Project
) -> None:
    with pytest.raises(Invalid):
        create_key(owner, project, name="", scopes=frozenset())
    with pytest.raises(NotFound):
        create_key(stranger, project, name="", scopes=frozenset(Right))


def test_its_last_use_is_noted_once_a_minute(agent: Client) -> None:
    agent.get("/api/sessions")
    first = ApiKey.objects.get().last_used_at
    assert first is not None
    agent.get("/api/sessions")
    assert ApiKey.objects.get().last_used_at == first
    ApiKey.objects.update(last_used_at=timezone.now() - timedelta(minutes=2))
    agent.get("/api/sessions")
    assert ApiKey.objects.get().last_used_at >= first  # type: ignore[operator]


def test_the_page_shows_a_new_key_once(
    client: Client, owner: User, project: Project
) -> None:
    client.force_login(owner)
    made = client.post(
        "/settings/keys/",
        {"name": "Agent", "project": project.slug, "scopes": ["read", "propose"]},
    )
    text = made.context["new_key"].text
    assert text in made.content.decode()
    assert made["Cache-Control"] == "private, no-store"
    again = client.get("/settings/keys/").content.decode()
    assert text not in again
    assert text[:11] in again


def test_the_beginning_of_a_key_without_a_name_is_shown_once(
    client: Client, owner: User, key: str
) -> None:
    unnamed = ApiKey.objects.get()
    ApiKey.objects.update(name=unnamed.prefix)
    client.force_login(owner)
    for path in ("/settings/keys/", f"/settings/keys/{unnamed.pk}/"):
        shown = client.get(path).content.decode().partition("<main")[2]
        text = strip_tags(shown)
        assert text.count(unnamed.prefix) == 1, path


def test_the_page_revokes_a_key(client: Client, owner: User, key: str) -> None:
    client.force_login(owner)
    client.post(f"/settings/keys/{ApiKey.objects.get().pk}/revoke")
    assert find_key(key) is None


def test_the_page_refuses_a_key_for_anothers_project(
    client: Client, owner: User, stranger: User
) -> None:
    client.force_login(owner)
    answer = client.post(
        "/settings/keys/", {"name": "x", "project": "other", "scopes": ["read"]}
    )
    assert answer.status_code == 422
    assert ApiKey.objects.count() == 0


def offered(client: Client, path: str = "/settings/keys/") -> list[str]:
    found = client.get(path).content.decode()
    return re.findall(r'name="scopes" value="(\w+)"', found)


def test_who_is_in_no_project_is_told_so_instead_of_being_asked_for_one(
    client: Client, stranger: User
) -> None:
    Membership.objects.filter(user=stranger).delete()
    client.force_login(stranger)
    shown = client.get("/settings/keys/").content.decode()
    assert "You aren't in a project yet" in shown
    assert 'name="project"' not in shown


def test_the_form_offers_the_permissions_that_one_has(
    client: Client, viewer: User, reviewer: User, owner: User
) -> None:
    client.force_login(viewer)
    assert offered(client) == ["read"]
    assert "sessions of its own" not in client.get("/settings/keys/").content.decode()
    client.force_login(reviewer)
    assert offered(client) == ["read", "propose", "review"]
    client.force_login(owner)
    assert set(offered(client)) == set(Right)


def test_of_another_s_key_the_form_offers_what_can_be_taken_away(
    client: Client, owner: User, editor: User, project: Project
) -> None:
    key_of(editor, project, Right.READ, Right.PROPOSE)
    path = f"/settings/keys/{ApiKey.objects.get().pk}/"
    client.force_login(owner)
    assert offered(client, path) == ["read", "propose"]
    client.force_login(editor)
    assert offered(client, path) == ["read", "propose", "own_session", "edit", "review"]
