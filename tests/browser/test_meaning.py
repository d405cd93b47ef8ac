"""The list of sessions where messages can be searched by meaning."""

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.servers import PATIENCE_SECONDS, Server, started_copy

from .axe import found_wide_and_narrow, sizes_of
from .conftest import cookies_of, press, row, visit

pytestmark = [pytest.mark.browser, pytest.mark.meaning]
LOCKED = "SQLite raises OperationalError: another process holds the write lock"
QUESTION = "the database is locked when two workers write"


@pytest.fixture(scope="module")
def server(
    first_start: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONTEXTSTUDIO_MEANING_SEARCH", "1")
        yield from started_copy(first_start, tmp_path_factory.mktemp("meaning"))


@pytest.fixture(scope="module")
def signed_in(server: Server) -> dict[str, object]:
    return cookies_of(server)


@pytest.fixture(scope="module")
def session(server: Server) -> str:
    headers = {"Authorization": f"Bearer {server.key()}"}
    texts = [LOCKED, "We had soup for lunch", "Changed the colours of the dark theme"]
    body = {
        "title": "Workers",
        "messages": [{"role": "user", "content": text} for text in texts],
    }
    with httpx.Client(headers=headers, timeout=PATIENCE_SECONDS) as client:
        answer = client.post(f"{server.url}/api/sessions", json=body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def set_objective(server: Server, session: str, objective: str) -> None:
    headers = {"Authorization": f"Bearer {server.key()}"}
    with httpx.Client(headers=headers, timeout=PATIENCE_SECONDS) as client:
        address = f"{server.url}/api/sessions/{session}"
        client.patch(address, json={"objective": objective}).raise_for_status()


def test_a_message_is_found_by_what_it_is_about(page: Page, session: str):
    page.goto("/sessions/")
    page.get_by_label("Search titles and messages").fill(QUESTION)
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.locator("#matches")).to_contain_text("No matching messages.")
    page.get_by_label("By meaning").check()
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.get_by_label("By meaning")).to_be_checked()
    first = page.locator("#matches .match").first
    expect(first).to_contain_text("another process holds the write lock")
    expect(first).to_contain_text("0.5")
    assert found_wide_and_narrow(page) == []
    for look in sizes_of(page):
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, look
    first.get_by_role("link").click()
    expect(page).to_have_url(
        f"{page.url.split('/sessions/')[0]}/sessions/{session}/#n-m0"
    )


def test_a_thread_is_gone_through_by_what_is_relevant(
    page: Page, server: Server, session: str
):
    set_objective(server, session, "Make the colours of the theme nicer")
    visit(page, session)
    press(page, "/")
    bar = page.get_by_role("search", name="Find in thread")
    bar.get_by_label("By meaning").check()
    count = page.locator("#find-count")
    expect(count).to_contain_text("1 of 1 · 0.")
    expect(row(page, "m2")).to_be_in_viewport()
    bar.get_by_role("searchbox").fill(QUESTION)
    expect(count).to_contain_text("1 of 1 · 0.5")
    expect(row(page, "m0")).to_be_in_viewport()
    assert found_wide_and_narrow(page) == []
    for look in sizes_of(page):
        expect(bar, look).to_be_in_viewport(ratio=1)
    bar.get_by_label("By meaning").uncheck()
    expect(count).to_have_text("No matches")


def test_rows_say_how_relevant_they_are(page: Page, server: Server, session: str):
    set_objective(server, session, "Make the colours of the theme nicer")
    visit(page, session)
    figures = page.locator("#feed .relevance")
    expect(figures).to_have_count(0)
    page.get_by_role("button", name="Export").click()
    toggle = page.get_by_role("button", name="Show relevance to the objective")
    toggle.click()
    expect(figures).to_have_count(3)
    label = re.compile(r"Relevance to the objective: 0\.\d\d")
    expect(row(page, "m2").get_by_role("img", name=label)).to_be_visible()
    page.reload()
    expect(figures).to_have_count(3)
    assert found_wide_and_narrow(page) == []
    for look in sizes_of(page):
        tokens = row(page, "m2").locator(".tok").bounding_box()
        figure = row(page, "m2").locator(".relevance").bounding_box()
        assert tokens is not None
        assert figure is not None
        assert (
            figure["x"] >= tokens["x"] + tokens["width"]
            or tokens["x"] >= figure["x"] + figure["width"]
        ), look
    page.goto(f"/sessions/{session}/prune?show=all")
    column = page.get_by_role("columnheader", name="Relevance")
    for look in sizes_of(page):
        expect(column).to_have_count(1 if look == "wide" else 0)
    assert found_wide_and_narrow(page) == []
    visit(page, session)
    page.get_by_role("button", name="Export").click()
    expect(toggle).to_have_attribute("aria-pressed", "true")
    toggle.click()
    expect(figures).to_have_count(0)
