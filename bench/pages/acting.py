"""What people wait for on a page, and what shifts meanwhile: `python -m bench.pages.acting`.

Its rows are R4, R5 and R6 of docs/performance.md, measured in chromium.

R4: the layout shifts of each page since its navigation (the sum that browsers report as CLS). R5:
10,000 messages are scrolled by 600 px a frame for 900 frames, and back up from the end; a frame is
blank if the middle of the viewport shows no row, and the longest run of blank frames counts. R6:
from a key press to the frame that shows its result, at 10,000 messages: a digest of ten, selecting
all messages by a mark, a jump to the other end; the slowest of three. A page that did not respond,
or was scrolled by fewer frames, counts as a miss.
"""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench import processes
from bench.context.replay import Row

SIZE, SHORT = 10_000, 200
STEP_PX, ROUNDS, FRAMES = 600, 3, 900
MAX_SHIFT, MAX_BLANK, MAX_MS = 0.02, 2, 500

_SHIFTS = """() => {
  window.shifted = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
}"""
_SCROLL = """async ([px, most]) => {
  const isBlank = () => !document.elementFromPoint(innerWidth / 2, innerHeight / 2)
    ?.closest("#feed article");
  // A jump goes on bringing its row into sight for a few frames, and so takes the page back.
  for (let still = 0; still < 10; still = scrollY ? 0 : still + 1) {
    scrollTo({ top: 0, behavior: "instant" });
    await new Promise(requestAnimationFrame);
  }
  await new Promise((rested) => setTimeout(rested, 1500));
  let run = 0, longest = 0, frames = 0, all = 0;
  const bottom = () => document.documentElement.scrollHeight - innerHeight - 1;
  let way = 1;
  while (bottom() > 0 && frames < most) {
    if (scrollY >= bottom()) way = -1;
    scrollBy({ top: way * px, behavior: "instant" });
    await new Promise(requestAnimationFrame);
    frames += 1;
    run = isBlank() ? run + 1 : 0;
    all += run ? 1 : 0;
    longest = Math.max(longest, run);
  }
  return { longest, frames, all };
}"""
_PAINTED = """() => new Promise((over) => {
  const look = () => {
    if (!(SHOWS)()) return requestAnimationFrame(look);
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => over(performance.now());
    port2.postMessage(0);
  };
  look();
})"""


def rows() -> Iterator[Row]:
    """The rows; they take a few minutes, mostly for scrolling."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  # only here

    with (
        tempfile.TemporaryDirectory() as folder,
        processes.running_server(
            Path(folder),
            "bench.pages.browser_server",
            str(SHORT),
            str(SIZE),
            DATABASE_URL="",
        ) as described,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium-headless-shell")
            or shutil.which("chromium"),
            args=["--disable-gpu"],
        )
        facts = json.loads(described)
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        name, value = facts["cookie"]
        context.add_cookies([{"name": name, "value": value, "url": facts["base"]}])
        context.add_init_script(f"({_SHIFTS})()")
        page = context.new_page()
        yield from _shifts(page, facts)
        page.goto(f"{facts['base']}/sessions/{facts['sessions'][str(SIZE)]}/")
        page.locator("#feed article[aria-posinset]").first.wait_for()
        yield from _waits(page)
        yield _blank(page)
        browser.close()


def _shifts(page: Any, facts: dict[str, Any]) -> Iterator[Row]:
    base, short = facts["base"], facts["sessions"][str(SHORT)]
    pages = {
        "list": "/sessions/",
        "imports": "/imports/",
        "thread": f"/sessions/{short}/",
        "thread at a message": f"/sessions/{short}/#n-m150",
        "what the model sees": f"/sessions/{short}/context",
    }
    for name, path in pages.items():
        page.goto("about:blank")
        answer = page.goto(base + path)
        is_there = answer.ok and answer.url == (base + path).partition("#")[0]
        page.wait_for_timeout(3000)
        shifted = page.evaluate("window.shifted")
        yield Row(
            f"R4 layout shift, {name}",
            f"{shifted:.4f}",
            f"{MAX_SHIFT}",
            is_there and shifted <= MAX_SHIFT,
        )


def _waits(page: Any) -> Iterator[Row]:
    for name, act in (("digest", _digest), ("select", _select), ("jump", _jump)):
        slowest = max(act(page, turn) for turn in range(ROUNDS))
        yield Row(
            f"R6 {name}, {SIZE:,} messages",
            f"{slowest:.0f} ms",
            f"{MAX_MS} ms",
            slowest <= MAX_MS,
        )


def _timed(page: Any, press: Callable[[], object], shows: str) -> float:
    begun = page.evaluate("performance.now()")
    press()
    painted = page.evaluate(_PAINTED.replace("SHOWS", shows))
    return float(painted - begun)


def _digest(page: Any, turn: int) -> float:
    """From Control+Enter in the form to the marker."""
    first = 20 * turn + 1
    page.locator(f"#n-m{first}").focus()
    page.keyboard.press("x")
    for _ in range(9):
        page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("d")
    page.locator("#dialog textarea").fill("What was done.")
    page.wait_for_timeout(1500)  # the estimate is shown
    return _timed(
        page,
        lambda: page.keyboard.press("Control+Enter"),
        f"() => document.getElementById('n-o{turn + 1}')",
    )


def _select(page: Any, turn: int) -> float:
    """From the apostrophe key to the count in the bar: selects from here to the other end."""
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("g")
    page.wait_for_timeout(1500)
    page.keyboard.press("m")
    page.keyboard.press("G")
    page.wait_for_timeout(2000)
    return _timed(
        page,
        lambda: page.keyboard.press("'"),
        "() => document.getElementById('selection-count').textContent.includes(',')",
    )


def _jump(page: Any, turn: int) -> float:
    """From the key for the last (or first) message until that message has the focus."""
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("g")
    page.wait_for_timeout(2000)
    last = f"n-m{SIZE - 1}"
    return _timed(
        page,
        lambda: page.keyboard.press("G"),
        f"() => document.activeElement.id === '{last}'",
    )


def _blank(page: Any) -> Row:
    found = page.evaluate(_SCROLL, [STEP_PX, FRAMES])
    return Row(
        f"R5 longest run of blank frames, {SIZE:,} messages",
        f"{found['longest']} ({found['all']} of {found['frames']:,})",
        f"{MAX_BLANK}",
        found["frames"] == FRAMES and found["longest"] <= MAX_BLANK,
    )


if __name__ == "__main__":
    for row in rows():
        print(f"{row.name:52} {row.value:>20} {row.bar:>8} {row.ok}", flush=True)
