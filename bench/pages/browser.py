"""What long threads cost in a browser: `python -m bench.pages.browser`.

Its rows are R1, R2 and R3 of docs/performance.md.

R1: from the start of the navigation until two frames after the page's script has run and its rows
are shown, against the same for a session of 200 messages. R2: the time between frames while the
page scrolls in steps of 1,500 px, and how many elements it holds after jumps to random places. R3:
from the arrival of the response to a switched operation until the frame that shows it is painted,
detected by a message posted in that frame (the request is reported separately). Pages are opened in
turn, so that a slow moment of the machine affects all; figures are medians, for frames the 95th
percentile.
"""

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from bench import processes
from bench.context.replay import Row

SIZES = (200, 10_000, 100_000)
ROUNDS, STEPS, STEP_PX, JUMPS = 7, 60, 1_500, 5
FRAME_MS = 1000 / 60
MAX_NODES = 10_000

_FRAMES = (
    "() => new Promise((d) => requestAnimationFrame(() => requestAnimationFrame(d)))"
)
_READY = """async () => {
  while (!document.querySelector("#feed article[aria-posinset]")) {
    if (performance.now() > 20000) throw new Error("the page was not ready in time");
    await new Promise(requestAnimationFrame);
  }
  await new Promise((d) => requestAnimationFrame(() => requestAnimationFrame(d)));
  return performance.now();
}"""
_SCROLL = """async ([steps, px]) => {
  const frames = [];
  const begun = scrollY;
  let last = performance.now();
  for (let step = 0; step < steps; step += 1) {
    scrollBy({ top: px, behavior: "instant" });
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    frames.push(now - last);
    last = now;
  }
  if (scrollY === begun) throw new Error("nothing was scrolled");
  return frames;
}"""
_JUMP = """async (part) => {
  scrollTo({ top: document.documentElement.scrollHeight * part, behavior: "instant" });
  const until = performance.now() + 1500;
  while (performance.now() < until) await new Promise(requestAnimationFrame);
  if (!document.querySelector("#feed article")) throw new Error("no row is in the page");
  return document.getElementsByTagName("*").length;
}"""
_TOGGLE = """async () => {
  const fetched = window.fetch;
  const begun = performance.now();
  let arrived = 0;
  window.fetch = async (...given) => {
    const answer = await fetched(...given);
    const text = await answer.clone().text();
    if (text.includes("thread-facts")) arrived = performance.now();
    return answer;
  };
  const isFold = () => Boolean(document.querySelector("#feed .marker .toggle"));
  const was = isFold();
  const painted = new Promise((over) => {
    new MutationObserver((_, observer) => {
      if (isFold() === was) return;
      observer.disconnect();
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => over(performance.now());
        port2.postMessage(0);
      });
    }).observe(document.body, { childList: true, subtree: true });
  });
  document.querySelector("#feed .marker .toggle, #feed .flat .toggle").click();
  const paint = await painted;
  window.fetch = fetched;
  return { paint: paint - arrived, request: arrived - begun };
}"""


def rows() -> Iterator[Row]:
    """The rows; they need a browser on this machine."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  # only here

    with (
        tempfile.TemporaryDirectory() as folder,
        processes.running_server(
            Path(folder), "bench.pages.browser_server", *SIZES, DATABASE_URL=""
        ) as described,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium-headless-shell")
            or shutil.which("chromium"),
            args=["--disable-gpu"],
        )
        measured = _measure(browser, json.loads(described))
        browser.close()
    yield from _table(measured)


def _table(measured: dict[int, dict[str, Any]]) -> Iterator[Row]:
    short = measured[SIZES[0]]
    for size in SIZES[1:]:
        long = measured[size]
        ratio = long["ready"] / short["ready"]
        figure = f"{ratio:.2f} x ({long['ready']:.0f} ms)"
        yield Row(f"R1 ready, {size:,} messages / 200", figure, "1.3 x", ratio <= 1.3)
        ratio = long["frame"] / short["frame"]
        figure = f"{ratio:.2f} x ({long['frame']:.1f} ms)"
        yield Row(
            f"R2 frame p95, {size:,} messages / 200", figure, "1.25 x", ratio <= 1.25
        )
        nodes = long["nodes"]
        name = f"R2 elements after {JUMPS} jumps, {size:,} messages"
        yield Row(name, f"{nodes:,}", f"{MAX_NODES:,}", nodes <= MAX_NODES)
        paint = long["paint"]
        name = f"R3 answer to paint, {size:,} messages"
        yield Row(name, f"{paint:.1f} ms", "33 ms", paint <= 2 * FRAME_MS)
        yield Row(
            f"R3 the request before it, {size:,}", f"{long['request']:.0f} ms", "", None
        )


def _measure(browser: Any, facts: dict[str, Any]) -> dict[int, dict[str, Any]]:
    name, value = facts["cookie"]
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.add_cookies([{"name": name, "value": value, "url": facts["base"]}])
    page = context.new_page()
    urls = {
        int(size): f"{facts['base']}/sessions/{id_}/"
        for size, id_ in facts["sessions"].items()
    }
    ready: dict[int, list[float]] = {size: [] for size in SIZES}
    for _ in range(ROUNDS + 1):
        for size, url in urls.items():
            page.goto(url, wait_until="commit")
            ready[size].append(page.evaluate(_READY))
    frames: dict[int, list[float]] = {size: [] for size in SIZES}
    for turn in range(4):
        for size, url in urls.items():
            page.goto(url)
            page.evaluate(_READY)
            page.wait_for_timeout(500)
            taken = page.evaluate(_SCROLL, [STEPS, STEP_PX])
            frames[size] += taken if turn else []
    found = {}
    for size, url in urls.items():
        found[size] = {
            "ready": median(ready[size][1:]),
            "frame": quantiles(frames[size], n=20)[-1],
            "nodes": max(
                page.evaluate(_JUMP, place / JUMPS) for place in range(JUMPS + 1)
            ),
            **_edits(page, url),
        }
    return found


def _edits(page: Any, url: str) -> dict[str, float]:
    """A digest of ten visible messages, switched off and on."""
    page.goto(url)
    page.evaluate(_READY)
    fields = {"type": "digest", "targets": " ".join(f"m{n}" for n in range(2, 12))}
    page.evaluate(
        """async ([url, fields]) => {
          const token = JSON.parse(document.body.getAttribute("hx-headers"))["X-CSRFToken"];
          const body = new URLSearchParams(fields);
          await fetch(url, { method: "POST", body, headers: { "X-CSRFToken": token } });
        }""",
        [f"{url}operations", {**fields, "summary": "What was done."}],
    )
    page.goto(url)
    page.evaluate(_READY)
    page.wait_for_timeout(500)
    taken = []
    for _ in range(ROUNDS + 1):
        taken.append(page.evaluate(_TOGGLE))
        page.wait_for_timeout(300)
    return {
        name: median(one[name] for one in taken[1:]) for name in ("paint", "request")
    }


if __name__ == "__main__":
    for row in rows():
        print(f"{row.name:52} {row.value:>20} {row.bar:>8} {row.ok}", flush=True)
