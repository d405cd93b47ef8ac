"""What axe finds serious on a page."""

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

SERIOUS = ("serious", "critical")
ALL = {"resultTypes": ["violations"], "preload": False}
"""All rules. None of them asks for the style sheets and media that axe would fetch once more."""
OF_COLOURS = ALL | {
    "runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
}
"""The rules whose answer a theme can change: it changes colours, and nothing else."""


def found_in(page: Page, *, within: str | None = None) -> list[str]:
    """What axe calls serious or critical, in the light theme and in the dark one."""
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
    """What axe finds; a document that has it already needn't read its half megabyte again."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    found: list[dict[str, Any]] = page.evaluate(
        "async ([within, rules]) => (await axe.run(within ?? document, rules)).violations",
        [within, rules],
    )
    return found
