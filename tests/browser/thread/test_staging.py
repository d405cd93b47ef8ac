"""Staging by keys: two edits are collected, and committed together."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import found_in
from tests.browser.conftest import OpenThread, keys_on_sheet, press, row, snip

pytestmark = pytest.mark.browser


def test_two_edits_are_staged_and_committed_together(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(30)
    row(page, "m3").focus()
    press(page, "x", "Shift+ArrowDown", "d")
    page.get_by_role("textbox", name="What the model sees instead").fill("Two in one.")
    page.get_by_role("button", name="Stage", exact=True).last.press("Enter")
    staged = page.get_by_role("region", name="Staged")
    expect(staged.get_by_role("listitem")).to_have_count(1)
    row(page, "m8").focus()
    press(page, "S")  # from now on all is staged
    snip(page)
    expect(staged.get_by_role("listitem")).to_have_count(2)
    toggle = page.locator(".panel-bar [data-action=staging]")
    expect(toggle).to_have_attribute("aria-pressed", "true")
    assert {"m3", "m4", "m8"} <= set(keys_on_sheet(page))
    expect(staged.locator("[data-late=staged]")).to_contain_text("per turn")
    assert found_in(page, within=".drawer") == []
    page.get_by_role("button", name="Commit 2").press("Enter")
    expect(staged).to_have_count(0)
    expect(row(page, "o1")).to_be_visible()
    assert not {"m3", "m4", "m8"} & set(keys_on_sheet(page))
    assert page.evaluate("() => document.activeElement !== document.body")
    press(page, "Control+z")  # one entry: all of it waits again
    expect(staged.get_by_role("listitem")).to_have_count(2)
    page.get_by_role("button", name="Discard").click()
    expect(staged).to_have_count(0)
    assert {"m3", "m4", "m8"} <= set(keys_on_sheet(page))
