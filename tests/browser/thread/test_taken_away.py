"""What leaves the page: on paper and copied, it is what was said, without what is pressed."""

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import OpenThread, row

pytestmark = pytest.mark.browser
FRAME = ".rail, .topbar-end, .minimap, .outline, .drawer, .bottom-bar, .toasts"
SELECTED = """() => {
  const range = document.createRange();
  range.setStart(document.querySelector("#n-m3"), 0);
  range.setEndAfter(document.querySelector("#n-m4 .body"));
  getSelection().removeAllRanges();
  getSelection().addRange(range);
  return String(getSelection());
}"""


@pytest.mark.parametrize("width", [794, 1440])
def test_a_printed_thread_has_nothing_that_lies_over_its_messages(
    page: Page, open_thread: OpenThread, width: int
) -> None:
    open_thread(12)
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(media="print")
    for one in page.locator(FRAME).all():
        expect(one).to_be_hidden()
    expect(page.locator(".topbar")).to_have_css("position", "static")
    meter, its_bar = page.locator(".meter"), page.locator(".meter-bar")
    sheet = page.locator(".sheet")
    expect(meter).to_have_css("position", "relative")
    bottom = "(one) => one.getBoundingClientRect().bottom"
    assert its_bar.evaluate(bottom) == meter.evaluate(bottom)
    top = "(one) => one.getBoundingClientRect().top"
    assert meter.evaluate(bottom) <= sheet.evaluate(top)
    expect(row(page, "m1")).to_be_visible()


def test_a_thread_is_printed_light_whatever_theme_it_is_read_in(
    page: Page, context: BrowserContext, open_thread: OpenThread
) -> None:
    context.add_cookies(
        [{"name": "theme", "value": "dark", "url": _origin(page, open_thread)}]
    )
    page.reload()
    sheet = row(page, "m1")
    dark = sheet.evaluate("(one) => getComputedStyle(one).backgroundColor")
    page.emulate_media(media="print")
    page.wait_for_function(
        "(dark) => getComputedStyle(document.querySelector('#n-m1')).backgroundColor !== dark",
        arg=dark,
    )


def _origin(page: Page, open_thread: OpenThread) -> str:
    open_thread(3)
    return page.url


def test_messages_that_are_not_loaded_take_no_paper_but_a_line(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(900)
    page.emulate_media(media="print")
    away = page.locator(".chunk[data-height]")
    heights = away.evaluate_all("(all) => all.map((one) => one.offsetHeight)")
    assert len(heights) > 3
    assert sum(heights) < 100
    told = "(one) => getComputedStyle(one, '::after').content"
    assert "Export" in away.first.evaluate(told)
    assert away.last.evaluate(told) == "none"


def test_what_a_model_sees_is_printed_without_the_form_that_chooses(
    page: Page, new_session: Callable[[int], str]
) -> None:
    page.goto(f"/sessions/{new_session(3)}/context")
    page.emulate_media(media="print")
    expect(page.locator(".context-form")).to_be_hidden()
    expect(page.locator(".figures")).to_be_visible()


def test_copied_messages_are_who_spoke_and_what_was_said_without_counts(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(12)
    tokens = row(page, "m3").locator(".tok").inner_text()
    lines = page.evaluate(SELECTED).split("\n")
    assert {"#3", "#4", "Assistant"} <= set(lines)
    assert tokens not in lines


def test_the_open_place_is_marked_where_colours_are_forced(page: Page) -> None:
    page.emulate_media(forced_colors="active")
    page.goto("/sessions/")
    for name, style in (("Sessions", "solid"), ("Imports", "none")):
        link = page.locator(".rail-link", has_text=name)
        expect(link).to_have_css("outline-style", style)


def test_the_version_of_a_fold_stands_apart_from_its_time_where_colours_are_forced(
    page: Page, open_thread: OpenThread, api: httpx.Client
) -> None:
    session = open_thread(12)
    edit = {"type": "digest", "start_idx": 2, "end_idx": 4, "summary": "They talked."}
    made = api.post(f"/api/sessions/{session}/operations", json=edit).json()
    amended = f"/api/operations/{made['operation_id']}/amend"
    assert api.post(amended, json={"summary": "They spoke."}).status_code == 200
    page.emulate_media(forced_colors="active")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.reload()
    head = row(page, "o1").locator(".marker-head")
    time, version = (head.locator(name).bounding_box() for name in ("time", ".version"))
    assert time is not None
    assert version is not None
    assert version["x"] - time["x"] - time["width"] >= 4
