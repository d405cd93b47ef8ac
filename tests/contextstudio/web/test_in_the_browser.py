"""The pages of the platform itself, in a real browser under the real policy."""

import pytest
from playwright.sync_api import Page, expect

from tests.browsers import Faults
from tests.servers import Server

pytestmark = pytest.mark.browser


def test_the_description_of_the_api_opens_under_the_policy(page: Page) -> None:
    page.goto("/api/docs")
    expect(page.get_by_text("/api/jobs/{job_id}", exact=True)).to_be_visible()


def test_the_description_of_the_api_is_dark_where_the_system_or_the_theme_is(
    page: Page, server: Server
) -> None:
    root = page.locator("html")
    page.emulate_media(color_scheme="dark")
    page.goto("/api/docs")
    expect(root).to_have_class("dark-mode")
    page.emulate_media(color_scheme="light")
    expect(root).not_to_have_class("dark-mode")
    page.context.add_cookies([{"name": "theme", "value": "dark", "url": server.url}])
    page.reload()
    expect(root).to_have_class("dark-mode")


def test_a_key_is_made_shown_once_and_revoked(page: Page) -> None:
    page.goto("/settings/keys/")
    page.get_by_label("Name").fill("My agent")
    page.get_by_role("button", name="Create key").click()
    expect(page.get_by_text("cs_").first).to_be_visible()
    page.goto("/settings/keys/")
    expect(page.get_by_text("My agent").first).to_be_visible()
    page.get_by_role("link", name="My agent").click()
    page.get_by_text("Revoke key…").click()
    expect(page.get_by_text("This can't be undone.")).to_be_visible()
    page.get_by_role("button", name="Revoke key").click()
    page.goto("/settings/keys/")
    expect(page.get_by_text("My agent")).to_have_count(0)


def test_a_page_after_another_asks_for_no_file_that_both_have(page: Page) -> None:
    page.goto("/imports/")
    page.goto("/settings/keys/")
    asked: dict[str, int] = page.evaluate(
        "() => Object.fromEntries(performance.getEntriesByType('resource')"
        ".map((file) => [file.name.split('/static/').pop().slice(13), file.transferSize]))"
    )
    assert asked["css/pages/keys.css"] > 0
    for shared in ("css/base/tokens.css", "js/page.js", "js/base/toast.js"):
        assert asked[shared] == 0


def test_a_wrong_password_is_said_and_the_name_is_kept(
    page: Page, faults: Faults, server: Server
) -> None:
    faults.expect("status of 401")
    page.context.clear_cookies()
    page.goto("/sign-in")
    page.get_by_label("Name").fill("owner")
    page.get_by_label("Password").fill("guess")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("The username or the password is wrong.")).to_be_visible()
    expect(page.get_by_label("Name")).to_have_value("owner")


def test_what_the_policy_forbids_is_reported_and_does_not_run(
    page: Page, faults: Faults
) -> None:
    faults.expect("Content Security Policy")
    faults.expect("a CSP report")
    page.goto("/sign-in")
    with page.expect_response("**/csp-report"):
        page.evaluate(
            "document.body.append(Object.assign(document.createElement('script'),"
            " {textContent: 'document.title = \"ran\"'}))"
        )
    assert page.title() != "ran"
