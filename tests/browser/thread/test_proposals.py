"""Deciding on proposals with the keyboard, in the thread and in the drawer."""

from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import OpenThread, press, row
from tests.browsers import Faults

pytestmark = pytest.mark.browser


def record(api: httpx.Client, session: str, path: str, body: dict[str, Any]) -> None:
    answer = api.post(f"/api/sessions/{session}/{path}", json=body)
    assert answer.status_code == 201, answer.text


def test_of_a_bundle_that_does_not_fit_the_others_are_accepted_by_key(
    page: Page, open_thread: OpenThread, api: httpx.Client, faults: Faults
) -> None:
    faults.expect("409")
    session = open_thread()
    record(api, session, "operations", {"type": "snip", "range": [10, 12]})
    edits = [
        {"type": "snip", "range": [at, at + 1], "propose": True} for at in (4, 9, 20)
    ]
    record(api, session, "bundles", {"title": "Tidy up", "operations": edits})
    note = row(page, "m4").locator(".flat--bundle")
    expect(note).to_contain_text("3 operations")
    row(page, "m4").focus()
    press(page, "a")
    dialog = page.get_by_role("dialog", name="1 of 3 can't be accepted")
    expect(dialog).to_contain_text("It would cut through snip o1.")
    expect(dialog.get_by_role("button", name="Accept the other 2")).to_be_focused()
    press(page, "Escape")
    expect(dialog).to_be_hidden()
    expect(row(page, "m4")).to_be_focused()
    press(page, "a")
    expect(dialog.get_by_role("button", name="Accept the other 2")).to_be_focused()
    press(page, "Enter")
    expect(row(page, "o2")).to_be_visible()
    expect(page.locator("#toasts")).to_contain_text("Still waiting: snip o3.")
    expect(row(page, "m9").locator(".flat--proposed")).to_contain_text("Accept snip o3")


def test_a_proposal_that_would_cut_through_a_fold_is_widened_from_its_refusal(
    page: Page, open_thread: OpenThread, api: httpx.Client, faults: Faults
) -> None:
    faults.expect("409")
    session = open_thread()
    record(api, session, "operations", {"type": "snip", "range": [10, 12]})
    edit = {"type": "digest", "range": [9, 10], "summary": "Two", "propose": True}
    record(api, session, "operations", edit)
    expect(row(page, "m9").locator(".flat--proposed")).to_be_visible()
    row(page, "m9").focus()
    press(page, "a")
    widen = page.get_by_role("button", name="Widen to #9–#12")
    expect(widen).to_be_focused()
    press(page, "Enter")
    expect(page.locator("dialog[open]")).to_have_count(0)
    expect(row(page, "o4")).to_contain_text("Two")
    expect(row(page, "o4")).to_be_focused()


def test_the_keys_go_through_what_stands_beside_the_thread_without_moving_it(
    page: Page, open_thread: OpenThread, api: httpx.Client
) -> None:
    session = open_thread(60)
    for at in range(0, 40, 4):
        edit = {"type": "snip", "range": [at, at], "propose": True}
        record(api, session, "operations", edit)
    expect(page.locator("#drawer .decision")).to_have_count(10)
    row(page, "m20").evaluate("(one) => one.scrollIntoView({ block: 'center' })")
    page.locator("#tab-operations").evaluate(
        "(one) => one.focus({ preventScroll: true })"
    )
    before = page.evaluate("scrollY")
    for _ in range(40):
        press(page, "Tab")
        assert page.evaluate("scrollY") == before
    assert page.evaluate("!document.activeElement.closest('#drawer')")


def test_after_a_decision_in_the_drawer_the_next_has_the_focus(
    page: Page, open_thread: OpenThread, api: httpx.Client
) -> None:
    session = open_thread()
    edits = [{"type": "snip", "range": [at, at], "propose": True} for at in (2, 6, 10)]
    record(api, session, "bundles", {"title": "Tidy up", "operations": edits})
    for at in (14, 18):
        edit = {"type": "snip", "range": [at, at], "propose": True}
        record(api, session, "operations", edit)
    drawer = page.locator("#drawer")
    expect(drawer.locator("#d-o5")).to_be_visible()
    drawer.get_by_role("button", name="Accept snip o5").focus()
    press(page, "Enter")
    expect(drawer.locator("#d-o4")).to_be_focused()
    press(page, "A")
    bundle = drawer.locator(".decision[data-bundle]")
    expect(bundle).to_be_focused()
    drawer.get_by_text("One by one").click()
    drawer.get_by_role("button", name="Reject snip o2").focus()
    press(page, "Enter")
    expect(drawer.locator("#d-o1")).to_be_focused()
    expect(bundle).to_contain_text("Accept all 2")
    bundle.focus()
    press(page, "a")
    expect(drawer.locator("#panel-operations")).to_be_focused()
    expect(row(page, "o1")).to_be_visible()
    expect(row(page, "o2")).to_have_count(0)
    expect(row(page, "o3")).to_be_visible()


def test_a_late_answer_leaves_what_is_said_of_later_proposals(
    page: Page, open_thread: OpenThread, api: httpx.Client
) -> None:
    session = open_thread()
    held: list[Route] = []
    page.route(
        "**/ledger", lambda route: route.continue_() if held else held.append(route)
    )
    with page.expect_request("**/ledger"):
        edit = {"type": "snip", "range": [4, 5], "propose": True}
        record(api, session, "operations", edit)
    edit = {"type": "snip", "range": [9, 10], "propose": True}
    record(api, session, "operations", edit)
    line = page.locator('#drawer [data-late="o2"]')
    expect(line).to_contain_text("per turn")
    with page.expect_response("**/ledger") as late:
        held[0].fulfill(body='<p data-late="o1">Late</p>', content_type="text/html")
    late.value.finished()
    page.evaluate("() => new Promise((go) => setTimeout(go))")
    assert "per turn" in line.inner_text()


def test_the_text_of_a_proposal_is_edited_by_keys_before_it_is_accepted(
    page: Page, open_thread: OpenThread, api: httpx.Client
) -> None:
    session = open_thread()
    digest = {"type": "digest", "range": [4, 6], "summary": "Wrong.", "propose": True}
    record(api, session, "operations", digest)
    waiting = page.locator("#d-o1")
    waiting.get_by_role("button", name="Edit text… of digest o1").focus()
    press(page, "Enter")
    dialog = page.get_by_role("dialog", name="Edit digest")
    expect(dialog.locator("textarea")).to_be_focused()
    press(page, "Control+a")
    page.keyboard.insert_text("Right.")
    press(page, "Control+Enter")
    expect(row(page, "m4").locator(".flat--proposed")).to_contain_text("Right.")
    expect(waiting.get_by_role("button", name="Edit text…")).to_be_focused()
    waiting.get_by_role("button", name="Accept").focus()
    press(page, "Enter")
    expect(row(page, "o1")).to_contain_text("Right.")
