"""The main job by keys: select, digest, unfold, switch, undo, redo; the focus is never lost."""

import json
import re
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import (
    OpenThread,
    keys_on_sheet,
    press,
    row,
    see_the_checks,
    snip,
    visit,
)

FOCUSED_IS_BODY = "() => document.activeElement === document.body"


def digest(page: Page, first: str, extend: int, summary: str) -> None:
    """Digest a row and so many behind it, by keys."""
    row(page, first).focus()
    press(page, "x", *["Shift+ArrowDown"] * extend)
    expect(page.locator("#selection-count")).to_have_text(f"{extend + 1} messages")
    press(page, "d")
    page.get_by_role("textbox", name="What the model sees instead").fill(summary)
    press(page, "Control+Enter")


def snip_the_fourth(page: Page, open_thread: OpenThread) -> None:
    """Open a thread and snip one message, on which the focus stays."""
    open_thread(12)
    row(page, "m4").focus()
    snip(page)
    expect(row(page, "o1")).to_be_focused()


def test_a_digest_by_keys_folds_the_selection_and_takes_the_focus(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(30)
    digest(page, "m3", 4, "Five became one.")
    expect(row(page, "o1")).to_be_focused()
    assert keys_on_sheet(page)[2:5] == ["m2", "o1", "m8"]
    expect(page.locator("#selection")).to_be_hidden()
    expect(page.locator("#operations-count")).to_have_text("1")
    expect(page.locator("dialog[open]")).to_have_count(0)


def test_a_fold_opens_and_closes_in_place_and_stays_open_after_a_reload(
    page: Page, open_thread: OpenThread
) -> None:
    session = open_thread(30)
    digest(page, "m3", 4, "Five became one.")
    expect(row(page, "o1")).to_be_focused()
    press(page, "o")
    expect(page.locator("#n-o1 .inner article")).to_have_count(5)
    expect(row(page, "o1")).to_be_focused()
    expect(row(page, "o1")).to_have_attribute("aria-posinset", "4")
    visit(page, session)
    expect(page.locator("#n-o1 .inner article")).to_have_count(5)
    row(page, "m5").focus()
    page.locator("#n-o1 .marker-foot button").click()
    expect(page.locator("#n-o1 .inner")).to_have_count(0)
    assert not page.evaluate(FOCUSED_IS_BODY)
    row(page, "m0").focus()
    press(page, "O")
    expect(page.locator("#n-o1 .inner article")).to_have_count(5)
    expect(row(page, "m0")).to_be_focused()
    press(page, "O")
    expect(page.locator("#n-o1 .inner")).to_have_count(0)


def test_a_switch_turns_an_operation_off_and_on_and_keeps_the_focus(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(30)
    digest(page, "m3", 4, "Five became one.")
    expect(row(page, "o1")).to_be_focused()
    press(page, ".")
    expect(row(page, "m3")).to_be_visible()
    assert keys_on_sheet(page)[:6] == ["m0", "m1", "m2", "m3", "m4", "m5"]
    switch = page.locator(".flat .toggle[data-operation=o1]")
    expect(switch).to_have_attribute("aria-pressed", "false")
    expect(switch).to_be_focused()
    press(page, ".")
    expect(page.locator("#n-o1 .toggle")).to_be_focused()
    expect(page.locator("#n-o1 .toggle")).to_have_attribute("aria-pressed", "true")


def test_undo_and_redo_take_back_and_restore_and_the_focus_goes_along(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(30)
    row(page, "m6").focus()
    snip(page)
    expect(row(page, "o1")).to_be_focused()
    press(page, "Control+z")
    expect(row(page, "m6")).to_be_focused()
    press(page, "Control+Shift+z")
    expect(row(page, "o1")).to_be_visible()
    assert not page.evaluate(FOCUSED_IS_BODY)
    press(page, "s")
    expect(row(page, "m6")).to_be_visible()


def test_the_focus_goes_on_where_there_is_nothing_more_to_undo(
    page: Page, open_thread: OpenThread
) -> None:
    snip_the_fourth(page, open_thread)
    bar = page.locator(".panel-bar")
    bar.get_by_role("button", name="Undo snip #4").press("Enter")
    expect(bar.get_by_role("button", name="Redo snip #4")).to_be_focused()
    press(page, "Enter")
    expect(bar.get_by_role("button", name="Undo snip #4")).to_be_focused()


def test_a_notice_that_goes_hands_the_focus_on(
    page: Page, open_thread: OpenThread
) -> None:
    snip_the_fourth(page, open_thread)
    notice = page.locator("#toasts .toast")
    notice.get_by_role("button", name="Undo").press("Enter")
    expect(row(page, "m4")).to_be_visible()
    expect(notice.get_by_role("button", name="Redo")).to_be_focused()
    press(page, "Enter")
    expect(notice.get_by_role("button", name="Undo")).to_be_focused()
    row(page, "m2").focus()
    notice.get_by_role("button", name="Dismiss").press("Enter")
    expect(notice).to_have_count(0)
    expect(row(page, "m2")).to_be_focused()


def test_revise_starts_from_the_words_and_shows_what_changed(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(12)
    row(page, "m4").focus()
    press(page, "e")
    words = page.get_by_role("textbox", name="What the model sees instead")
    expect(words).to_have_value(re.compile("^Message 4 says"))
    before = words.input_value()
    page.keyboard.type(" And more.")
    expect(words).to_have_value(f"{before} And more.")
    tally = page.locator("#dialog .token-count")
    expect(tally).to_have_text(re.compile(r"^\d+ tokens$"))
    words.fill("Message 4 is short.")
    expect(tally).to_have_text("6 tokens")
    press(page, "Control+Enter")
    expect(row(page, "o1")).to_contain_text("short")
    expect(row(page, "o1").locator("ins").first).to_be_visible()


def test_insert_and_tag_by_keys(page: Page, open_thread: OpenThread) -> None:
    open_thread(12)
    row(page, "m4").focus()
    press(page, "i")
    page.get_by_role("textbox", name="Message").fill("Mind the tests.")
    press(page, "Control+Enter")
    expect(row(page, "o1.0")).to_be_focused()
    assert keys_on_sheet(page)[4:6] == ["m4", "o1.0"]
    press(page, "k", "t")
    page.get_by_role("textbox", name="Tags").fill("leak")
    press(page, "Enter")
    expect(row(page, "m4").locator(".tag")).to_have_text("leak")
    expect(row(page, "m4")).to_be_focused()
    row(page, "m0").focus()
    press(page, "I")
    page.get_by_role("textbox", name="Message").fill("Before everything.")
    press(page, "Control+Enter")
    expect(row(page, "o3.0")).to_be_focused()
    assert keys_on_sheet(page)[0] == "o3.0"


def test_a_dialog_asks_before_words_are_lost_and_keeps_a_draft(
    page: Page, open_thread: OpenThread
) -> None:
    session = open_thread(12)
    row(page, "m4").focus()
    press(page, "d")
    field = page.get_by_role("textbox", name="What the model sees instead")
    field.fill("Half a thought")
    press(page, "Escape")
    expect(page.get_by_text("Discard what you wrote?")).to_be_visible()
    for _ in range(2):  # a browser would ask only once, and then close it
        press(page, "Escape")
        expect(field).to_be_focused()
        press(page, "Escape")
        expect(page.get_by_text("Discard what you wrote?")).to_be_visible()
    visit(page, session)
    row(page, "m4").focus()
    press(page, "d")
    expect(field).to_have_value("Half a thought")
    press(page, "Escape")
    expect(page.get_by_role("button", name="Discard", exact=True)).to_be_focused()
    press(page, "Enter")
    expect(page.locator("dialog[open]")).to_have_count(0)
    expect(row(page, "m4")).to_be_focused()
    press(page, "d")
    expect(field).to_have_value("")
    press(page, "Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)


def test_two_selections_that_begin_alike_have_drafts_of_their_own(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(60)
    field = page.get_by_role("textbox", name="What the model sees instead")
    row(page, "m10").locator(".pick").click()
    row(page, "m40").locator(".pick").click(modifiers=["Shift"])
    expect(page.locator("#selection-count")).to_have_text("31 messages")
    press(page, "d")
    field.fill("Of thirty-one")
    page.reload()
    row(page, "m10").locator(".pick").click()
    row(page, "m41").locator(".pick").click(modifiers=["Shift"])
    expect(page.locator("#selection-count")).to_have_text("32 messages")
    press(page, "d")
    expect(field).to_have_value("")


def test_what_would_cut_through_a_fold_is_refused_where_it_was_asked(
    page: Page, open_thread: OpenThread, faults: list[str]
) -> None:
    faults.expect("409")  # type: ignore[attr-defined]
    open_thread(30)
    digest(page, "m3", 4, "Five became one.")
    expect(row(page, "o1")).to_be_focused()
    press(page, "o")
    row(page, "m7").focus()
    press(page, "x", "j", "x", "d")
    page.get_by_role("textbox", name="What the model sees instead").fill("Across.")
    press(page, "Control+Enter")
    expect(page.locator("dialog .refusal")).to_be_focused()
    expect(page.get_by_role("button", name=re.compile("Widen to"))).to_be_visible()
    press(page, "Escape")


def test_a_fold_that_is_switched_off_and_on_keeps_its_switch_in_place(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread()
    digest(page, "m0", 14, "Fifteen became one.")
    expect(row(page, "o1")).to_be_focused()
    see_the_checks(page)
    top = "(one) => one.getBoundingClientRect().top"
    folded, note = page.locator("#n-o1 .toggle"), page.locator("#n-m0 .flat .toggle")
    place = folded.evaluate(top)
    for shown in (note, folded):
        press(page, ".")
        expect(shown).to_be_focused()
        assert abs(shown.evaluate(top) - place) < 2


def test_two_quick_toggles_do_not_overtake_each_other(
    page: Page, open_thread: OpenThread, api: httpx.Client
) -> None:
    session = open_thread(20)
    row(page, "m4").focus()
    snip(page)
    expect(row(page, "o1")).to_be_focused()
    press(page, ".", ".", ".")
    expect(page.locator(".flat .toggle[data-operation=o1]")).to_have_attribute(
        "aria-pressed", "false"
    )
    expect(page.locator("#entries-count")).to_have_text("4")
    log = api.get(f"/api/sessions/{session}/log").json()["items"]
    assert len(log) == 4


def test_a_form_s_turn_ends_with_its_own_answer_and_not_with_that_of_its_estimate(
    page: Page, new_session: Callable[[int], str]
) -> None:
    """What was recorded is shown once: a click right after it meets the row that stays."""
    estimates: list[Route] = []
    looks: list[str] = []
    page.on(
        "request",
        lambda one: looks.append(one.url) if "/changes" in one.url else None,
    )
    page.route("**/estimate", lambda route: estimates.append(route))
    with page.expect_websocket() as opened:
        visit(page, new_session(20))
    socket = opened.value

    def answer_last(route: Route) -> None:
        """Record it, tell the page by the socket, end the estimate; only then answer."""
        with socket.expect_event(
            "framereceived", lambda text: json.loads(text)["head"]
        ):
            answer = route.fetch()
        for estimate in estimates:
            estimate.continue_()
        expect(page.locator("#dialog .estimate-line").first).to_be_visible()
        route.fulfill(response=answer)

    page.route("**/operations", answer_last)
    row(page, "m4").focus()
    snip(page)
    expect(row(page, "o1")).to_be_focused()
    page.locator("#n-o1 .toggle").click()
    expect(row(page, "m4")).to_be_visible()
    expect(page.locator("#entries-count")).to_have_text("2")
    assert estimates
    assert looks == []


def test_an_estimate_that_runs_while_somebody_writes_ends_and_another_follows(
    page: Page, open_thread: OpenThread
) -> None:
    held: list[Route] = []
    page.route("**/estimate", lambda route: held.append(route), times=1)
    open_thread(12)
    row(page, "m3").focus()
    press(page, "d")
    estimate = page.locator("#dialog .estimate")
    expect(estimate).to_contain_class("htmx-request")
    estimate.evaluate(
        """one => one.addEventListener(
          "htmx:trigger", () => { one.dataset.asked = "again"; })"""
    )
    page.keyboard.type("What it came to.")
    expect(estimate).to_have_attribute("data-asked", "again")
    with page.expect_request("**/estimate") as asked:
        held[0].continue_()
    assert "What%20it%20came%20to." in str(asked.value.post_data)
    expect(estimate.locator(".estimate-line").first).to_be_visible()


@pytest.mark.parametrize("verb", ["Revert", "Turn off"])
def test_the_menu_of_a_marker_does_what_it_says(
    page: Page, open_thread: OpenThread, verb: str
) -> None:
    open_thread(20)
    row(page, "m4").focus()
    snip(page)
    expect(row(page, "o1")).to_be_focused()
    page.get_by_role("button", name="More for snip o1").click()
    expect(page.get_by_role("menuitem", name="Expand")).to_be_focused()
    page.get_by_role("menuitem", name=verb).click()
    expect(row(page, "m4")).to_be_visible()
    expect(page.locator(":popover-open")).to_have_count(0)
    assert not page.evaluate(FOCUSED_IS_BODY)


def test_menus_name_what_they_would_change(page: Page, open_thread: OpenThread) -> None:
    open_thread(20)
    row(page, "m4").focus()
    snip(page)
    more = page.get_by_role("button", name="More for snip o1")

    def items() -> list[str]:
        found = page.locator(":popover-open [role=menuitem]:visible")
        return [one.splitlines()[0] for one in found.all_inner_texts()]

    more.click()
    assert {"Expand", "Turn off"} <= set(items())
    page.get_by_role("menuitem", name="Expand").click()
    expect(row(page, "o1").locator(".inner")).to_be_visible()
    more.click()
    assert {"Collapse", "Turn off"} <= set(items())
    page.get_by_role("menuitem", name="Turn off").click()
    expect(page.locator(".flat--off")).to_be_visible()  # it is no fold any more
    more.click()
    assert "Turn on" in items()
    assert not {"Expand", "Collapse", "Turn off"} & set(items())


def test_a_form_that_is_sent_twice_is_recorded_once_and_holds_nothing_up(
    page: Page, open_thread: OpenThread
) -> None:
    held: list[Route] = []
    open_thread(12)
    page.route("**/operations", lambda route: held.append(route))
    row(page, "m4").focus()
    press(page, "d")
    page.get_by_role("textbox", name="What the model sees instead").fill("Short.")
    with page.expect_request("**/operations"):
        press(page, "Control+Enter", "Control+Enter")
    expect(page.locator("#dialog .button--main")).to_be_disabled()
    held.pop().continue_()
    expect(row(page, "o1")).to_be_focused()
    page.unroute("**/operations")
    press(page, ".")
    expect(row(page, "m4")).to_be_visible(timeout=15_000)  # a turn lasts 30 s at most
    expect(page.locator("#entries-count")).to_have_text("2")


def test_a_form_that_was_left_while_it_was_sent_is_recorded_beside_the_next(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(12)
    held = send_and_leave(page, "m4")
    row(page, "m8").focus()
    press(page, "d")
    words = page.get_by_role("textbox", name="What the model sees instead")
    words.fill("Words of the next.")
    held.continue_()
    expect(row(page, "o1")).to_be_attached()
    expect(words).to_have_value("Words of the next.")
    page.unroute("**/operations")
    press(page, "Control+Enter")
    expect(row(page, "o2")).to_be_focused()


def test_a_form_that_was_left_while_it_was_sent_says_why_it_was_refused(
    page: Page, open_thread: OpenThread, api: httpx.Client, faults: list[str]
) -> None:
    faults.expect("409")  # type: ignore[attr-defined]
    session = open_thread(12)
    row(page, "m4").focus()
    press(page, "x", "Shift+ArrowDown")
    expect(page.locator("#selection-count")).to_have_text("2 messages")
    held = send_and_leave(page, "m5")
    body = {"type": "digest", "start_idx": 5, "end_idx": 6, "summary": "Across."}
    answer = api.post(f"/api/sessions/{session}/operations", json=body)
    assert answer.status_code == 201
    held.continue_()
    expect(page.locator(".toast--error")).to_contain_text("In the way: digest o1.")


def send_and_leave(page: Page, key: str) -> Route:
    """Snip what is selected, or a row, and close the form before it is answered."""
    held: list[Route] = []
    page.route("**/operations", lambda route: held.append(route))
    row(page, key).focus()
    press(page, "s")
    expect(page.locator("#dialog .button--main")).to_be_focused()
    with page.expect_request("**/operations"):
        press(page, "Enter")
    press(page, "Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    return held.pop()
