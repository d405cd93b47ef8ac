"""What axe finds serious on a page."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

SERIOUS = ("serious", "critical")
ALL = {"resultTypes": ["violations"]}
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
        violations = Axe().run(page, within, rules).response["violations"]
        found += [
            f"{theme}, {violation['id']}: {node['html'][:200]} {node['failureSummary']}"
            for violation in violations
            if violation["impact"] in SERIOUS
            for node in violation["nodes"][:3]
        ]
    page.emulate_media(color_scheme="dark" if was_dark else "light")
    return found
