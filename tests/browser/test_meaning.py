"""The list of sessions where messages can be searched by meaning."""

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.servers import PATIENCE_SECONDS, Server, started_copy

from .axe import found_in
from .conftest import press, row, visit

pytestmark = pytest.mark.browser
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
    with httpx.Client(timeout=PATIENCE_SECONDS) as client:
        server.sign_in(client)
        cookies = [
            {"name": name, "value": value, "domain": "127.0.0.1", "path": "/"}
            for name, value in client.cookies.items()
        ]
    return {"cookies": cookies, "origins": []}


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


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_message_is_found_by_what_it_is_about(
    page: Page, session: str, width: int, theme: str
):
    page.set_viewport_size({"width": width, "height": 844})
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
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
    assert found_in(page) == []
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0
    first.get_by_role("link").click()
    expect(page).to_have_url(
        f"{page.url.split('/sessions/')[0]}/sessions/{session}/#n-m0"
    )


@pytest.mark.parametrize("width", [1440, 390])
def test_a_thread_is_gone_through_by_what_is_relevant(
    page: Page, server: Server, session: str, width: int
):
    headers = {"Authorization": f"Bearer {server.key()}"}
    objective = {"objective": "Make the colours of the theme nicer"}
    with httpx.Client(headers=headers, timeout=PATIENCE_SECONDS) as client:
        client.patch(f"{server.url}/api/sessions/{session}", json=objective)
    page.set_viewport_size({"width": width, "height": 844})
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
    assert found_in(page) == []
    box = bar.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    bar.get_by_label("By meaning").uncheck()
    expect(count).to_have_text("No matches")
