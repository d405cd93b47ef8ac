"""Menus stay in the window, and pages load without a word in the console."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenThread, press, row, see_the_checks

pytestmark = pytest.mark.browser


def is_inside(page: Page, menu: Locator) -> bool:
    box, size = menu.bounding_box(), page.viewport_size
    assert box is not None
    assert size is not None
    return (
        box["x"] >= 0
        and box["y"] >= 0
        and box["x"] + box["width"] <= size["width"]
        and box["y"] + box["height"] <= size["height"]
    )


@pytest.mark.parametrize(("width", "height"), [(1280, 500), (390, 560)])
def test_menus_stay_in_a_small_window(
    page: Page, open_thread: OpenThread, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    open_thread(30)
    for key in ("m0", "m3", "m12"):
        row(page, key).scroll_into_view_if_needed()
        row(page, key).locator(".menu-button").first.click()
        menu = page.locator("#row-menu")
        expect(menu).to_be_visible()
        assert is_inside(page, menu)
        press(page, "Escape")
    for opener, menu_id in (
        ("More: views" if width < 700 else "Export", "#export"),
        ("Session pages", "#beside"),
    ):
        button = page.get_by_role("button", name=opener)
        if not button.is_visible():
            continue
        button.click()
        expect(page.locator(menu_id)).to_be_visible()
        assert is_inside(page, page.locator(menu_id))
        press(page, "Escape")
    page.goto("/sessions/")
    last = page.locator(".t-menu button").last
    last.scroll_into_view_if_needed()
    # Scrolling closes the menu, and is told a frame later.
    page.evaluate(
        "() => new Promise((d) => requestAnimationFrame(() => setTimeout(d)))"
    )
    last.click()
    expect(page.locator("#session-menu")).to_be_visible()
    assert is_inside(page, page.locator("#session-menu"))


def test_what_the_browser_does_not_let_be_copied_is_shown(
    page: Page, open_thread: OpenThread
) -> None:
    page.add_init_script("delete Navigator.prototype.clipboard")  # as over plain HTTP
    session = open_thread(12)
    row(page, "m3").focus()
    row(page, "m3").get_by_role("button", name="More for message #3").click()
    page.get_by_role("menuitem", name="Copy link").click()
    shown = page.locator(".toast--error")
    expect(shown).to_contain_text(f"/sessions/{session}/#n-m3")


@pytest.mark.parametrize(
    ("opener", "menu_id"), [("Export", "#export"), ("Session", "#beside")]
)
def test_a_menu_of_the_top_bar_opens_below_its_button(
    page: Page, open_thread: OpenThread, opener: str, menu_id: str
) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    open_thread(3)
    button = page.locator(".topbar").get_by_role("button", name=opener)
    button.click()
    assert is_below(page.locator(menu_id), button)


def test_exports_that_the_palette_opens_stand_below_their_button_too(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(3)
    press(page, "Control+k")
    page.keyboard.type("export")
    press(page, "Enter")
    button = page.get_by_role("button", name="Export")
    expect(page.locator("#export")).to_be_visible()
    assert is_below(page.locator("#export"), button)


def is_below(menu: Locator, button: Locator) -> bool:
    box, opener = menu.bounding_box(), button.bounding_box()
    assert box is not None
    assert opener is not None
    right, top = opener["x"] + opener["width"], opener["y"] + opener["height"]
    return abs(box["x"] + box["width"] - right) < 1 and 0 <= box["y"] - top <= 8


PAGES = ["", "context", "policy", "notes", "memos", "events"]
PLACES = ["/sessions/", "/sessions/deleted", "/imports/", "/settings/projects/"]


def test_no_page_fails_a_request_or_writes_to_the_console(
    page: Page, open_thread: OpenThread
) -> None:
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    # What the next page's navigation cuts short has not failed.
    page.on(
        "requestfailed",
        lambda request: (
            said.append(f"{request.url}: {request.failure}")
            if request.failure != "net::ERR_ABORTED"
            else None
        ),
    )
    page.on(
        "response",
        lambda answer: said.append(answer.url) if answer.status >= 400 else None,
    )
    session = open_thread(12)
    own = [f"/sessions/{session}/{path}" for path in PAGES]
    for path in [*own, *PLACES, "/settings/keys/"]:
        page.goto(path, wait_until="networkidle")
        see_the_checks(page)
    assert said == []
