"""The provider checks of the thread's header: compiled once for a head, and only where asked."""

from collections.abc import Callable
from unittest.mock import patch

import pytest

from contextstudio.accounts.models import User
from operations.context import pipeline, policies, provider_checks
from operations.context.services import ContextQuery, assemble_session
from operations.domain.providers import PROVIDERS
from operations.domain.providers.request import Severity
from operations.notes import scratchpads
from tests.operations.conftest import Page
from tests.people import caller


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The providers for which something was compiled, one after the other."""
    found: list[str] = []
    compiled = pipeline.compile_request
    monkeypatch.setattr(
        pipeline,
        "compile_request",
        lambda name, draft: found.append(name) or compiled(name, draft),
    )
    return found


def test_a_check_says_what_compiling_for_its_provider_finds(page: Page) -> None:
    found = provider_checks.load_checks(page.session, list(PROVIDERS))
    assert list(found) == list(PROVIDERS)
    for provider, check in found.items():
        compiled = assemble_session(
            page.session, ContextQuery(provider=provider)
        ).compiled
        assert {hit.detail for hit in check.hits} == {
            issue.detail for issue in compiled.issues
        }
        assert check.state == max(
            (issue.severity for issue in compiled.issues),
            key=["note", "repaired", "refused"].index,
            default=Severity.NOTE,
        )


def test_it_is_compiled_once_for_a_head_and_again_for_what_it_depends_on(
    page: Page, editor: User, made: list[str]
) -> None:
    def look() -> list[str]:
        made.clear()
        page.session.refresh_from_db()
        provider_checks.load_checks(page.session, ["openai", "gemini"])
        return list(made)

    def changing(act: Callable[[], object]) -> list[str]:
        act()
        return look()

    both = ["openai", "gemini"]
    who, at = caller(editor), page.session.pk
    assert look() == both
    assert look() == []
    assert changing(lambda: page.edit("snip", targets="m4")) == both
    assert changing(lambda: scratchpads.write_scratchpad(who, at, "Look here.")) == both
    assert changing(lambda: policies.set_policy(who, at, {"window": 2})) == both
    assert changing(lambda: policies.set_policy(who, at, {"isolation": True})) == both
    assert look() == []


def test_the_page_shows_the_checks_and_each_hit_leads_to_its_message(
    page: Page,
) -> None:
    shown = page.get("provider-checks").content.decode()
    assert shown.count('class="provider-result"') == len(PROVIDERS)
    assert '<b>R1</b> <span class="dim">repaired</span>' in shown
    assert f'href="{page.url}?at=m3#n-m3" data-action="jump" data-to="m3"' in shown
    assert "accepts it with" in shown
    assert page.get("provider-checks", provider="nobody").status_code == 422


def test_beside_the_thread_is_said_that_less_of_it_is_sent(
    page: Page, editor: User
) -> None:
    said = "The policy leaves out more"
    assert said not in page.get("provider-checks").content.decode()
    policies.set_policy(caller(editor), page.session.pk, {"preset": "nexora"})
    assert said not in page.get("provider-checks").content.decode()
    policies.set_policy(caller(editor), page.session.pk, {"window": 1})
    assert said in page.get("provider-checks").content.decode()


def test_of_a_long_thread_no_provider_is_looked_at_unasked(
    page: Page, made: list[str]
) -> None:
    with patch("operations.context.pages.checks.MAX_UNASKED", 10):
        first = page.get("provider-checks").content.decode()
        assert made == []
        assert first.count("not checked yet") == len(PROVIDERS) + 1
        second = page.get("provider-checks", provider="gemini").content.decode()
    assert made == ["gemini"]
    assert second.count("not checked yet") == len(PROVIDERS) - 1
