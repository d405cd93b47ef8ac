"""The archive's pages in a browser: with a keyboard alone, wide and narrow, in both themes."""

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.archive.pruning.conftest import WORK

from .axe import found_in
from .conftest import press, visit

pytestmark = pytest.mark.browser
WIDTHS = {"wide": (1440, 900), "narrow": (390, 844)}


@pytest.fixture(params=WIDTHS)
def sized(page: Page, request: pytest.FixtureRequest) -> Page:
    """The page at one of the widths that count."""
    width, height = WIDTHS[request.param]
    page.set_viewport_size({"width": width, "height": height})
    return page


@pytest.fixture
def pruned(api: httpx.Client) -> str:
    """A session of an agent's work, pruned."""
    body = {"title": "Mend the parser", "messages": WORK}
    session = str(api.post("/api/sessions", json=body).json()["id"])
    assert api.post(f"/api/sessions/{session}/prune", json={}).is_success
    return session


def test_a_tray_is_filled_and_inserted_with_the_keyboard(
    sized: Page, pruned: str
) -> None:
    sized.goto(f"/sessions/{pruned}/archive")
    for _ in range(2):
        sized.get_by_role("button", name="Add to tray").first.focus()
        press(sized, "Enter")
        expect(sized.locator(":focus")).to_have_text("tray")
    assert found_in(sized) == []
    visit(sized, pruned)
    link = sized.locator("a.recall").first
    link.focus()
    press(sized, "Enter")
    expect(sized.locator(".recalled")).to_contain_text("tokens")
    sized.goto(f"/sessions/{pruned}/archive")
    tray = sized.get_by_role("region", name="Tray")
    expect(tray).to_contain_text("2 entries")
    tray.get_by_role("button", name="Remove").first.focus()
    press(sized, "Enter")
    expect(tray).to_contain_text("1 entry")
    tray.get_by_role("button", name="Insert into the thread").focus()
    press(sized, "Enter")
    sized.wait_for_url("**/?at=o*")
    expect(sized.locator("#toasts")).to_contain_text("Inserted 1 entry")
    expect(sized.locator(".inserted")).to_contain_text("From the archive")
