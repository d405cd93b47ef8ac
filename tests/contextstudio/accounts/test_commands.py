"""The command line: one thing printed, or one sentence."""

import io
import re
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.test import Client

from contextstudio.accounts.domain.errors import Conflict, Invalid, NotFound
from contextstudio.accounts.domain.rights import ProjectRole, Right
from contextstudio.accounts.models import ApiKey, Membership, Project, User
from contextstudio.accounts.selectors import caller_of_key, find_key
from contextstudio.accounts.services import set_member
from tests.people import caller


def printed(*arguments: str, **options: Any) -> str:
    output = io.StringIO()
    call_command(*arguments, stdout=output, **options)
    return output.getvalue()


def test_create_key_prints_the_key_alone_and_acts_for_the_owner(
    project: Project, owner: User
) -> None:
    text = printed("create_key", "--project", "demo", "--name", "CI")
    key = find_key(text.strip())
    assert key is not None
    assert text == f"{text.strip()}\n"
    assert (key.maker, key.name) == (owner, "CI")
    rights = {Right.READ, Right.PROPOSE, Right.EDIT, Right.OWN_SESSION}
    assert caller_of_key(key).rights == {project.pk: rights}


def test_create_key_takes_scopes(project: Project, owner: User) -> None:
    key = find_key(
        printed("create_key", "--project=demo", "--scopes=admin, read").strip()
    )
    assert key is not None
    assert set(key.scopes) == {"admin", "read"}


def test_create_key_takes_projects_to_recall_from(
    project: Project, owner: User, stranger: User
) -> None:
    other = Project.objects.get(slug="other")
    with pytest.raises(NotFound, match="no such project"):
        printed("create_key", "--project=demo", "--recalls=other")
    set_member(caller(stranger), other, owner, ProjectRole.VIEWER)
    key = find_key(printed("create_key", "--project=demo", "--recalls=other").strip())
    assert key is not None
    assert caller_of_key(key).recalls == {other.pk}


@pytest.mark.parametrize("days", [0, -1, 10**7])
def test_create_key_refuses_days_on_which_no_key_can_end(
    project: Project, owner: User, days: int
) -> None:
    with pytest.raises(Invalid):
        printed("create_key", "--project=demo", f"--days={days}")
    assert not ApiKey.objects.exists()


def test_create_key_refuses_what_it_does_not_know(
    project: Project, owner: User
) -> None:
    with pytest.raises(NotFound, match="no project nothing"):
        printed("create_key", "--project=nothing")
    with pytest.raises(Invalid, match="'write' is not a scope; the scopes are read,"):
        printed("create_key", "--project=demo", "--scopes=write")


def test_a_project_without_an_owner_has_nobody_to_act_for(project: Project) -> None:
    with pytest.raises(NotFound, match="no active owner"):
        printed("create_key", "--project=demo")


def test_commands_act_for_an_owner_whose_account_is_active(
    project: Project, owner: User, stranger: User
) -> None:
    set_member(caller(owner), project, stranger, ProjectRole.OWNER)
    User.objects.filter(pk=owner.pk).update(is_active=False)
    key = find_key(printed("create_key", "--project=demo").strip())
    assert key is not None
    assert key.maker == stranger
    with pytest.raises(Conflict, match="needs an owner"):
        set_member(caller(stranger), project, stranger, None)


def test_create_user_makes_nobody_for_a_project_without_an_owner(
    project: Project,
) -> None:
    with pytest.raises(NotFound, match="no active owner"):
        printed("create_user", "second", "--project=demo")
    assert not User.objects.exists()


def test_create_user_prints_the_way_in(
    project: Project, owner: User, client: Client
) -> None:
    path = printed("create_user", "second", "--project=demo", "--role=reviewer").strip()
    assert client.post(path)["Location"] == "/"
    assert Membership.objects.get(user__username="second").role == ProjectRole.REVIEWER


def test_create_user_needs_no_project(db: None) -> None:
    assert printed("create_user", "second").startswith("/sign-in/")


def test_create_user_refuses_a_taken_name_and_an_unknown_project(
    project: Project, owner: User
) -> None:
    with pytest.raises(Conflict):
        printed("create_user", "owner")
    with pytest.raises(NotFound):
        printed("create_user", "second", "--project=nothing")
    assert not User.objects.filter(username="second").exists()


def test_sign_in_link_prints_a_fresh_way_in(owner: User, client: Client) -> None:
    first, second = (printed("sign_in_link").strip() for _ in range(2))
    assert client.get(first).status_code == 410
    assert client.get(second).status_code == 200


def test_sign_in_link_makes_the_first_owner(db: None, client: Client) -> None:
    assert client.post(printed("sign_in_link").strip()).status_code == 302
    assert Project.objects.get().memberships.get().role == ProjectRole.OWNER


def test_sign_in_link_makes_a_member_the_owner_where_no_active_account_is(
    project: Project, stranger: User
) -> None:
    User.objects.update(is_active=False)
    member = User.objects.create_user("owner")
    Membership.objects.create(project=project, user=member, role=ProjectRole.VIEWER)
    assert printed("sign_in_link").startswith("/sign-in/")
    assert project.memberships.get(user=member).role == ProjectRole.OWNER


def test_create_project_makes_one_for_its_owner(owner: User, stranger: User) -> None:
    assert printed("create_project", "second", "--owner=stranger") == "second\n"
    membership = Membership.objects.get(project__slug="second")
    assert (membership.user, membership.role) == (stranger, ProjectRole.OWNER)
    with pytest.raises(Invalid, match="letters, digits"):
        printed("create_project", "a slug")
    with pytest.raises(NotFound, match="no user nobody"):
        printed("create_project", "third", "--owner=nobody")


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (("create_user", "two words"), "username"),
        (("create_user", ""), "username"),
        (("create_user", "a" * 151), "username"),
        (("create_user", "second", "--display-name", "a" * 151), "display_name"),
        (("create_project", "a" * 65), "slug"),
        (("create_project", "second", "--name", "a" * 151), "name"),
        (("create_key", "--project=demo", "--name", "a" * 101), "name"),
    ],
)
def test_a_name_that_its_field_does_not_hold_is_refused(
    project: Project, owner: User, arguments: tuple[str, ...], place: str
) -> None:
    with pytest.raises(Invalid) as refused:
        printed(*arguments)
    assert refused.value.at == (place,)


def test_sign_in_link_needs_somebody(db: None) -> None:
    with pytest.raises(NotFound, match="no user nobody"):
        printed("sign_in_link", "--user=nobody")


def test_connect_prints_the_settings_of_a_client_with_a_fresh_key(
    project: Project, owner: User
) -> None:
    text = printed("connect", "--client", "openai", "--url", "https://studio.test")
    lines = text.splitlines()
    assert lines[0] == "# OpenAI SDK, with the key of the upstream openai"
    assert lines[1] == "export OPENAI_BASE_URL=https://studio.test/v1"
    key = find_key(lines[2].removeprefix("export OPENAI_API_KEY="))
    assert key is not None
    assert (key.maker, key.name, key.project) == (owner, "openai", project)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8123/"),
        ("0.0.0.0", "http://127.0.0.1:8123/"),
        ("::", "http://[::1]:8123/"),
        ("studio.test", "http://studio.test:8123/"),
    ],
)
def test_connect_prints_every_client_with_one_key_for_the_address_it_serves(
    project: Project, owner: User, settings: LazySettings, host: str, url: str
) -> None:
    settings.HOST, settings.PORT = host, 8123
    text = printed("connect")
    for title in ("# Claude Code", "# Codex", "# MCP", "# curl"):
        assert title in text
    assert url in text
    assert len(set(re.findall(r"cs_\w+", text))) == 1


def test_connect_refuses_what_it_does_not_know(project: Project, owner: User) -> None:
    with pytest.raises(Invalid, match="https://"):
        printed("connect", "--url", "studio.test")
    assert not ApiKey.objects.exists()
    with pytest.raises(CommandError, match="telnet"):
        printed("connect", "--client", "telnet")
    with pytest.raises(NotFound):
        printed("connect", "--project", "nowhere")
