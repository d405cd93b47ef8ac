"""The page on which owners say where the proxy sends requests."""

import pytest
from django.test import Client

from contextstudio.accounts.models import Project, User
from operations.forwarding.upstreams.services import WireProvider, target_of
from operations.models import Upstream

PATH = "/settings/projects/demo/upstreams"
BASE = "https://93.184.216.34/v1"


@pytest.fixture
def browser(owner: User, project: Project) -> Client:
    client = Client()
    client.force_login(owner)
    return client


def test_an_upstream_is_saved_and_its_key_is_never_shown(
    browser: Client, project: Project
) -> None:
    given = {"provider": "openai", "base_url": BASE, "api_key": "sk-harbour"}
    answer = browser.post(PATH, given, follow=True)
    shown = answer.content.decode()
    assert BASE in shown and "saved" in shown and "sk-harbour" not in shown
    assert target_of(project.pk, WireProvider.OPENAI).api_key == "sk-harbour"
    assert b"sk-harbour" not in bytes(Upstream.objects.get().sealed_key)


def test_an_empty_key_keeps_the_one_that_is_saved(
    browser: Client, project: Project
) -> None:
    given = {"provider": "openai", "base_url": BASE, "api_key": "sk-harbour"}
    browser.post(PATH, given)
    browser.post(PATH, given | {"api_key": "", "model": "heron-2"})
    target = target_of(project.pk, WireProvider.OPENAI)
    assert (target.api_key, target.model) == ("sk-harbour", "heron-2")


def test_what_is_saved_can_be_changed_without_writing_it_again(
    browser: Client,
) -> None:
    given = {
        "provider": "gemini",
        "base_url": BASE,
        "model": "heron-2",
        "tools": "edit",
    }
    browser.post(PATH, given | {"api_key": "sk-harbour"})
    assert '?provider=gemini#set"' in browser.get(PATH).content.decode()
    shown = browser.get(PATH, {"provider": "gemini"}).content.decode()
    assert '<option value="gemini" selected>' in shown
    for value in (BASE, "heron-2", "edit"):
        assert f'value="{value}"' in shown
    assert "sk-harbour" not in shown
    assert (
        f'value="{BASE}"' not in browser.get(PATH, {"provider": "x"}).content.decode()
    )


@pytest.mark.parametrize(
    ("base_url", "why"),
    [
        ("http://127.0.0.1:8000", "uses https and port 443"),
        ("https://10.0.0.1/v1", "may not be called"),
        ("https://user:word@example.com", "A base URL looks like"),
        ("https://127.0.0.2/v1/chat/completions", "Leave out /chat/completions:"),
        ("https://127.0.0.2/v1/responses/", "Leave out /responses:"),
        ("https://127.0.0.2/v1/messages", "Leave out /messages:"),
        (
            "https://127.0.0.2/v1beta/models/m:streamGenerateContent",
            "Leave out /models/m:streamGenerateContent:",
        ),
    ],
)
def test_what_may_not_be_called_is_refused_at_its_field(
    browser: Client, base_url: str, why: str
) -> None:
    answer = browser.post(PATH, {"provider": "openai", "base_url": base_url})
    assert answer.status_code == 422
    assert why in answer.content.decode()
    assert 'aria-invalid="true"' in answer.content.decode()
    assert not Upstream.objects.exists()


def test_a_removed_upstream_leaves_the_public_provider(browser: Client) -> None:
    browser.post(PATH, {"provider": "anthropic", "base_url": "https://93.184.216.34"})
    row = browser.get(PATH).content.decode().partition('<details class="confirm">')[2]
    assert row.index("Remove…") < row.index("for good") < row.index(f"{PATH}/remove")
    answer = browser.post(f"{PATH}/remove", {"provider": "anthropic"}, follow=True)
    assert "https://api.anthropic.com" in answer.content.decode()
    assert not Upstream.objects.exists()
    assert browser.post(f"{PATH}/remove", {"provider": "x"}).status_code == 422


def test_who_may_not_administer_sees_no_form(
    viewer: User, project: Project, browser: Client
) -> None:
    browser.force_login(viewer)
    assert "Save upstream" not in browser.get(PATH).content.decode()
