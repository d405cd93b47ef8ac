"""Takes the pictures of docs/guide.md: `.venv/bin/python -m docs.make_pictures`.

It starts its own server with the demonstration session and a live one, and needs what the tests
need.
"""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

from playwright.sync_api import (
    Browser,
    FloatRect,
    Page,
    ViewportSize,
    expect,
    sync_playwright,
)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextstudio.settings")

from docs.live_session import live_session
from tests.browsers import system_chromium
from tests.servers import Server

FOLDER = Path(__file__).parent / "pictures"
WIDE: ViewportSize = {"width": 1440, "height": 900}
NARROW: ViewportSize = {"width": 390, "height": 844}
SHEET: FloatRect = {"x": 270, "y": 80, "width": 820, "height": 820}
"""The part of a wide window that shows the thread, in pixels."""

LATE_MS = 2500
"""By then a page has loaded its provider checks and the costs of operations."""

Act = Callable[[Page], None]


def show(page: Page, key: str) -> None:
    """Scroll a row or a marker to the top of the window, below the fixed header."""
    row = page.locator(f"#n-{key}")
    row.evaluate("row => row.scrollIntoView()")
    page.mouse.move(700, 450)
    page.mouse.wheel(0, -60)
    page.wait_for_timeout(300)


def nothing(_page: Page) -> None:
    """Leave the page as it opens."""


def open_digest(page: Page) -> None:
    """Unfold the agent's digest."""
    page.locator("#n-o9 .disclosure").click()
    page.locator("#n-o9-in").wait_for()
    show(page, "o9")


def select(page: Page) -> None:
    """Select six messages."""
    show(page, "m69")
    page.locator("#n-m69 .pick").click()
    page.locator("#n-m74 .pick").click(modifiers=["Shift"])
    page.locator("#selection-count").wait_for()


def write_digest(page: Page) -> None:
    """Open the digest dialog for the selection."""
    select(page)
    page.keyboard.press("d")
    page.locator("#dialog textarea").fill(
        "`harbour/holds/model.py` stores the moment in UTC; every minute of a year comes "
        "back as it was, 19 tests pass."
    )
    estimate = page.locator("#dialog .estimate")
    expect(estimate).to_contain_text("turns")
    expect(estimate).not_to_contain_text("before the text")


def show_moved(page: Page) -> None:
    """Show from where the release note was moved, and where it is now."""
    show(page, "m118")


def archive_some(page: Page) -> None:
    """Apply the pruning plan, add two entries to the tray, read a third."""
    archive = page.get_by_role("link", name="Archive", exact=True).get_attribute("href")
    page.get_by_role("button", name="Apply: save").click()
    page.wait_for_url(lambda address: "/prune" not in address)
    page.goto(archive or "")
    for _ in range(2):
        waiting = page.get_by_role("button", name="Add to tray")
        count = waiting.count()
        waiting.nth(3).click()
        expect(waiting).to_have_count(count - 1)
    page.locator(".archive-entry").nth(1).click()
    page.locator(".archive-reading .output").wait_for()
    page.evaluate("scrollTo(0, 0)")


def show_words(page: Page) -> None:
    """Show a revised message, a snip that is off, and a failing test."""
    show(page, "m40")


def show_differences(page: Page) -> None:
    """Show the request and the original side by side."""
    heading = page.get_by_role("heading", name="Differences")
    heading.evaluate("heading => heading.scrollIntoView()")


class Picture(NamedTuple):
    """A picture to take: a page in a window and colours, after an action, or a part of it."""

    name: str
    address: str = "{thread}"
    window: ViewportSize = WIDE
    colours: Literal["light", "dark"] = "light"
    act: Act = nothing
    part: FloatRect | None = None


PICTURES = (
    Picture("sessions", "sessions/"),
    Picture("thread-light"),
    Picture("thread-dark", colours="dark"),
    Picture("narrow", window=NARROW),
    Picture("selection", act=select, part=SHEET),
    Picture("digest", act=write_digest, part=SHEET),
    Picture("fold-open", act=open_digest, part=SHEET),
    Picture("words", act=show_words, part=SHEET),
    Picture("moved", act=show_moved, part=SHEET),
    Picture(
        "compared",
        "{thread}context?provider=anthropic&against=original",
        act=show_differences,
    ),
    Picture("requests", "{live}requests"),
    Picture("what-the-model-saw", "{live}sent?request=10"),
    Picture("prune", "{thread}prune"),
    Picture("archive", "{thread}prune", act=archive_some),  # changes the session: last
)


def main() -> None:
    """Take all pictures."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as data, sync_playwright() as playwright:
        may_call_itself = {"CONTEXTSTUDIO_ALLOW_PRIVATE_UPSTREAMS": "1"}
        server = Server(Path(data), variables=may_call_itself).start()
        chromium = playwright.chromium.launch(executable_path=system_chromium())
        try:
            take_all(chromium, server)
        finally:
            chromium.close()
            server.stop()


def take_all(chromium: Browser, server: Server) -> None:
    """Sign in once, then take each picture in a window of its own."""
    context = chromium.new_context(base_url=server.url)
    page = context.new_page()
    page.goto(server.link)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda address: "/sign-in/" not in address)
    page.goto("/sessions/")
    found = page.locator("a", has_text="Night sailings").first.get_attribute("href")
    places = {"thread": found, "live": live_session(server)}
    signed_in = context.storage_state()
    context.close()
    for picture in PICTURES:
        context = chromium.new_context(
            base_url=server.url,
            storage_state=signed_in,
            viewport=picture.window,
            color_scheme=picture.colours,
            reduced_motion="reduce",
        )
        page = context.new_page()
        page.goto(picture.address.format(**places))
        page.wait_for_timeout(LATE_MS)
        page.wait_for_load_state("networkidle")
        picture.act(page)
        page.wait_for_timeout(400)
        page.screenshot(path=FOLDER / f"{picture.name}.png", clip=picture.part)
        context.close()


if __name__ == "__main__":
    main()
