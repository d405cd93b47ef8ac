"""Finding words in a thread: across what is not loaded, into folds, and back again."""

import re

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import found_in
from tests.browser.conftest import conversation, press, row, visit

pytestmark = pytest.mark.browser

WORDS_SEEN = """() => {
  const [range] = CSS.highlights.get("found") ?? [];
  const { top, bottom, height } = range?.getBoundingClientRect() ?? { height: 0 };
  return height > 0 && top > 0 && bottom < innerHeight;
}"""


@pytest.fixture(scope="module")
def session(api: httpx.Client) -> str:
    """A long thread; the words of message 5, in a digest, are found nowhere but far below."""
    messages = conversation(500)
    for index in (5, 480):
        messages[index]["content"] = f"Here the Needle of {index} is."
    body = {"title": "Where is it", "messages": messages}
    made = str(api.post("/api/sessions", json=body).json()["id"])
    digest = {"type": "digest", "range": [4, 6], "summary": "Three in one."}
    assert api.post(f"/api/sessions/{made}/operations", json=digest).is_success
    return made


def test_words_are_found_wherever_they_are(page: Page, session: str) -> None:
    visit(page, session)
    press(page, "/")
    words = page.get_by_label("Find in thread", exact=True).get_by_role("searchbox")
    expect(words).to_be_focused()
    words.fill("needle")
    count = page.locator("#find-count")
    expect(count).to_have_text("1 of 2")
    expect(row(page, "m5")).to_be_in_viewport()
    expect(words).to_be_focused()
    press(page, "Enter")
    expect(count).to_have_text("2 of 2")
    expect(row(page, "m480")).to_be_in_viewport()
    press(page, "F3")
    expect(count).to_have_text("1 of 2")
    press(page, "Shift+F3")
    expect(count).to_have_text("2 of 2")
    assert found_in(page, within="#find") == []
    press(page, "Escape")
    expect(row(page, "m480")).to_be_focused()
    press(page, "/")
    expect(words).to_be_focused()
    words.fill("of nothing at all")
    expect(count).to_have_text("No matches")
    press(page, "Escape")
    expect(page.locator("#find")).to_be_hidden()
    expect(row(page, "m480")).to_be_focused()
    page.evaluate("() => scrollTo(0, 0)")
    expect(row(page, "o1")).to_be_visible()
    expect(row(page, "m5")).to_have_count(0)


def test_a_search_begins_where_one_is(page: Page, session: str) -> None:
    visit(page, session, query="#n-m300")
    expect(row(page, "m300")).to_be_in_viewport()
    press(page, "/")
    page.get_by_label("Find in thread", exact=True).get_by_role("searchbox").fill(
        "needle"
    )
    expect(page.locator("#find-count")).to_have_text("2 of 2")
    expect(row(page, "m480")).to_be_in_viewport()


def test_what_hides_the_words_is_opened(page: Page, api: httpx.Client) -> None:
    messages = conversation(30)
    lines = [f"line {number}" for number in range(400)]
    lines[300] = "the Needle is here"
    call = {"name": "bash", "arguments": "{}"}
    calls = [{"id": "c1", "type": "function", "function": call}]
    messages[20:20] = [
        {"role": "user", "content": "Where is it?"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": "\n".join(lines)},
    ]
    body = {"title": "Where is it hidden", "messages": messages}
    made = str(api.post("/api/sessions", json=body).json()["id"])
    visit(page, made)
    expect(row(page, "m22")).to_have_class(re.compile("is-brief"))
    press(page, "/")
    page.get_by_role("searchbox").fill("needle is")
    expect(page.locator("#find-count")).to_have_text("1 of 1")
    page.wait_for_function(WORDS_SEEN)
    press(page, "Escape")
    expect(row(page, "m22")).to_have_class(re.compile("is-brief"))


def test_a_line_that_is_too_short_for_the_match_in_it_is_opened(
    page: Page, api: httpx.Client
) -> None:
    instructions = "Be careful. " * 10 + "Mind the thimble. " + "Be quick. " * 60
    said = [
        {"role": "system", "content": instructions},
        {"role": "user", "content": "Begin."},
    ]
    body = {"title": "A long line", "messages": said}
    visit(page, str(api.post("/api/sessions", json=body).json()["id"]))
    brief = row(page, "m0").locator(".brief")
    expect(brief).to_contain_text("thimble")
    press(page, "/")
    page.get_by_role("searchbox").fill("thimble")
    expect(brief).to_have_count(0)
    page.wait_for_function(WORDS_SEEN)


def test_a_match_in_the_list_leads_to_its_message(page: Page, session: str) -> None:
    page.goto("/sessions/")
    press(page, "/")
    box = page.get_by_label("Search titles and messages")
    expect(box).to_be_focused()
    box.fill("needle of 480")
    press(page, "Enter")
    found = page.locator(".match-group").filter(has_text="Where is it")
    expect(found.get_by_role("heading")).to_contain_text("1 match")
    match = found.get_by_role("link", name=re.compile("#480"))
    expect(match).to_be_visible()
    assert found_in(page, within="#main") == []
    match.click()
    expect(row(page, "m480")).to_be_in_viewport()
