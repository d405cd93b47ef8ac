"""Replacing and redacting words on the page: a dry run, switches, one bundle, taken back."""

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import found_in
from tests.browser.conftest import press, row, visit

BLOCK = "START_LOG one two three four five six END_LOG"
PIP = "\n".join(
    [
        f"Collecting package-{n}\n  Downloading package_{n}-1.0.whl (1 kB)"
        for n in range(8)
    ]
    + ["Successfully installed package-1"]
)
TEXTS = ["Hello", f"First {BLOCK}.", f"And {BLOCK} or {BLOCK}!", PIP, "key=hunter2"]


@pytest.fixture
def session(page: Page, api: httpx.Client) -> str:
    said = [{"role": "user", "content": text} for text in TEXTS]
    body = {"title": "A noisy thread", "messages": said}
    session = str(api.post("/api/sessions", json=body).json()["id"])
    visit(page, session)
    return session


def test_matches_are_chosen_recorded_as_a_bundle_and_taken_back(
    page: Page, session: str
) -> None:
    row(page, "m1").focus()
    press(page, "r")
    page.get_by_role("textbox", name="Text, or its start").fill("START_LOG")
    page.get_by_role("textbox", name="End of the text").fill("END_LOG")
    page.get_by_role("textbox", name="Replacement").fill("[log]")
    press(page, "Control+Enter")
    title = page.locator("#matches-title")
    expect(title).to_contain_text("3 matches in 2 messages")
    expect(title).to_be_focused()
    assert found_in(page, within="#dialog") == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert found_in(page, within="#dialog") == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("#dialog .hit input").nth(1).uncheck()
    press(page, "Control+Enter")
    expect(page.locator("dialog[open]")).to_have_count(0)
    expect(row(page, "m1")).to_contain_text("First [log].")
    expect(row(page, "m2")).to_contain_text(f"And {BLOCK} or [log]!")
    expect(page.locator("#operations-count")).to_have_text("2")
    press(page, "Control+z")
    expect(row(page, "m1")).to_contain_text(f"First {BLOCK}.")
    expect(row(page, "m2")).to_contain_text(f"or {BLOCK}!")


def test_picked_words_are_redacted_and_a_suggestion_is_taken(
    page: Page, session: str
) -> None:
    row(page, "m4").get_by_text("key=hunter2").dblclick(position={"x": 12, "y": 8})
    press(page, "r")
    expect(page.get_by_role("combobox", name="Action")).to_have_value("redact")
    expect(page.get_by_role("textbox", name="Text, or its start")).not_to_have_value("")
    assert found_in(page, within="#dialog") == []
    press(page, "Control+Enter")
    expect(page.locator("#matches-title")).to_contain_text("1 match in 1 message")
    press(page, "Control+Enter")
    expect(row(page, "m4")).to_contain_text("[redacted]")
    row(page, "m0").focus()
    page.evaluate("getSelection().removeAllRanges()")
    press(page, "r")
    page.get_by_role("button", name="pip output").click()
    expect(page.locator("#matches-title")).to_contain_text("1 match in 1 message")
    press(page, "Control+Enter")
    expect(row(page, "m3")).to_contain_text("[pip output, 17 lines")
