"""The list of sessions keeps itself current, but moves nothing that is in use."""

import uuid

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from .conftest import conversation

POLL_MS = 15_000
IS_FIRST = "row => row === document.querySelector('#sessions tr')"


def made(api: httpx.Client) -> tuple[str, str]:
    """The id and the title of a new session."""
    title = f"Tide tables {uuid.uuid4().hex[:8]}"
    body = {"title": title, "messages": conversation(6)}
    return api.post("/api/sessions", json=body).json()["id"], title


def say_more(api: httpx.Client, session: str) -> None:
    body = {"messages": [{"role": "user", "content": "One more."}]}
    assert api.post(f"/api/sessions/{session}/messages", json=body).is_success


def row_of(page: Page, title: str) -> Locator:
    return page.get_by_role("row").filter(has_text=title)


@pytest.fixture
def listed(page: Page, api: httpx.Client) -> tuple[str, str]:
    """The second session of a list that is shown, and its title."""
    found = made(api)
    made(api)
    page.clock.install()
    page.goto("/sessions/")
    expect(row_of(page, found[1])).to_be_visible()
    return found


def test_what_agents_do_shows_in_the_list_by_itself(
    page: Page, api: httpx.Client, listed: tuple[str, str]
) -> None:
    say_more(api, listed[0])
    _, new = made(api)
    page.clock.run_for(POLL_MS)
    expect(row_of(page, new)).to_be_visible()
    expect(row_of(page, listed[1]).locator(".t-count")).to_have_text("7")


def test_a_list_that_is_shown_again_is_current_at_once(
    page: Page, api: httpx.Client, listed: tuple[str, str]
) -> None:
    say_more(api, listed[0])
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(row_of(page, listed[1]).locator(".t-count")).to_have_text("7")


@pytest.mark.parametrize("use", ["pointer", "focus", "menu"])
def test_no_row_moves_while_the_list_is_in_use(
    page: Page, api: httpx.Client, listed: tuple[str, str], use: str
) -> None:
    asked: list[str] = []
    row = row_of(page, listed[1])
    if use == "focus":
        row.get_by_role("link").first.focus()
    if use == "menu":
        row.get_by_role("button").click()
        page.locator("[role=menuitem]").first.focus()
    page.clock.run_for(POLL_MS - 1000)
    page.on("request", lambda request: asked.append(request.url))
    say_more(api, listed[0])
    if use == "pointer":
        page.mouse.move(300, 300)
    page.clock.run_for(1000)
    expect(row.locator(".t-count")).to_have_text("6")
    assert asked == []
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.clock.run_for(POLL_MS)
    expect(row.locator(".t-count")).to_have_text("7")
    assert row.evaluate(IS_FIRST)


def test_what_a_search_found_stays(
    page: Page, api: httpx.Client, listed: tuple[str, str]
) -> None:
    page.goto(f"/sessions/?q={listed[1]}")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    say_more(api, listed[0])
    page.clock.run_for(POLL_MS)
    expect(row_of(page, listed[1]).locator(".t-count")).to_have_text("6")
    assert asked == []
