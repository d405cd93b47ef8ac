"""Titles that run from right to left, in the lists where they stand among others."""

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from .axe import WIDTHS

pytestmark = pytest.mark.browser

TITLE = "הזמנות לילה"
BEGINS = """(element) => {
  const words = document.createRange();
  words.selectNodeContents(element);
  return words.getBoundingClientRect().left - element.getBoundingClientRect().left;
}"""
"""How far what is read in an element stands from its left edge."""


@pytest.fixture(params=WIDTHS)
def sized(page: Page, request: pytest.FixtureRequest) -> Page:
    """The page at one of the widths that count."""
    width, height = WIDTHS[request.param]
    page.set_viewport_size({"width": width, "height": height})
    return page


def begins_at_the_left(words: Locator) -> None:
    """It begins where its column does, though it is read from right to left."""
    expect(words).to_be_visible()
    assert words.evaluate("(element) => getComputedStyle(element).direction") == "rtl"
    assert words.evaluate(BEGINS) < 1


def test_a_title_begins_where_its_column_does(sized: Page, api: httpx.Client) -> None:
    messages = [{"role": "user", "content": TITLE}]
    body = {"title": TITLE, "messages": messages}
    kept, gone = (api.post("/api/sessions", json=body).json()["id"] for _ in range(2))
    assert api.delete(f"/api/sessions/{gone}").is_success

    sized.goto("/sessions/")
    begins_at_the_left(sized.locator(f"a.session-title[href*='{kept}']"))
    sized.goto(f"/sessions/?q={TITLE.split()[0]}")
    begins_at_the_left(sized.locator(".match-text").first)
    sized.goto("/sessions/deleted")
    begins_at_the_left(sized.locator(".session-title", has_text=TITLE).first)
    sized.goto("/imports/")
    content = (
        f'{{"title": "{TITLE}", "messages": [{{"role": "user", "content": "a"}}]}}'
    )
    file = {"file": (f"{TITLE}.json", content.encode(), "application/json")}
    assert api.post("/api/sessions/import", files=file).is_success
    sized.reload()
    sized.locator("a.session-title", has_text=TITLE).first.click()
    begins_at_the_left(sized.locator("a.session-title").first)
