"""Staging by keys: two edits are collected, and committed together."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import found_in
from tests.browser.conftest import OpenThread, keys_on_sheet, press, row, snip
from tests.browsers import Faults

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
    assert commands_for(page, "staged edits") == [
        "Commit staged edits",
        "Discard staged edits",
    ]
    page.get_by_role("button", name="Commit 2").press("Enter")
    expect(staged).to_have_count(0)
    assert commands_for(page, "staged edits") == []
    expect(row(page, "o1")).to_be_visible()
    assert not {"m3", "m4", "m8"} & set(keys_on_sheet(page))
    assert page.evaluate("() => document.activeElement !== document.body")
    press(page, "Control+z")  # one entry: all of it waits again
    expect(staged.get_by_role("listitem")).to_have_count(2)
    page.get_by_role("button", name="Discard").click()
    expect(staged).to_have_count(0)
    assert {"m3", "m4", "m8"} <= set(keys_on_sheet(page))


def test_while_staging_is_on_a_dialog_offers_to_stage_and_nothing_else(
    page: Page, open_thread: OpenThread, faults: Faults
) -> None:
    faults.expect("422")
    open_thread(30)
    press(page, "S")
    row(page, "m8").focus()
    press(page, "d")
    page.get_by_role("textbox", name="What the model sees").fill(" ")
    sending = page.locator("#dialog .dialog-foot [type=submit]")
    expect(sending).to_have_text(["StageCtrl ↵"])
    press(page, "Control+Enter")  # refused: a space is no summary
    expect(page.locator("#dialog [aria-invalid=true]")).to_be_focused()
    expect(sending).to_have_text(["StageCtrl ↵"])
    page.get_by_role("textbox", name="What the model sees").fill("")
    press(page, "Escape", "S", "d")
    expect(sending).to_have_text(["DigestCtrl ↵", "Stage"])


def test_a_move_that_waits_is_not_announced_as_done(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(30)
    press(page, "S")
    row(page, "m8").focus()
    press(page, "Alt+ArrowUp")
    expect(page.get_by_role("region", name="Staged")).to_contain_text("Move o1")
    expect(page.locator("#said")).to_have_text("Move #8 after #6 staged.")
    expect(row(page, "m8")).to_be_focused()
    assert keys_on_sheet(page)[6:9] == ["m6", "m7", "m8"]


def test_a_staged_move_goes_further_with_each_press_and_back_to_nothing(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(30)
    press(page, "S")
    row(page, "m8").focus()
    press(page, "Alt+ArrowUp", "Alt+ArrowUp", "Alt+ArrowUp")  # faster than any answer
    staged = page.get_by_role("region", name="Staged")
    expect(staged).to_contain_text("#8 after #4")
    expect(staged.get_by_role("listitem")).to_have_count(1)
    press(page, "Alt+ArrowDown")
    expect(staged).to_contain_text("#8 after #5")
    press(page, "Control+z")
    expect(staged).to_contain_text("#8 after #4")
    press(page, *["Alt+ArrowDown"] * 4)
    expect(staged).to_contain_text("#8 after #9")  # past where it stands
    expect(staged.get_by_role("listitem")).to_have_count(1)
    press(page, "Alt+ArrowUp")
    expect(staged).to_have_count(0)
    assert keys_on_sheet(page)[7:10] == ["m7", "m8", "m9"]


def test_a_selection_is_moved_on_with_each_press(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(30)
    row(page, "m8").focus()
    press(page, "x", "Shift+ArrowDown")
    expect(page.locator("#selection")).to_contain_text("2 messages")
    press(page, "Alt+ArrowUp", "Alt+ArrowUp")
    page.wait_for_function(
        "() => document.querySelectorAll('.chunk > article')[6]?.dataset.key === 'm8'"
    )
    assert keys_on_sheet(page)[5:11] == ["m5", "m8", "m9", "m6", "m7", "m10"]


def test_what_staged_edits_come_to_is_not_said_of_more_or_fewer_of_them(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(30)
    press(page, "S")
    row(page, "m8").focus()
    snip(page)
    staged = page.get_by_role("region", name="Staged")
    together = staged.locator("[data-late=staged]")
    expect(together).to_contain_text("per turn")
    page.route("**/ledger*", lambda route: route.abort())
    row(page, "m12").focus()
    snip(page)
    expect(staged.get_by_role("listitem")).to_have_count(2)
    expect(together).to_have_text("")


def commands_for(page: Page, words: str) -> list[str]:
    """The commands that the palette offers for these words."""
    press(page, "Control+k")
    page.locator("#palette-input").fill(words)
    offered = page.locator("#palette-list [role=option]").all_text_contents()
    press(page, "Escape")
    return offered


def test_what_was_committed_together_is_one_row_and_switched_as_one(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(30)
    press(page, "S")
    staged = page.get_by_role("region", name="Staged")
    for count, key in enumerate(("m3", "m8"), start=1):
        row(page, key).focus()
        snip(page)
        expect(staged.get_by_role("listitem")).to_have_count(count)
    page.get_by_role("button", name="Commit 2").press("Enter")
    bundle = page.locator(".op-bundle")
    expect(bundle).to_contain_text("2 operations")
    bundle.get_by_text("One by one").click()
    expect(bundle.get_by_role("listitem")).to_have_count(2)
    assert found_in(page, within=".drawer") == []
    bundle.get_by_role("button", name=re.compile(r"^On ?, Snip")).click()
    expect(row(page, "m3")).to_be_visible()
    expect(row(page, "m8")).to_be_visible()
    off = bundle.get_by_role("button", name=re.compile(r"^Off ?, Snip"))
    expect(off).to_be_focused()
    expect(bundle.get_by_role("listitem")).to_have_count(2)  # it stays open
    page.locator(".panel-bar").get_by_text("On", exact=True).click()
    expect(bundle).to_be_hidden()
