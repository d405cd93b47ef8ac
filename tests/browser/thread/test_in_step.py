"""Two windows on one session stay in step, over the socket and without it."""

import re
import uuid
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import (
    OpenThread,
    cookies_of,
    keys_on_sheet,
    press,
    row,
    see_the_checks,
    snip,
    visit,
)
from tests.browsers import Faults
from tests.servers import Server


def agent_snips(
    api: httpx.Client, session: str, first: int, last: int, **more: bool
) -> None:
    """An agent snips a range."""
    body = {"type": "snip", "start_idx": first, "end_idx": last, **more}
    answer = api.post(f"/api/sessions/{session}/operations", json=body)
    assert answer.status_code == 201, answer.text


def test_what_one_window_does_shows_in_the_other(
    page: Page, context: BrowserContext, open_thread: OpenThread
) -> None:
    session = open_thread(30)
    other = context.new_page()
    visit(other, session)
    row(page, "m5").focus()
    snip(page)
    expect(row(other, "o1")).to_be_visible()
    expect(other.locator("#operations-count")).to_have_text("1")
    row(other, "o1").focus()
    press(other, ".")
    expect(row(page, "m5")).to_be_visible()
    assert keys_on_sheet(page) == keys_on_sheet(other)


def test_a_notice_offers_no_undo_that_would_mean_what_another_window_did(
    page: Page, context: BrowserContext, open_thread: OpenThread, api: httpx.Client
) -> None:
    session = open_thread(30)
    row(page, "m5").focus()
    snip(page)
    offered = page.locator("#toasts").get_by_role("button", name="Undo")
    agent_snips(api, session, 20, 21)
    expect(page.locator("#operations-count")).to_have_text("2")
    expect(offered).to_be_visible()
    other = context.new_page()
    visit(other, session)
    row(other, "m9").focus()
    snip(other)
    expect(page.locator("#operations-count")).to_have_text("3")
    expect(offered).to_have_count(0)
    expect(page.locator("#said")).to_have_text("The thread has changed")


def test_what_an_agent_proposes_is_said_to_await_review(
    page: Page, open_thread: OpenThread, api: httpx.Client
) -> None:
    session = open_thread(30)
    said = page.locator("#said")
    agent_snips(api, session, 2, 3, propose=True)
    expect(said).to_have_text("1 operation awaits review")
    agent_snips(api, session, 20, 21)
    expect(said).to_have_text("The thread was changed by somebody else")
    agent_snips(api, session, 8, 9, propose=True)
    expect(said).to_have_text("2 operations await review")


def test_what_happens_above_does_not_move_what_is_read(
    page: Page, open_thread: OpenThread, api: httpx.Client
) -> None:
    session = open_thread(90)
    row(page, "m60").focus()
    row(page, "m60").evaluate("(one) => one.scrollIntoView({ block: 'center' })")
    top = row(page, "m60").bounding_box()
    agent_snips(api, session, 3, 30)
    expect(page.locator("#operations-count")).to_have_text("1")
    expect(page.locator("#said")).to_have_text(
        "The thread was changed by somebody else"
    )
    now = row(page, "m60").bounding_box()
    assert top is not None
    assert now is not None
    assert abs(now["y"] - top["y"]) <= 2
    expect(row(page, "m60")).to_be_focused()


def test_a_change_in_chunks_that_are_not_loaded_moves_the_places_of_the_others(
    page: Page, open_thread: OpenThread, api: httpx.Client
) -> None:
    session = open_thread(700)
    press(page, "G")
    expect(row(page, "m699")).to_be_focused()
    agent_snips(api, session, 10, 29)
    expect(row(page, "m699")).to_have_attribute("aria-posinset", "681")
    expect(row(page, "m699")).to_be_focused()
    agent_snips(api, session, 95, 320)
    expect(row(page, "m699")).to_have_attribute("aria-posinset", "456")
    press(page, ":")
    page.keyboard.type("350")
    press(page, "Enter")
    expect(row(page, "m350")).to_be_focused()
    expect(row(page, "m350")).to_have_attribute("aria-posinset", "107")


def test_a_change_of_many_rows_loads_the_sections_again(
    page: Page, open_thread: OpenThread, api: httpx.Client
) -> None:
    session = open_thread(700)
    located: list[str] = []
    page.on(
        "request",
        lambda asked: located.append(asked.url) if "/locate" in asked.url else None,
    )
    agent_snips(api, session, 2, 600)
    expect(row(page, "o1")).to_be_visible()
    row(page, "o1").focus()
    press(page, ".")
    expect(row(page, "m2")).to_be_visible()
    assert len(located) == 1, "rows were shown, nothing, and rows again"
    expect(page.locator("#feed")).to_have_attribute("aria-busy", "false")
    assert keys_on_sheet(page)[:4] == ["m0", "m1", "m2", "m3"]
    expect(row(page, "m2")).to_have_attribute("aria-setsize", "700")


def test_messages_that_are_appended_show_at_the_end(
    page: Page, open_thread: OpenThread, api: httpx.Client
) -> None:
    session = open_thread(20)
    body = {"messages": [{"role": "user", "content": "One more."}]}
    assert api.post(f"/api/sessions/{session}/messages", json=body).status_code in (
        200,
        201,
    )
    expect(row(page, "m20")).to_be_visible()
    expect(row(page, "m20")).to_have_attribute("aria-posinset", "21")
    expect(page.locator("#said")).to_have_text("1 new message")


def test_without_the_socket_the_page_asks_by_itself(
    page: Page,
    new_session,
    api: httpx.Client,  # type: ignore[no-untyped-def]
) -> None:
    session = new_session(20)
    page.route_web_socket("**/ws/**", lambda socket: socket.close())
    page.goto(f"/sessions/{session}/")
    expect(page.locator("#live")).to_have_attribute("data-state", "polling")
    agent_snips(api, session, 4, 6)
    expect(row(page, "o1")).to_be_visible()


@pytest.mark.parametrize("count", [0, 20])
@pytest.mark.parametrize("live", [True, False])
def test_a_title_that_an_agent_changes_shows_at_once(
    page: Page,
    new_session: Callable[[int], str],
    api: httpx.Client,
    count: int,
    live: bool,
) -> None:
    session, state = new_session(count), "live" if live else "polling"
    if not live:
        page.route_web_socket("**/ws/**", lambda socket: socket.close())
    page.goto(f"/sessions/{session}/")
    expect(page.locator("#live")).to_have_attribute("data-state", state)
    body = {"title": "Another <name>"}
    assert api.patch(f"/api/sessions/{session}", json=body).status_code == 200
    expect(page.locator("#thread-title")).to_have_text("Another <name>")
    expect(page).to_have_title("Another <name> · ContextStudio")
    if count:
        expect(page.locator("#said")).to_have_text('Renamed to "Another <name>"')


def test_a_page_that_was_offline_fetches_what_it_missed(
    page: Page,
    context: BrowserContext,
    open_thread: OpenThread,
    api: httpx.Client,
    faults,
) -> None:  # type: ignore[no-untyped-def]
    faults.expect("ERR_INTERNET_DISCONNECTED")
    faults.expect("WebSocket connection")
    faults.expect("unreachable")
    session = open_thread(20)
    see_the_checks(page)  # else going offline cuts their request short
    context.set_offline(True)
    expect(page.locator("#live")).to_have_attribute("data-state", "offline")
    agent_snips(api, session, 4, 6)
    row(page, "m8").focus()
    press(page, "s")
    notice = page.locator(".toast--error")
    expect(notice).to_have_text("Can't reach the server. Nothing was changed.")
    expect(notice.locator("svg")).to_have_count(2)
    context.set_offline(False)
    expect(row(page, "o1")).to_be_visible()


def test_checks_that_went_unanswered_are_requested_once_the_server_is_back(
    page: Page,
    context: BrowserContext,
    new_session: Callable[[int], str],
    faults: Faults,
) -> None:
    faults.expect("ERR_")
    faults.expect("htmx:")
    faults.expect("WebSocket connection")
    page.route("**/provider-checks", lambda route: route.abort(), times=1)
    with page.expect_event("requestfailed"):
        visit(page, new_session(20))
    context.set_offline(True)
    expect(page.locator("#live")).to_have_attribute("data-state", "offline")
    context.set_offline(False)
    see_the_checks(page)


def test_a_change_that_could_not_be_fetched_is_fetched_later(
    page: Page, open_thread: OpenThread, api: httpx.Client, faults: Faults
) -> None:
    faults.expect("503")
    session = open_thread(20)
    # The socket tells twice of each change.
    page.route("**/changes*", lambda route: route.fulfill(status=503), times=2)
    agent_snips(api, session, 4, 6)
    expect(page.locator("#live")).to_have_attribute("data-state", "offline")
    expect(row(page, "o1")).to_be_visible()
    expect(page.locator("#live")).to_have_attribute("data-state", "live")


def test_a_thread_without_messages_shows_what_is_recorded_beside_it(
    page: Page, context: BrowserContext, open_thread: OpenThread
) -> None:
    session = open_thread(0)
    other = context.new_page()
    visit(other, session)
    page.get_by_role("button", name="Change the active tags").click()
    page.get_by_role("textbox", name="Active tags").fill("brief")
    press(page, "Control+Enter")
    for window in (page, other):
        expect(window.locator(".active-tags .tag")).to_have_text("brief")
        expect(window.locator("#entries-count")).to_have_text("1")


def test_a_press_on_the_spine_goes_there_also_after_a_change(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(700)
    row(page, "m3").focus()
    snip(page)
    expect(row(page, "o1")).to_be_focused()
    box = page.locator("#minimap").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 7, box["y"] + box["height"] * 0.5)
    expect(row(page, "m350")).to_be_focused()


def test_a_page_says_that_somebody_else_has_signed_in_and_records_nothing_as_them(
    page: Page,
    context: BrowserContext,
    new_session: Callable[[int], str],
    server: Server,
    faults: Faults,
) -> None:
    faults.expect("status of 403")
    faults.expect("WebSocket")
    context.clear_cookies()
    context.add_cookies(cookies_of(server)["cookies"])  # type: ignore[arg-type]
    visit(page, new_session(12))
    name = f"second{uuid.uuid4().hex[:8]}"
    said = server.command("create_user", name, "--project", "demo", "--role", "editor")
    other = context.new_page()
    other.goto(said.splitlines()[-1])
    other.get_by_role("button", name="Sign in").click()
    other.wait_for_url(lambda address: "/sign-in/" not in address)
    told = f"This page is out of date: you are signed in as {name} by now."
    expect(page.locator("#toasts")).to_contain_text(told)
    expect(page.locator("#live-word")).to_have_text("Out of date")
    row(page, "m5").focus()
    press(page, "Alt+ArrowUp")
    press(page, "s")
    expect(page.locator("#dialog")).to_be_hidden()
    assert keys_on_sheet(page)[4:6] == ["m4", "m5"]
    page.get_by_role("button", name="Reload").click()
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    row(page, "m5").focus()
    snip(page)
    expect(row(page, "o1")).to_contain_text(name)


def test_a_page_says_that_the_role_of_its_user_has_changed(
    page: Page,
    context: BrowserContext,
    new_session: Callable[[int], str],
    api: httpx.Client,
    server: Server,
) -> None:
    name = f"member{uuid.uuid4().hex[:8]}"
    said = server.command("create_user", name, "--project", "demo", "--role", "editor")
    context.clear_cookies()
    page.goto(said.splitlines()[-1])
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda address: "/sign-in/" not in address)
    visit(page, new_session(12))
    role = api.put(f"/api/projects/demo/members/{name}", json={"role": "viewer"})
    assert role.status_code == 200
    told = page.locator("#toasts .toast")
    expect(told).to_contain_text(
        "Your role has changed: you may only read this session now."
    )
    told.get_by_role("button", name="Reload").click()
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    expect(told).to_have_count(0)
    expect(page.locator("#feed")).to_have_class(re.compile("is-read-only"))
