"""What belongs to a session beside its thread: lights, policy, notes, memos."""

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browsers import Faults

from .conftest import press, row, visit

pytestmark = pytest.mark.browser

CALL = {
    "id": "call-1",
    "type": "function",
    "function": {"name": "bash", "arguments": '{"command": "ls"}'},
}
SAID = [
    {"role": "user", "content": "Look around."},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call-1", "content": "a.py"},
    {"role": "assistant", "content": "There is a.py."},
    {"role": "user", "content": "Thank you."},
]


@pytest.fixture
def session(api: httpx.Client) -> str:
    body = {"title": "Beside the thread", "messages": SAID}
    return str(api.post("/api/sessions", json=body).json()["id"])


def test_a_light_turns_with_an_edit_and_leads_to_what_it_found(
    page: Page, session: str
) -> None:
    visit(page, session)
    light = page.get_by_role("button", name="Rules of the providers")
    expect(light).to_contain_text("3 of 8 providers repaired")
    strip = page.locator("#lights-strip")
    expect(strip.get_by_role("button", name="Anthropic")).to_contain_text("accepted")
    row(page, "m2").focus()
    press(page, "s")
    expect(strip.get_by_role("button", name="Anthropic")).to_contain_text("1 repaired")
    expect(light).to_contain_text("8 of 8 providers repaired")
    light.focus()
    press(page, "Enter")
    hit = page.locator("#lamp-anthropic .hit").first
    expect(hit).to_contain_text("R1")
    hit.get_by_role("link", name="m1").click()
    expect(page.locator("#lights")).to_be_hidden()
    expect(row(page, "m1")).to_be_focused()
    page.set_viewport_size({"width": 390, "height": 844})
    expect(strip).to_be_hidden()
    light.click()
    expect(page.locator("#lamp-openai")).to_be_visible()


def test_a_policy_shows_its_effect_before_it_is_saved(
    page: Page, session: str, faults: Faults
) -> None:
    faults.expect("status of 422")
    visit(page, session)
    row(page, "m0").focus()
    press(page, "g", "p")
    effect = page.get_by_role("region", name="What it would change")
    expect(effect).to_contain_text("Not a token more or less")
    page.get_by_label("Groups that are sent").fill("1")
    expect(effect.get_by_role("row", name="Window")).to_contain_text("no step")
    expect(effect).to_contain_text("left out in 4 places")
    page.get_by_label("Groups that are sent").fill("-1")
    expect(effect).to_contain_text("greater than or equal to 0")
    page.get_by_role("link", name="slop").click()
    expect(effect.get_by_role("row", name="Truncation")).to_be_visible()
    page.get_by_role("button", name="Save for this session").click()
    expect(page.get_by_text("Saved for this session.")).to_be_visible()
    expect(page.get_by_text("this session’s own")).to_be_visible()
    press(page, "g", "c")
    expect(page.get_by_role("row", name="Truncation")).to_be_visible()
    press(page, "g", "t")
    expect(row(page, "m0")).to_be_visible()
