"""Selecting and moving: by pointer over unloaded chunks, by keys, by menu, by cut and paste."""

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import OpenThread, keys_on_sheet, press, row, snip, visit
from tests.browsers import Faults

from .dragging import drag_over, order, pick_up


def test_a_click_on_a_head_selects_and_shift_selects_all_between(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(30)
    row(page, "m2").locator(".role").click()
    expect(page.locator("#selection-count")).to_have_text("1 message")
    row(page, "m6").locator(".role").click(modifiers=["Shift"])
    expect(page.locator("#selection-count")).to_have_text("5 messages")
    expect(page.locator("#selection-tokens")).to_contain_text("#2–#6")
    expect(page.locator(".is-picked")).to_have_count(5)
    row(page, "m4").get_by_role("checkbox").click()
    expect(page.locator("#selection-count")).to_have_text("4 messages")
    press(page, "Escape")
    expect(page.locator("#selection")).to_be_hidden()
    expect(page.locator("#feed :is(.is-picked, .pick:checked)")).to_have_count(0)


def test_a_click_before_the_answer_to_a_shift_click_is_added_to_it(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(30)
    row(page, "m2").locator(".role").click()
    expect(page.locator("#selection-count")).to_have_text("1 message")
    held: list[Route] = []
    page.route("**/selection?*", lambda route: held.append(route), times=1)
    row(page, "m6").locator(".role").click(modifiers=["Shift"])
    row(page, "m9").locator(".role").click()
    expect(row(page, "m9")).to_be_focused()
    held[0].continue_()
    expect(page.locator("#selection-count")).to_have_text("6 messages")
    expect(page.locator(".is-picked")).to_have_count(6)


def test_who_clears_the_selection_at_its_bar_goes_on_at_the_row(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(12)
    row(page, "m4").focus()
    press(page, "x")
    page.locator("#selection [data-action=clear]").press("Enter")
    expect(page.locator("#selection")).to_be_hidden()
    expect(row(page, "m4")).to_be_focused()


def test_a_mark_selects_over_chunks_that_are_not_loaded(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(800)
    row(page, "m20").focus()
    press(page, "m", ":")
    page.keyboard.type("750")
    press(page, "Enter")
    expect(row(page, "m750")).to_be_focused()
    press(page, "'")
    expect(page.locator("#selection-count")).to_have_text("731 messages")
    snip(page)
    expect(row(page, "o1")).to_be_focused()
    expect(page.locator("#selection")).to_be_hidden()
    assert page.locator("#n-o1 .how-many").inner_text() == "731 messages hidden"
    expect(row(page, "m1")).to_have_attribute("aria-setsize", "70")
    expect(page.locator("#feed .chunk > article")).to_have_count(70)


def test_the_selection_survives_a_swap(page: Page, open_thread: OpenThread) -> None:
    open_thread(30)
    row(page, "m2").focus()
    press(page, "x", "Shift+ArrowDown")
    expect(page.locator("#selection-count")).to_have_text("2 messages")
    row(page, "m9").locator(".menu-button").click()
    page.get_by_role("menuitem", name="Snip").click()
    page.get_by_role("button", name="Snip", exact=False).and_(
        page.locator("#dialog .button--main")
    ).click()
    expect(row(page, "o1")).to_be_visible()
    expect(page.locator("#selection-count")).to_have_text("2 messages")
    expect(page.locator(".is-picked .pick:checked")).to_have_count(2)


def test_three_messages_are_dragged_over_two_hundred_others(
    page: Page, open_thread: OpenThread, api: httpx.Client
) -> None:
    session = open_thread(400)
    row(page, "m5").focus()
    press(page, "x", "Shift+ArrowDown", "Shift+ArrowDown")
    expect(page.locator("#selection-count")).to_have_text("3 messages")
    x, _ = pick_up(page, "m6")
    expect(page.locator("#drag-preview-label")).to_have_text("3 messages")
    page.mouse.move(x + 40, 890, steps=3)
    page.wait_for_function(
        "() => (document.getElementById('n-m215')?.getBoundingClientRect().top ?? 9999) < 700",
    )
    page.mouse.move(x + 40, 450, steps=3)
    expect(page.locator("#feed")).to_have_attribute("aria-busy", "false")
    page.evaluate(
        "() => new Promise((d) => requestAnimationFrame(() => requestAnimationFrame(d)))"
    )
    label = page.locator("#drop-label").inner_text()
    behind = f"m{label.removeprefix('after #')}"
    page.mouse.up()
    expect(page.locator("#n-m5.is-moved")).to_be_attached()
    expect(page.locator("#drop, #drag-preview")).to_have_count(2)
    expect(page.locator("#drop")).to_be_hidden()
    keys = order(api, session)
    place = keys.index(behind)
    assert int(behind[1:]) > 205
    assert keys[place : place + 4] == [behind, "m5", "m6", "m7"]
    assert not page.evaluate("() => document.activeElement === document.body")


def test_escape_cancels_a_drag_and_gives_the_focus_back(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(30)
    before = keys_on_sheet(page)
    pick_up(page, "m3")
    drag_over(page, "m6")
    expect(page.locator("#drop-label")).to_have_text("after #6")
    press(page, "Escape")
    expect(page.locator("#drop")).to_be_hidden()
    expect(row(page, "m3").locator(".handle")).to_be_focused()
    expect(page.locator("#said")).to_have_text("Cancelled, back at #3.")
    page.mouse.up()
    assert keys_on_sheet(page) == before
    expect(page.locator(":popover-open")).to_have_count(0)
    expect(page.locator("#entries-count")).to_have_text("0")


def test_enter_on_a_handle_opens_the_menu_also_after_a_drag(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(30)
    pick_up(page, "m3")
    drag_over(page, "m6")
    page.mouse.up()
    expect(page.locator("#n-m3.is-moved")).to_be_focused()
    row(page, "m3").locator(".handle").press("Enter")
    expect(page.locator("#row-menu")).to_be_visible()


def test_rows_do_not_move_while_something_is_dragged(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(30)
    tops = "() => [...document.querySelectorAll('.chunk > article')].map((row) => row.offsetTop)"
    before = page.evaluate(tops)
    pick_up(page, "m3")
    drag_over(page, "m5")
    assert page.evaluate(tops) == before
    drag_over(page, "m3")
    expect(page.locator("#drop-label")).to_have_text("current position")
    page.mouse.up()
    expect(page.locator("#said")).to_have_text("Not moved.")


def test_alt_and_arrows_move_step_by_step_and_to_user_messages(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(30)
    row(page, "m3").focus()
    press(page, "Alt+ArrowDown")
    expect(page.locator("#entries-count")).to_have_text("1")
    expect(row(page, "m3")).to_be_focused()
    assert keys_on_sheet(page)[2:5] == ["m2", "m4", "m3"]
    press(page, "Alt+ArrowUp")
    expect(page.locator("#entries-count")).to_have_text("2")
    assert keys_on_sheet(page)[2:5] == ["m2", "m3", "m4"]
    press(page, "Alt+Shift+ArrowDown")
    expect(page.locator("#entries-count")).to_have_text("3")
    assert keys_on_sheet(page)[9:11] == ["m10", "m3"]
    expect(row(page, "m3")).to_be_focused()
    row(page, "m1").focus()
    press(page, "Alt+ArrowUp")
    expect(page.locator("#entries-count")).to_have_text("4")
    assert keys_on_sheet(page)[:2] == ["m1", "m0"]


def test_move_to_a_number_from_the_menu(page: Page, open_thread: OpenThread) -> None:
    open_thread(30)
    row(page, "m3").locator(".menu-button").click()
    page.get_by_role("menuitem", name="Move to…").click()
    page.get_by_label("Move after message #").fill("20")
    press(page, "Control+Enter")
    expect(page.locator("#n-m3.is-moved")).to_be_visible()
    keys = keys_on_sheet(page)
    assert keys[keys.index("m20") + 1] == "m3"
    assert not page.evaluate("() => document.activeElement === document.body")


def test_move_to_the_end_is_chosen_in_the_dialog(
    page: Page, open_thread: OpenThread, faults: Faults
) -> None:
    faults.expect("422")
    open_thread(30)
    row(page, "m3").locator(".menu-button").click()
    page.get_by_role("menuitem", name="Move to…").click()
    number = page.get_by_label("Move after message #")
    expect(number).to_be_focused()
    press(page, "Control+Enter")
    expect(page.get_by_text("or choose the top or end")).to_be_visible()
    page.get_by_label("To the end").check()
    expect(number).to_be_hidden()
    press(page, "Control+Enter")
    expect(page.locator("#n-m3.is-moved")).to_be_visible()
    assert keys_on_sheet(page)[-1] == "m3"


def test_what_is_cut_can_be_pasted_elsewhere(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(30)
    row(page, "m3").focus()
    press(page, "Control+x")
    expect(page.locator(".is-dragged")).to_have_count(1)
    row(page, "m8").focus()
    press(page, "Control+v")
    expect(page.locator("#n-m3.is-moved")).to_be_visible()
    keys = keys_on_sheet(page)
    assert keys[keys.index("m8") + 1] == "m3"
    expect(page.locator(".is-dragged")).to_have_count(0)


def test_cut_and_paste_by_single_clicks(page: Page, open_thread: OpenThread) -> None:
    open_thread(30)
    row(page, "m3").locator(".menu-button").click()
    expect(page.get_by_role("menuitem", name="Paste after this")).to_be_hidden()
    page.get_by_role("menuitem", name="Cut").click()
    row(page, "m9").locator(".menu-button").click()
    page.get_by_role("menuitem", name="Paste after this").click()
    expect(page.locator("#n-m3.is-moved")).to_be_visible()
    keys = keys_on_sheet(page)
    assert keys[keys.index("m9") + 1] == "m3"


def test_another_view_begins_where_this_one_is_read(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(700)
    press(page, ":")
    page.keyboard.type("420")
    press(page, "Enter")
    expect(row(page, "m420")).to_be_focused()
    press(page, "v")
    expect(page.locator("#feed")).to_have_attribute("data-view", "effective")
    expect(row(page, "m420")).to_be_focused()
    # By the key: a click that Playwright has to try again scrolls the page beforehand.
    press(page, "v")
    expect(page.locator("#feed")).to_have_attribute("data-view", "original")
    expect(row(page, "m420")).to_be_focused()


@pytest.fixture
def with_a_call(page: Page, api: httpx.Client) -> str:
    """A session in which #2 calls a tool, and #3 is its result."""
    call = {"id": "1", "function": {"name": "ls", "arguments": "{}"}}
    said = [
        {"role": "user", "content": "Hello"},
        {"role": "user", "content": "What is there?"},
        {"role": "assistant", "tool_calls": [{**call, "type": "function"}]},
        {"role": "tool", "tool_call_id": "1", "content": "a.py"},
        {"role": "assistant", "content": "There is a.py."},
    ]
    body = {"title": "With a call", "messages": said}
    session = str(api.post("/api/sessions", json=body).json()["id"])
    visit(page, session)
    return session


def test_what_parts_a_call_from_its_result_says_so_and_offers_the_other_half(
    page: Page, with_a_call: str
) -> None:
    row(page, "m2").focus()
    press(page, "x")
    line = page.locator("#selection-parted")
    expect(line).to_contain_text("Separates a tool call from its result")
    line.get_by_role("button", name="Add the other half").click()
    expect(line).to_be_hidden()
    expect(page.locator("#selection-count")).to_have_text("2 messages")


def test_the_drop_line_shows_what_would_be_illegal_and_a_drop_there_asks(
    page: Page, with_a_call: str
) -> None:
    pick_up(page, "m0")
    box = row(page, "m3").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 40, box["y"] + 2, steps=6)
    expect(page.locator("#drop")).to_have_class("drop is-illegal")
    expect(page.locator("#drop-label")).to_contain_text(
        "between a tool call and its result"
    )
    page.mouse.up()
    before = keys_on_sheet(page)
    assert before[0] == "m0"
    page.get_by_role("button", name="Move behind the result").press("Enter")
    expect(row(page, "m0")).to_be_focused()
    after = keys_on_sheet(page)
    assert after == ["m1", "m2", "m3", "m0", "m4"]
