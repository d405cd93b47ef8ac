"""Checks pages with axe for serious faults."""

from collections.abc import Iterator
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

SERIOUS = ("serious", "critical")
WIDTHS = {"wide": (1440, 900), "narrow": (390, 844)}
"""The tested window sizes, in CSS pixels."""
ALL = {"resultTypes": ["violations"], "preload": False}
"""All rules, without preloading the style sheets and media that axe would fetch again."""
OF_COLOURS = ALL | {
    "runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
}
"""The rules whose result can depend on the theme, which changes only colours."""
TWO_FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""After two frames everything that observes the window's size has reacted."""


def found_wide_and_narrow(page: Page, *, within: str | None = None) -> list[str]:
    """Faults that axe calls serious or critical, at both widths, after loading the page once."""
    return [
        f"{name}, {fault}"
        for name in sizes_of(page)
        for fault in found_in(page, within=within)
    ]


def sizes_of(page: Page) -> Iterator[str]:
    """Set each tested window size in turn; yields its name."""
    for name, (width, height) in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(TWO_FRAMES)
        yield name


def found_in(page: Page, *, within: str | None = None) -> list[str]:
    """Faults that axe calls serious or critical, in the light and the dark theme."""
    found = []
    was_dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    for theme, rules in (("light", ALL), ("dark", OF_COLOURS)):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        found += [
            f"{theme}, {violation['id']}: {node['html'][:200]} {node['failureSummary']}"
            for violation in _violations(page, within, rules)
            if violation["impact"] in SERIOUS
            for node in violation["nodes"][:3]
        ]
    page.emulate_media(color_scheme="dark" if was_dark else "light")
    return found


def _violations(
    page: Page, within: str | None, rules: dict[str, object]
) -> list[dict[str, Any]]:
    """The violations that axe finds; its half megabyte is sent to a page only once."""
    if not page.evaluate("'axe' in window"):
        script = Axe().axe_script
        page.add_init_script(script)
        page.evaluate(script)
    found: list[dict[str, Any]] = page.evaluate(
        "async ([within, rules]) => (await axe.run(within ?? document, rules)).violations",
        [within, rules],
    )
    return found
