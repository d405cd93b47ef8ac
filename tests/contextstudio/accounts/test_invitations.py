"""Invitations: a link that makes one account, or lets one person join, by a button."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher
from django.db import connection
from django.test import Client
from django.utils import timezone

from contextstudio.accounts.domain.errors import Forbidden, NotFound
from contextstudio.accounts.domain.rights import ProjectRole, Right
from contextstudio.accounts.invitations import (
    accept_as,
    accept_with_account,
    invite,
    list_invitations,
    open_invitation,
    withdraw,
)
from contextstudio.accounts.jobs import housekeeping
from contextstudio.accounts.models import (
    ApiKey,
    Invitation,
    Membership,
    Project,
    User,
)
from contextstudio.accounts.selectors import caller_of_actor
from contextstudio.accounts.services import set_member
from tests.people import caller, key_of

PASSWORD = "quayside 4711 lanterns"
ACCOUNT = {"username": "harbour.master", "display_name": "H. Master"}


def link(owner: User, project: Project, role: ProjectRole = ProjectRole.EDITOR) -> str:
    return f"/sign-in/invitation/{invite(caller(owner), project, role)}"


def account(**other: Any) -> dict[str, Any]:
    return {**ACCOUNT, "password": PASSWORD, **other}


def test_the_button_makes_an_account_joins_and_signs_in(
    client: Client, owner: User, project: Project
) -> None:
    path = link(owner, project)
    shown = client.get(path).content.decode()
    assert "Join Demonstration" in shown
    assert "owner invites you as editor" in shown
    assert client.post(path, account())["Location"] == "/"
    user = User.objects.get(username="harbour.master")
    assert client.session["_auth_user_id"] == str(user.pk)
    assert Membership.objects.get(user=user).role == ProjectRole.EDITOR
    assert user.check_password(PASSWORD)
    assert str(user) == "H. Master"
    assert Client().get(path).status_code == 410
    assert Client().post(path, account(username="second")).status_code == 410
    assert not User.objects.filter(username="second").exists()


def test_a_look_at_a_link_does_not_spend_it(
    client: Client, owner: User, project: Project
) -> None:
    path = link(owner, project)
    for look in (client.get, client.head):
        assert look(path).status_code == 200
    strict = Client(enforce_csrf_checks=True)
    assert strict.post(path, account()).status_code == 403
    assert Invitation.objects.count() == 1


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        ({"username": "owner"}, "There is a user owner already."),
        ({"username": "two words"}, "Enter a valid username"),
        ({"username": ""}, "This field is required."),
        ({"password": "12345"}, "This password"),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_the_link_stays_good(
    client: Client,
    owner: User,
    project: Project,
    wrong: dict[str, str],
    place: str,
) -> None:
    path = link(owner, project)
    answer = client.post(path, account(**wrong))
    assert answer.status_code == 422
    assert answer.context["form"].errors[next(iter(wrong))][0].startswith(place)
    assert User.objects.count() == 1
    assert client.post(path, account()).status_code == 302


def test_no_transaction_is_open_while_a_password_is_hashed(
    owner: User, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    depth, seen = len(connection.atomic_blocks), list[int]()
    real = MD5PasswordHasher.encode

    def encode(*arguments: Any) -> str:
        seen.append(len(connection.atomic_blocks) - depth)
        return real(*arguments)

    monkeypatch.setattr(MD5PasswordHasher, "encode", encode)
    token = invite(caller(owner), project, ProjectRole.EDITOR)
    accept_with_account(token, **account())
    assert seen == [0]


def test_who_has_an_account_joins_with_it(
    client: Client, owner: User, stranger: User, project: Project
) -> None:
    client.force_login(stranger)
    path = link(owner, project)
    assert "Join as stranger" in client.get(path).content.decode()
    assert client.post(path)["Location"] == "/settings/projects/demo/"
    role = Membership.objects.get(user=stranger, project=project).role
    assert role == ProjectRole.EDITOR


def test_a_member_keeps_their_role_and_leaves_a_link_to_whom_it_is_for(
    client: Client, owner: User, stranger: User, project: Project
) -> None:
    client.force_login(owner)
    path = link(owner, project, ProjectRole.VIEWER)
    for answer in (client.get(path), client.post(path)):
        shown = answer.content.decode()
        assert "You are a member already, as owner." in shown
        assert "Join as" not in shown
    assert Membership.objects.get(user=owner, project=project).role == "owner"
    client.force_login(stranger)
    assert client.post(path)["Location"] == "/settings/projects/demo/"


def test_a_link_ends_after_a_week_when_withdrawn_and_with_its_makers_right(
    owner: User, editor: User, project: Project
) -> None:
    tokens = [
        invite(caller(owner), project, ProjectRole.VIEWER, note=str(number))
        for number in range(3)
    ]
    first, second, third = Invitation.objects.order_by("pk")
    Invitation.objects.filter(pk=first.pk).update(
        expires_at=timezone.now() - timedelta(seconds=1)
    )
    withdraw(caller(owner), project, second.pk)
    assert list_invitations(project) == [third]
    assert open_invitation(tokens[2]) == third
    set_member(caller(owner), project, editor, ProjectRole.OWNER)
    set_member(caller(editor), project, owner, ProjectRole.EDITOR)
    for token in tokens:
        with pytest.raises(NotFound, match="used, withdrawn or has expired"):
            open_invitation(token)
        with pytest.raises(NotFound):
            accept_as(token, editor)
        with pytest.raises(NotFound):
            accept_with_account(token, **account())
    housekeeping.clean()
    assert Invitation.objects.get() == third


def test_only_a_person_who_administers_invites_and_withdraws(
    owner: User, editor: User, project: Project
) -> None:
    with pytest.raises(Forbidden):
        invite(caller(editor), project, ProjectRole.VIEWER)
    key_of(owner, project, *Right)
    with pytest.raises(Forbidden, match="Only a person"):
        agent = caller_of_actor(f"key:{ApiKey.objects.get().pk}")
        invite(agent, project, ProjectRole.VIEWER)
    invite(caller(owner), project, ProjectRole.VIEWER)
    with pytest.raises(Forbidden):
        withdraw(caller(editor), project, Invitation.objects.get().pk)
    with pytest.raises(NotFound):
        withdraw(caller(owner), project, 0)


def test_the_page_shows_a_link_once_and_withdraws_it(
    client: Client, owner: User, editor: User, project: Project
) -> None:
    client.force_login(owner)
    path = "/settings/projects/demo/"
    answer = client.post(f"{path}invite", {"role": "viewer", "note": "Night shift"})
    address = answer.context["link"]
    assert address.startswith("http://testserver/sign-in/invitation/")
    assert address in answer.content.decode()
    assert answer["Cache-Control"] == "private, no-store"
    again = client.get(path).content.decode()
    assert "Night shift" in again
    assert address not in again
    assert client.post(f"{path}invite", {"role": "king"}).status_code == 422
    for form in re.findall(r'<form[^>]* method="post"[^>]*>', answer.content.decode()):
        assert f'action="{path}' in form or 'action="/sign-out"' in form, form
    pk = Invitation.objects.get().pk
    assert client.post(f"{path}invitations/{pk}/withdraw").status_code == 302
    assert Client().get(address).status_code == 410
    client.force_login(editor)
    assert "Invite somebody" not in client.get(path).content.decode()
