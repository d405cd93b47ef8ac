"""Pages with lists and forms: what can be pressed in a row, and where a refusal is shown."""

import json
import re

import httpx
from playwright.sync_api import Page, expect

from tests.browsers import Faults

from .conftest import conversation

ASK_AGAIN = """() => htmx.ajax(
  "GET", "/settings/jobs/?status=&cursor=", { target: "#jobs", swap: "outerHTML" })"""
"""As the table does by itself while a job runs."""

UNDER_BUTTON = """row => {
  const cell = row.lastElementChild;
  cell.innerHTML = '<button class="button button--small" type="button">Retry</button>';
  const { x, y, width, height } = cell.firstElementChild.getBoundingClientRect();
  return document.elementFromPoint(x + width / 2, y + height / 2).textContent;
}"""


def test_the_link_of_a_title_covers_no_other_link_of_its_row(
    page: Page, api: httpx.Client
) -> None:
    file = ("twice.json", json.dumps({"messages": conversation(23)}))
    made = [
        api.post("/api/sessions/import", files={"file": file}).json() for _ in range(2)
    ]
    page.goto(f"/imports/{made[1]['import_id']}/")
    page.get_by_role("link", name="the import of").click()
    expect(page).to_have_url(re.compile(made[0]["import_id"]))


def test_the_link_of_a_job_covers_no_button(page: Page, api: httpx.Client) -> None:
    session = api.post("/api/sessions", json={"messages": conversation(12)}).json()
    order = {"start": 6, "end": 9, "propose": True, "provider": "rules"}
    path = f"/api/sessions/{session['id']}/summaries"
    assert api.post(path, json=order).is_success
    page.goto("/settings/jobs/?status=done")
    row = page.locator("tr:has(a.session-title)").first
    while not row.count():  # nobody waits for it to be done
        page.reload()
    assert row.evaluate(UNDER_BUTTON) == "Retry"


def test_the_focus_stays_on_the_link_of_a_job_while_the_table_is_asked_for_again(
    page: Page, api: httpx.Client
) -> None:
    order = {"start": 6, "end": 9, "propose": True, "provider": "rules"}
    made = [
        api.post("/api/sessions", json={"messages": conversation(12)}).json()["id"]
        for _ in range(2)
    ]
    for session in made:
        assert api.post(f"/api/sessions/{session}/summaries", json=order).is_success
    page.goto("/settings/jobs/")
    link = page.locator(f"a.session-title[href*='{made[0]}']")
    link.focus()
    page.evaluate(ASK_AGAIN)
    expect(link).to_be_focused()


def test_a_refused_form_is_shown_with_the_focus_in_what_is_wrong(
    page: Page, faults: Faults
) -> None:
    faults.expect("422")
    page.set_viewport_size({"width": 1000, "height": 300})
    page.goto("/settings/keys/")
    page.get_by_label("Name", exact=True).fill("too late")
    page.get_by_label("Expires").fill("2020-01-01T00:00")
    page.get_by_role("button", name="Create key").click()
    expect(page.get_by_text("This time is in the past.")).to_be_in_viewport()
    expect(page.get_by_label("Expires")).to_be_focused()


def test_a_key_just_made_is_shown_though_its_form_is_far_below(
    page: Page, api: httpx.Client
) -> None:
    for number in range(9):
        key = {"name": f"agent {number}", "project": "demo", "scopes": ["read"]}
        assert api.post("/api/keys", json=key).is_success
    page.goto("/settings/keys/")
    page.get_by_role("link", name="Create a key").click()
    page.get_by_label("Name", exact=True).fill("one more")
    page.keyboard.press("Enter")
    expect(page.locator("#made-key")).to_be_in_viewport()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Copy").first).to_be_focused()


def test_the_link_of_an_invitation_has_the_focus_before_it(page: Page) -> None:
    page.goto("/settings/projects/demo/#invite")
    page.get_by_role("button", name="Create link").click()
    expect(page.locator("#made-link")).to_be_in_viewport()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Copy").first).to_be_focused()
