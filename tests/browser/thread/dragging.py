"""Mouse dragging on the page, and where rows end up."""

import httpx
from playwright.sync_api import Locator, Page

from tests.browser.conftest import row

STEP_PX = 60


def handle_of(target: Locator) -> tuple[float, float]:
    """The middle of a row's handle, in the viewport."""
    box = target.locator(".handle").first.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def pick_up(page: Page, key: str) -> tuple[float, float]:
    """Press on a row's handle and move beyond the slop."""
    x, y = handle_of(row(page, key))
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 10, y + 10, steps=3)
    return x, y


def drag_over(page: Page, key: str) -> None:
    """Move the dragged rows to the lower half of a row that is in view."""
    box = row(page, key).bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 60, box["y"] + box["height"] * 0.8, steps=4)


def order(api: httpx.Client, session: str) -> list[str]:
    """The keys of the thread, from REST."""
    keys: list[str] = []
    start = 0
    while True:
        answer = api.get(
            f"/api/sessions/{session}/thread?start={start}&limit=500"
        ).json()
        keys += [node["key"] for node in answer["nodes"]]
        start += 500
        if start >= answer["total"]:
            return keys
