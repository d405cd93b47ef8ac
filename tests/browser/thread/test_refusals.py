"""What somebody is told when a request fails: where they look, and what they wrote still there."""

import json
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.browser.conftest import OpenThread, press, row, visit
from tests.browsers import Faults

pytestmark = pytest.mark.browser

PROBLEM = json.dumps({"status": 429, "detail": "This key may send 60 requests."})
NOTICE = '<div class="toast toast--error"><p>The database can\'t be used.</p></div>'
GATEWAY = "<html><body><h1>502 Bad Gateway</h1></body></html>"
Answer = Callable[[Route], None]


def fails(status: int, kind: str, body: str) -> Answer:
    """An answer that refuses."""
    return lambda route: route.fulfill(status=status, content_type=kind, body=body)


FAILURES: dict[str, tuple[Answer, str]] = {
    "no server": (lambda route: route.abort(), "Can't reach the server."),
    "a gateway": (fails(502, "text/html", GATEWAY), "couldn't answer (502)"),
    "a problem": (fails(429, "application/problem+json", PROBLEM), "may send 60"),
    "a notice": (fails(503, "text/html", NOTICE), "The database can't be used."),
}


@pytest.fixture(autouse=True)
def _expected(faults: Faults) -> None:
    """The browser itself logs requests that fail, and htmx does."""
    for words in ("Failed to load", "htmx:", "Response Status Error"):
        faults.expect(words)


@pytest.mark.parametrize("failure", FAILURES)
def test_a_dialog_that_could_not_be_sent_says_why_and_keeps_what_was_written(
    page: Page, open_thread: OpenThread, failure: str
) -> None:
    answer, sentence = FAILURES[failure]
    page.route("**/operations", answer)
    open_thread(12)
    row(page, "m3").focus()
    press(page, "d")
    words = page.get_by_role("textbox", name="What the model sees instead")
    words.fill("Words that took an hour.")
    press(page, "Control+Enter")
    expect(page.locator("#dialog").get_by_role("alert")).to_contain_text(sentence)
    expect(words).to_have_value("Words that took an hour.")
    expect(page.get_by_role("button", name="Digest Ctrl ↵")).to_be_enabled()
    page.unroute("**/operations")
    press(page, "Control+Enter")
    expect(row(page, "o1")).to_be_visible()


@pytest.mark.parametrize("failure", FAILURES)
def test_a_key_whose_request_failed_is_answered_by_one_notice(
    page: Page, open_thread: OpenThread, failure: str
) -> None:
    answer, sentence = FAILURES[failure]
    page.route("**/undo", answer)
    open_thread(12)
    row(page, "m3").focus()
    press(page, "Control+z")
    notice = page.locator("#toasts .toast--error")
    expect(notice).to_contain_text(sentence)
    with page.expect_request("**/undo"):
        press(page, "Control+z")
    expect(notice).to_have_count(1)


def test_a_dialog_that_could_not_be_opened_says_why(
    page: Page, open_thread: OpenThread
) -> None:
    page.route("**/dialogs/**", FAILURES["a problem"][0])
    open_thread(12)
    row(page, "m3").focus()
    press(page, "d")
    expect(page.locator("#toasts")).to_contain_text("may send 60")


def test_a_dialog_says_that_it_estimates_and_stops_where_it_can_not(
    page: Page, open_thread: OpenThread
) -> None:
    waiting: list[Route] = []
    page.route("**/estimate", lambda route: waiting.append(route))
    open_thread(12)
    row(page, "m3").focus()
    press(page, "s")
    estimate = page.locator("#dialog .estimate")
    expect(estimate).to_have_text("Estimating…")
    page.wait_for_function("document.querySelector('.estimate.htmx-request')")
    waiting[0].fulfill(status=502, content_type="text/html", body=GATEWAY)
    expect(estimate).to_be_empty()


def test_a_page_that_was_offline_for_a_moment_is_live_again(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(3)
    live = page.locator("#live")
    page.evaluate("dispatchEvent(new Event('offline'))")
    expect(live).to_have_attribute("data-state", "offline")
    page.evaluate("dispatchEvent(new Event('online'))")
    expect(live).to_have_attribute("data-state", "live")


def test_whose_session_ended_signs_in_and_comes_back_to_the_same_message(
    page: Page, context: BrowserContext, open_thread: OpenThread
) -> None:
    session = open_thread(12)
    page.goto(f"/sessions/{session}/#n-m3")
    row(page, "m3").focus()
    press(page, "d")
    words = page.get_by_role("textbox", name="What the model sees instead")
    words.fill("Mine.")
    cookies = context.cookies()
    context.clear_cookies(name="contextstudio_session")
    press(page, "Control+Enter")
    page.wait_for_url(f"**/sign-in?next=%2Fsessions%2F{session}%2F%23n-m3")
    context.add_cookies(cookies)  # type: ignore[arg-type]  # as they were given
    visit(page, session)
    expect(words).to_have_value("Mine.")
    press(page, "Control+Enter")
    expect(page.locator("dialog[open]")).to_have_count(0)
    expect(row(page, "o1")).to_contain_text("Mine.")
    visit(page, session)
    expect(page.locator("dialog[open]")).to_have_count(0)


def test_a_press_that_the_server_is_slow_to_answer_is_seen_to_be_waited_for(
    page: Page, open_thread: OpenThread
) -> None:
    held: list[Route] = []
    page.route("**/dialogs/*", lambda route: held.append(route))
    open_thread(12)
    row(page, "m3").focus()
    press(page, "d")
    root = page.locator("html")
    expect(root).to_have_attribute("data-waits", "")
    assert "waits" in root.evaluate(
        "(one) => getComputedStyle(one, '::before').animationName"
    )
    for route in held:
        route.continue_()
    expect(page.get_by_role("textbox", name="What the model sees")).to_be_visible()
    expect(root).not_to_have_attribute("data-waits", "")


def test_what_was_written_is_in_sight_after_its_session_was_deleted(
    page: Page, open_thread: OpenThread, api: httpx.Client, faults: Faults
) -> None:
    faults.expect("WebSocket connection")  # there is none any more
    session = open_thread(12)
    row(page, "m3").focus()
    press(page, "d")
    words = page.get_by_role("textbox", name="What the model sees instead")
    words.fill("Words that took an hour.")
    assert api.delete(f"/api/sessions/{session}").is_success
    asked = page.locator("#dialog").get_by_role("alert")
    page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")
    expect(asked).to_contain_text("Copy what you wrote")
    with page.expect_response("**/estimate") as estimated:
        words.press_sequentially(" More")
    estimated.value.finished()
    press(page, "Control+Enter")
    expect(page.locator("html")).not_to_have_attribute("data-waits", "")
    expect(asked).to_contain_text("Copy what you wrote")
    expect(words).to_have_value("Words that took an hour. More")
    press(page, "Escape")
    page.get_by_role("button", name="Discard", exact=True).click()
    expect(page.get_by_role("heading", name="Not found")).to_be_visible()


def test_a_page_on_which_nothing_is_written_goes_with_its_session(
    page: Page, open_thread: OpenThread, api: httpx.Client, faults: Faults
) -> None:
    faults.expect("WebSocket connection")
    session = open_thread(12)
    row(page, "m3").focus()
    press(page, "d")
    expect(page.locator("#dialog form")).to_be_visible()
    assert api.delete(f"/api/sessions/{session}").is_success
    page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.get_by_role("heading", name="Not found")).to_be_visible()
