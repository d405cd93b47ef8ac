"""Reloading an answer that shows a secret sends its form again: nothing is made a second time."""

import pytest
from django.test import Client

from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.keys.services import create_key
from contextstudio.accounts.models import ApiKey, Invitation, Project, User
from contextstudio.accounts.views import sent_once

SAID = "sent already"


@pytest.fixture
def browser(client: Client, owner: User) -> Client:
    """A browser in which the owner is signed in."""
    client.force_login(owner)
    return client


def form_of(browser: Client, page: str) -> dict[str, str]:
    """The id of the form on a page, as it is sent with the form."""
    return {"form_id": browser.get(page).context["form_id"]}


def repeated(browser: Client, path: str, sent: dict[str, str]) -> str:
    """What is shown after a form was sent a second time."""
    assert browser.post(path, sent).status_code == 200
    return browser.post(path, sent, follow=True).content.decode()


def test_a_key_is_made_once(browser: Client, project: Project) -> None:
    path = "/settings/keys/"
    sent = form_of(browser, path) | {
        "name": "agent",
        "project": project.slug,
        "scopes": "read",
    }
    shown = repeated(browser, path, sent)
    assert ApiKey.objects.count() == 1
    assert SAID in shown
    assert "made-key" not in shown


def test_a_second_form_makes_a_second_key(browser: Client, project: Project) -> None:
    path = "/settings/keys/"
    for name in ("one", "two"):
        sent = {"name": name, "project": project.slug, "scopes": "read"}
        browser.post(path, form_of(browser, path) | sent)
    assert ApiKey.objects.count() == 2


def test_a_refused_form_may_be_sent_again(browser: Client, project: Project) -> None:
    path = "/settings/keys/"
    sent = form_of(browser, path) | {"name": "agent", "project": project.slug}
    assert browser.post(path, sent).status_code == 422
    assert browser.post(path, sent | {"scopes": "read"}).status_code == 200
    assert ApiKey.objects.count() == 1


def test_a_key_is_rotated_once(browser: Client, owner: User, project: Project) -> None:
    made = create_key(owner, project, name="agent", scopes=frozenset({Right.READ}))
    page = f"/settings/keys/{made.row.pk}/"
    sent = form_of(browser, page)
    assert browser.post(f"{page}rotate", sent).status_code == 200
    digest = ApiKey.objects.get().digest
    assert SAID in browser.post(f"{page}rotate", sent, follow=True).content.decode()
    assert ApiKey.objects.get().digest == digest


def test_a_link_is_made_once(browser: Client, project: Project) -> None:
    page = f"/settings/projects/{project.slug}/"
    sent = form_of(browser, page) | {"role": "viewer"}
    shown = repeated(browser, f"{page}invite", sent)
    assert Invitation.objects.count() == 1
    assert SAID in shown
    assert "made-link" not in shown


def test_only_the_newest_forms_are_remembered(
    browser: Client, project: Project
) -> None:
    page = f"/settings/projects/{project.slug}/"
    for at in range(sent_once.MAX_KEPT + 1):
        browser.post(f"{page}invite", {"form_id": str(at), "role": "viewer"})
    assert len(browser.session["sent_forms"]) == sent_once.MAX_KEPT
