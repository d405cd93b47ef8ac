"""Reading long threads: chunks come and go, jumps land exactly, the keyboard goes everywhere."""

import re
from collections.abc import Callable

import httpx
import pytest
from django.templatetags.static import static
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenThread, conversation, press, row, snip, visit

NODES = "() => document.getElementsByTagName('*').length"
TOP = "() => document.activeElement.getBoundingClientRect().top"
LONG = 3000


@pytest.fixture(scope="module")
def long_session(api: httpx.Client) -> str:
    """A session of 3,000 messages, which these tests only read."""
    body = {"title": "A long thread", "messages": conversation(LONG)}
    return str(api.post("/api/sessions", json=body).json()["id"])


@pytest.fixture
def long_page(page: Page, long_session: str) -> Page:
    """The page of the long session."""
    visit(page, long_session)
    return page


def go_to(page: Page, number: int) -> None:
    """By the palette to the message with this number."""
    press(page, ":")
    page.keyboard.type(str(number))
    press(page, "Enter")
    expect(row(page, f"m{number}")).to_be_focused()


def rest(page: Page) -> None:
    """Wait until no chunk is being loaded."""
    expect(page.locator("#feed")).to_have_attribute("aria-busy", "false")
    page.evaluate("() => new Promise(requestAnimationFrame)")


def test_a_jump_lands_exactly_and_stays(long_page: Page) -> None:
    for number in (1500, 2999, 7, 2210):
        go_to(long_page, number)
        rest(long_page)
        before = long_page.evaluate(TOP)
        assert 0 <= before < 900
        long_page.wait_for_function(
            "() => document.querySelectorAll('.chunk > article').length >= 200"
        )
        rest(long_page)
        assert abs(long_page.evaluate(TOP) - before) <= 2


def test_wherever_one_scrolls_the_page_stays_small(long_page: Page) -> None:
    for part in (0.2, 0.4, 0.6, 0.8, 1, 0.5, 0):
        long_page.evaluate(
            "part => scrollTo(0, document.documentElement.scrollHeight * part)", part
        )
        long_page.wait_for_function(
            "() => document.elementFromPoint(innerWidth / 2, innerHeight / 2).closest('article')"
        )
        rest(long_page)
        assert long_page.evaluate(NODES) < 10_000


def test_rows_say_which_of_how_many_they_are(long_page: Page) -> None:
    go_to(long_page, 1500)
    expect(row(long_page, "m1500")).to_have_attribute("aria-posinset", "1501")
    expect(row(long_page, "m1500")).to_have_attribute("aria-setsize", str(LONG))


def test_the_focused_row_outlives_scrolling_away(long_page: Page) -> None:
    row(long_page, "m3").focus()
    for part in (0.3, 0.6, 0.9, 0.5, 0.8):
        long_page.evaluate(
            "part => scrollTo(0, document.documentElement.scrollHeight * part)", part
        )
        rest(long_page)
    expect(row(long_page, "m3")).to_be_focused()


def test_one_row_is_in_the_tab_order(long_page: Page) -> None:
    press(long_page, "j", "j")
    tabbable = long_page.evaluate(
        """() => [...document.querySelectorAll('#feed article, #feed button, #feed a, #feed input')]
          .filter((one) => one.tabIndex >= 0 && one.closest('article').id !== 'n-m1').length"""
    )
    assert tabbable == 0
    expect(row(long_page, "m1")).to_have_attribute("tabindex", "0")


def test_keys_walk_from_row_to_row_user_to_user_and_end_to_end(long_page: Page) -> None:
    press(long_page, "j")
    expect(row(long_page, "m0")).to_be_focused()
    press(long_page, "j", "j", "k")
    expect(row(long_page, "m1")).to_be_focused()
    press(long_page, "J")
    expect(row(long_page, "m10")).to_be_focused()
    press(long_page, "K")
    expect(row(long_page, "m0")).to_be_focused()
    press(long_page, "G")
    expect(row(long_page, f"m{LONG - 1}")).to_be_focused()
    press(long_page, "g", "g")
    expect(row(long_page, "m0")).to_be_focused()


def test_j_goes_on_where_the_loaded_rows_end(long_page: Page) -> None:
    row(long_page, "m99").focus()
    press(long_page, "j")
    expect(row(long_page, "m100")).to_be_focused()


def test_an_address_with_a_key_leads_to_its_message(
    long_page: Page, long_session: str
) -> None:
    long_page.goto("about:blank")
    long_page.goto(f"/sessions/{long_session}/#n-m2222")
    expect(row(long_page, "m2222")).to_be_focused()


def test_an_address_that_is_typed_on_the_page_leads_to_its_message(
    page: Page, open_thread: OpenThread
) -> None:
    session = open_thread(700)
    page.goto(f"/sessions/{session}/#n-m600")
    expect(row(page, "m600")).to_be_focused()
    expect(row(page, "m600")).to_be_in_viewport()


@pytest.mark.parametrize("end", ["#600", "#m600"])
def test_an_address_with_a_number_leads_to_its_message_loaded_or_not(
    page: Page, open_thread: OpenThread, end: str
) -> None:
    session = open_thread(700)
    for typed, key in ((end, "m600"), ("#3", "m3"), (end, "m600")):
        page.goto(f"/sessions/{session}/{typed}")
        expect(row(page, key)).to_be_focused()
        expect(row(page, key)).to_be_in_viewport()


def test_an_address_whose_end_is_no_text_stays_a_thread(
    page: Page, new_session: Callable[[int], str]
) -> None:
    page.goto(f"/sessions/{new_session(5)}/#100%")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")


def test_keys_that_go_somewhere_go_nowhere_where_there_are_no_messages(
    page: Page, open_thread: OpenThread
) -> None:
    session = open_thread(0)
    press(page, "g", "g", "G", "O", "j", "k", "n", "F", "J")
    notices = page.locator("#toasts .toast p")
    expect(notices).to_have_text(["No next user message."])
    visit(page, session, query="#n-m5")
    expect(notices).to_have_text(["It is not in this view."])


def test_n_finds_a_marker_that_is_not_loaded(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(700)
    go_to(page, 650)
    snip(page)
    expect(row(page, "o1")).to_be_focused()
    press(page, "g", "g")
    expect(row(page, "m0")).to_be_focused()
    press(page, "n")
    expect(row(page, "o1")).to_be_focused()
    press(page, "n")
    expect(page.locator("#said")).to_have_text("No next marker.")
    expect(page.locator("#toasts")).to_have_text("No next marker.")
    press(page, ":", "9", "9", "9", "Enter")
    expect(page.locator("#toasts")).to_have_text(
        "There is no message #999 in this view."
    )


def test_f_finds_a_failed_result_that_is_not_loaded_or_in_a_fold(
    page: Page, api: httpx.Client
) -> None:
    messages = conversation(700)
    for index in (3, 650):
        call = {"id": "a", "name": "bash", "input": {"command": "make"}}
        result = {"tool_use_id": "a", "content": "No rule", "is_error": True}
        messages[index : index + 2] = [
            {"role": "assistant", "content": [{"type": "tool_use", **call}]},
            {"role": "user", "content": [{"type": "tool_result", **result}]},
        ]
    session = api.post("/api/sessions", json={"messages": messages}).json()["id"]
    visit(page, session)
    press(page, "f")
    expect(row(page, "m4")).to_be_focused()
    press(page, "f")
    expect(row(page, "m651")).to_be_focused()
    press(page, "f")
    expect(page.locator("#toasts")).to_have_text("No next failed tool result.")
    press(page, "F")
    expect(row(page, "m4")).to_be_focused()
    press(page, ".")
    expect(page.locator("#toasts")).to_contain_text("There is no operation here.")
    digest = {"type": "digest", "range": [600, 699], "summary": "Sum"}
    operations = f"/api/sessions/{session}/operations"
    api.post(operations, json=digest).raise_for_status()
    visit(page, session)
    press(page, "f")
    expect(row(page, "m4")).to_be_focused()
    press(page, "f")
    expect(row(page, "m651")).to_be_focused()
    expect(row(page, "o1")).to_contain_text("Fold #600–#699")


def test_what_is_proposed_is_gone_to_read_and_decided_on_with_its_bundle(
    page: Page, open_thread: OpenThread, api: httpx.Client
) -> None:
    session = open_thread(500)
    snip = {"type": "snip", "propose": True}
    snips = [snip | {"start_idx": at, "end_idx": at} for at in (450, 460)]
    body = {"title": "Shorten", "operations": snips}
    api.post(f"/api/sessions/{session}/bundles", json=body).raise_for_status()
    page.locator("#outline").get_by_role("link", name="Shorten").click()
    expect(row(page, "m450")).to_be_focused()
    expect(row(page, "m450").locator(".flat--bundle")).to_be_in_viewport()
    row(page, "m450").get_by_role("link", name="Next part").click()
    expect(row(page, "m460")).to_be_focused()
    press(page, "a")
    expect(row(page, "o1")).to_be_visible()
    expect(row(page, "o2")).to_be_visible()


def test_keys_are_left_alone_in_fields_dialogs_and_menus(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(12)
    row(page, "m2").focus()
    press(page, "Control+k")
    page.keyboard.type("jjj")
    expect(page.locator("#palette-input")).to_have_value("jjj")
    press(page, "Escape")
    expect(row(page, "m2")).to_be_focused()
    page.get_by_role("button", name="More for message #2", exact=True).click()
    press(page, "x", "Escape")
    expect(page.locator("#selection")).to_be_hidden()


def test_single_keys_can_be_switched_off(page: Page, open_thread: OpenThread) -> None:
    open_thread(12)
    row(page, "m2").focus()
    press(page, "?")
    page.get_by_label("Enable single-key shortcuts (without Control or Alt)").uncheck()
    press(page, "Escape", "j")
    expect(row(page, "m2")).to_be_focused()
    press(page, "x")
    expect(page.locator("#selection")).to_be_hidden()
    page.reload()
    row(page, "m2").focus()
    press(page, "j")
    expect(row(page, "m2")).to_be_focused()
    press(page, "?")
    page.get_by_label("Enable single-key shortcuts (without Control or Alt)").check()
    press(page, "Escape", "j")
    expect(row(page, "m3")).to_be_focused()


def test_a_held_key_does_not_repeat_what_changes_something(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(12)
    row(page, "m2").focus()
    snip(page)
    expect(row(page, "o1")).to_be_focused()
    page.keyboard.down(".")
    page.keyboard.down(".")
    page.keyboard.up(".")
    expect(row(page, "m2")).to_be_visible()
    expect(page.locator("#entries-count")).to_have_text("2")


def test_the_key_sheet_lists_what_the_keys_do(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(3)
    press(page, "?")
    shown = page.locator("#keys dd").all_inner_texts()
    live = page.evaluate(
        "async (file) => (await import(file)).availableCommands()"
        ".filter(({ keys }) => keys.length).map(({ name }) => name)",
        static("js/base/keys.js"),
    )
    assert sorted(shown) == sorted(live)


def test_the_palette_runs_a_command_by_its_words(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(12)
    row(page, "m5").focus()
    press(page, "Control+k")
    page.keyboard.type("sni")
    expect(page.get_by_role("option")).to_have_count(1)
    press(page, "Enter")
    expect(page.get_by_role("heading", name="Snip")).to_be_visible()
    press(page, "Enter")
    expect(row(page, "o1")).to_be_focused()


def test_colours_are_kept_over_a_reload(page: Page, open_thread: OpenThread) -> None:
    open_thread(3)
    page.get_by_role("button", name="Theme").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    page.get_by_role("button", name="Theme").click()
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.get_by_role("button", name="Theme").click()
    assert page.locator("html").get_attribute("data-theme") is None


def test_the_palette_asks_for_a_number_where_one_goes_to_a_message(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread()
    press(page, ":")
    expect(page.locator("#palette-none")).to_have_text("Type the number of a message.")
    page.keyboard.type("nowhere")
    expect(page.locator("#palette-none")).to_have_text("No command matches.")


PLACE = """() => {
  const seen = [...document.querySelectorAll('article[data-key]')]
    .find((row) => row.getBoundingClientRect().bottom > 200);
  return `${seen?.id} ${Math.round(seen?.getBoundingClientRect().top)}`;
}"""


def test_a_reload_and_the_way_back_lead_to_the_rows_that_were_read(
    long_page: Page, long_session: str
) -> None:
    go_to(long_page, 1500)
    expect(row(long_page, "m1500")).to_be_focused()
    long_page.mouse.move(700, 500)
    long_page.mouse.wheel(0, 4000)  # past rows whose height only this page knows
    expect(row(long_page, "m1500")).not_to_be_in_viewport()
    place = long_page.evaluate(PLACE)
    stands = f"(place) => ({PLACE})() === place"
    long_page.wait_for_function(stands, arg=place)
    long_page.reload()
    long_page.wait_for_function(stands, arg=place)
    long_page.goto("/sessions/")
    long_page.go_back()
    long_page.wait_for_function(stands, arg=place)
    long_page.goto("/sessions/")
    visit(long_page, long_session)
    expect(row(long_page, "m0")).to_be_in_viewport()


def test_a_long_outline_follows_what_is_read(long_page: Page) -> None:
    marked = long_page.locator("#outline-list a[aria-current]")
    expect(marked).to_be_in_viewport()
    go_to(long_page, 1503)
    row(long_page, "m1503").evaluate("(row) => row.scrollIntoView()")
    expect(marked).to_have_attribute("data-to", "m1500")
    expect(marked).to_be_in_viewport()
    go_to(long_page, 2200)  # the first of its section
    expect(marked).to_have_attribute("data-to", "m2200")
    press(long_page, "G")
    expect(marked).to_have_attribute("data-to", re.compile("m29[0-9]0"))
    go_to(long_page, 1210)  # of 300 groups those in the middle are not listed
    expect(marked).to_have_count(0)


def test_the_outline_marks_the_group_that_is_read(
    page: Page, open_thread: OpenThread
) -> None:
    page.set_viewport_size({"width": 1440, "height": 500})
    open_thread(60)
    marked = page.locator("#outline-list a[aria-current]")
    expect(marked).to_have_attribute("data-to", "m0")
    for number, head in ((42, "m40"), (20, "m20")):
        go_to(page, number)
        row(page, f"m{number}").evaluate("(row) => row.scrollIntoView()")
        expect(marked).to_have_attribute("data-to", head)
    snip(page)
    expect(page.locator("#outline-list a[data-to=o1]")).to_be_visible()
    expect(marked).to_have_count(1)


def test_the_outline_marks_the_group_in_which_a_fold_begins_that_it_does_not_list(
    page: Page, api: httpx.Client, new_session: Callable[[int], str]
) -> None:
    session = new_session(60)
    operations = f"/api/sessions/{session}/operations"
    digest = {"type": "digest", "range": [0, 24], "summary": "What came first."}
    api.post(operations, json=digest).raise_for_status()
    newer = {
        "type": "insert",
        "after_idx": 59,
        "messages": [{"role": "user", "content": "More."}],
    }
    for _ in range(200):
        api.post(operations, json=newer).raise_for_status()
    marked = page.locator("#outline-list a[aria-current]")
    for view in ("annotated", "effective"):
        visit(page, session, query=f"?view={view}")
        expect(page.locator("#outline-list a[data-to=o1]")).to_have_count(0)
        expect(marked).to_have_attribute("data-to", "m0")


def test_a_fold_that_begins_where_nothing_is_loaded_takes_the_focus_of_the_last_it_holds(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(700)
    row(page, "m0").focus()
    press(page, "m")
    go_to(page, 600)
    expect(row(page, "m600")).to_be_focused()
    # As is done to the farthest sections of a long thread.
    page.route(re.compile("count=100"), lambda route: route.abort())
    page.locator(".chunk").evaluate_all(
        """(all) => all.slice(0, 5).forEach((section) => {
            section.dataset.height = section.offsetHeight;
            section.style.height = `${section.offsetHeight}px`;
            section.replaceChildren();
        })"""
    )
    press(page, "'")
    expect(page.locator("#selection-count")).to_have_text("601 messages")
    snip(page)
    expect(row(page, "o1")).to_be_focused()
