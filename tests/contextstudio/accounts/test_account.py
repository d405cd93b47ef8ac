"""The account of the one who is signed in: setting and changing the password."""

from datetime import timedelta

import pytest
from django.test import Client

from contextstudio.accounts.models import AuditEntry, SignInLink, User
from contextstudio.accounts.sign_in import tries
from contextstudio.accounts.sign_in.links import create_sign_in_link

OLD, NEW = "quayside 4711 lanterns", "harbour 1174 lamps"
PATH = "/settings/account/"
NAME, PASSWORD = f"{PATH}name", f"{PATH}password"


@pytest.fixture
def member(owner: User) -> User:
    owner.set_password(OLD)
    owner.save()
    return owner


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_who_came_by_a_link_sets_a_first_password(owner: User) -> None:
    here = signed_in(owner)
    page = here.get(PATH).content.decode()
    assert "Set a password" in page and "Current password" not in page
    assert here.post(PASSWORD, {"new": NEW})["Location"] == PATH
    assert "Current password" in here.get(PATH).content.decode()
    answer = Client().post("/sign-in", {"username": owner.username, "password": NEW})
    assert answer.status_code == 302


def test_another_password_signs_out_all_other_browsers(member: User) -> None:
    here, elsewhere = signed_in(member), signed_in(member)
    answer = here.post(PASSWORD, {"current": OLD, "new": NEW}, follow=True)
    assert "The password is set" in answer.content.decode()
    assert here.get(PATH).status_code == 200
    assert elsewhere.get(PATH).status_code == 302
    member.refresh_from_db()
    assert member.check_password(NEW)
    assert AuditEntry.objects.filter(action="user.password").count() == 1


def test_another_password_ends_unused_sign_in_links(member: User) -> None:
    token = create_sign_in_link(member)
    signed_in(member).post(PASSWORD, {"current": OLD, "new": NEW})
    assert not SignInLink.objects.exists()
    assert Client().get(f"/sign-in/{token}").status_code == 410


@pytest.mark.parametrize(
    ("sent", "place", "sentence"),
    [
        ({"current": "wrong", "new": NEW}, "current", "not your current password"),
        ({"current": OLD, "new": "12345678"}, "new", "too common"),
        ({"current": OLD}, "new", "required"),
        ({"new": NEW}, "current", "required"),
        ({"current": OLD, "new": "a\0b long enough"}, "new", "Null characters"),
    ],
)
def test_a_refused_password_is_named_at_its_field_and_changes_nothing(
    member: User, sent: dict[str, str], place: str, sentence: str
) -> None:
    answer = signed_in(member).post(PASSWORD, sent)
    assert answer.status_code == 422
    _, _, behind = answer.content.decode().partition(f'id="id_{place}_error"')
    assert sentence in behind.partition("</p>")[0]
    member.refresh_from_db()
    assert member.check_password(OLD)


def test_tries_of_the_current_password_are_counted(
    member: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those of signing in are: an unlocked screen is no place to guess it."""
    monkeypatch.setattr(tries, "_ONE_MORE_TRY", timedelta(days=1))
    here = signed_in(member)
    for _ in range(10):
        assert here.post(PASSWORD, {"current": "guess", "new": NEW}).status_code == 422
    answer = here.post(PASSWORD, {"current": OLD, "new": NEW})
    assert answer.status_code == 429
    assert "Too many attempts" in answer.content.decode()
    member.refresh_from_db()
    assert member.check_password(OLD)


def test_another_name_is_what_others_see(member: User) -> None:
    here = signed_in(member)
    answer = here.post(NAME, {"display_name": " H. Master "}, follow=True)
    assert "Others now see you as H. Master." in answer.content.decode()
    member.refresh_from_db()
    assert (str(member), member.check_password(OLD)) == ("H. Master", True)
    answer = here.post(NAME, {"display_name": ""}, follow=True)
    assert "Others now see you as owner." in answer.content.decode()
    assert AuditEntry.objects.filter(action="user.rename").count() == 2


def test_a_name_that_is_too_long_is_refused_at_its_field(member: User) -> None:
    answer = signed_in(member).post(NAME, {"display_name": "x" * 151})
    assert answer.status_code == 422
    page = answer.content.decode()
    _, _, behind = page.partition('id="id_display_name_error"')
    assert "at most 150 characters" in behind.partition("</p>")[0]
    assert "id_new_error" not in page
    member.refresh_from_db()
    assert str(member) == "owner"


def test_a_key_has_no_account(member: User, agent: Client) -> None:
    agent.force_login(member)
    for answer in (
        agent.get(PATH),
        agent.post(NAME, {"display_name": "agent"}),
        agent.post(PASSWORD, {"current": OLD, "new": NEW}),
    ):
        assert answer.status_code == 403
        assert "Only a person has an account." in answer.content.decode()
    member.refresh_from_db()
    assert member.check_password(OLD)
