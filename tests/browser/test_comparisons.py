"""Two requests beside one another: stepping from change to change, wide and narrow."""

import re

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browsers import Faults

from .axe import WIDTHS, found_in
from .conftest import conversation, press

pytestmark = pytest.mark.browser

NEW = [{"role": "assistant", "content": "Anew."}]


@pytest.fixture(params=WIDTHS)
def sized(page: Page, request: pytest.FixtureRequest) -> Page:
    """The page at one of the widths that count."""
    width, height = WIDTHS[request.param]
    page.set_viewport_size({"width": width, "height": height})
    return page


@pytest.fixture(scope="module")
def changed(api: httpx.Client) -> str:
    """A session whose request differs from the originals in three places, on two pages."""
    body = {"title": "Three changes", "messages": conversation(240)}
    session = str(api.post("/api/sessions", json=body).json()["id"])
    for edit in (
        {"type": "revise", "targets": ["m4"], "replacements": NEW},
        {"type": "snip", "targets": [f"m{index}" for index in range(10, 200)]},
        {"type": "revise", "targets": ["m220"], "replacements": NEW},
    ):
        answer = api.post(f"/api/sessions/{session}/operations", json=edit)
        assert answer.is_success, answer.text
    return session


def is_at(page: Page, number: int, count: int) -> None:
    """The change has the focus, is in sight below the bar, and the bar says which it is."""
    change = page.locator(f"#change-{number}")
    expect(change).to_be_focused()
    expect(page.locator("#changes")).to_have_text(f"{number} of {count} changes")
    bar = page.locator(".pair-bar").bounding_box()
    box = change.bounding_box()
    assert bar and box
    assert bar["y"] + bar["height"] <= box["y"] < page.viewport_size["height"]  # type: ignore[index]


def test_one_steps_from_change_to_change_also_to_the_next_page(
    sized: Page, changed: str
) -> None:
    sized.goto(f"/sessions/{changed}/context?provider=openai&against=original")
    steps = sized.get_by_role("navigation", name="Changes")
    expect(steps).to_contain_text("3 changes")
    press(sized, "n")
    is_at(sized, 1, 3)
    button = steps.get_by_role("button", name="Next change")
    stands = button.bounding_box()
    button.click()
    is_at(sized, 2, 3)
    assert button.bounding_box() == stands
    button.click()
    sized.wait_for_url("**start=100*#change-3")
    is_at(sized, 3, 3)
    press(sized, "n")
    expect(sized.locator("#toasts")).to_contain_text("No next change.")
    press(sized, "p")
    is_at(sized, 2, 3)
    steps.get_by_role("button", name="Previous change").click()
    sized.wait_for_url("**start=0*#change-1")
    is_at(sized, 1, 3)
    assert found_in(sized, within="main") == []


def test_stepping_goes_on_from_what_is_in_sight(page: Page, changed: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 300})
    page.goto(f"/sessions/{changed}/context?provider=openai&against=original")
    press(page, "n")
    is_at(page, 1, 3)
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    press(page, "p")
    is_at(page, 2, 3)


def test_the_sheet_of_keys_lists_the_steps(page: Page, changed: str) -> None:
    page.goto(f"/sessions/{changed}/context?provider=openai&against=original")
    press(page, "?")
    expect(page.locator("#keys")).to_contain_text("Next marker or change")
    expect(page.locator("#keys")).to_contain_text("Previous marker or change")


def test_requests_as_they_were_sent_are_stepped_through_too(
    page: Page, api: httpx.Client
) -> None:
    body = {"title": "Two requests", "messages": conversation(12)}
    session = str(api.post("/api/sessions", json=body).json()["id"])
    for index in (2, 8):
        asked = {"messages": conversation(12)}
        assert api.post(f"/api/sessions/{session}/apply", json=asked).is_success
        edit = {"type": "revise", "targets": [f"m{index}"], "replacements": NEW}
        assert api.post(f"/api/sessions/{session}/operations", json=edit).is_success
    api.post(f"/api/sessions/{session}/apply", json={"messages": conversation(12)})
    page.goto(f"/sessions/{session}/sent?request=3")
    page.get_by_label("Compare with").fill("1")
    page.get_by_label("Compare with").press("Enter")
    expect(page.locator("#changes")).to_have_text("2 changes")
    page.locator("h1").click()
    press(page, "n", "n")
    is_at(page, 2, 2)
    assert re.search("against=1", page.url)


def test_a_request_that_there_is_not_is_not_compared_with_and_the_page_says_so(
    page: Page, api: httpx.Client, faults: Faults
) -> None:
    faults.expect("422")
    body = {"title": "Two requests", "messages": conversation(4)}
    session = str(api.post("/api/sessions", json=body).json()["id"])
    for _ in range(2):
        api.post(f"/api/sessions/{session}/apply", json={"messages": conversation(4)})
    page.goto(f"/sessions/{session}/sent")
    field, told = (
        page.get_by_label("Compare with"),
        page.locator("#sent-body [role=alert]"),
    )
    field.fill("7")
    field.press("Enter")
    expect(told).to_have_text("Compare with a request from 1 to 2.")
    field.fill("1")
    field.press("Enter")
    expect(told).to_have_count(0)
    expect(page.locator("#changed")).to_have_text("Compared with request 1")


def test_what_another_provider_comes_to_is_said(page: Page, changed: str) -> None:
    page.goto(f"/sessions/{changed}/context?provider=openai")
    page.get_by_label("Provider", exact=True).select_option("anthropic")
    said = re.compile(r"^Original tokens [\d,]+, Shown in thread [\d,]+, Sent [\d,]+$")
    expect(page.locator("#said")).to_have_text(said)
