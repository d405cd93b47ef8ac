"""What axe finds serious on a page."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

SERIOUS = ("serious", "critical")


def found_in(page: Page, *, within: str | None = None) -> list[str]:
    """What axe calls serious or critical, in the light theme and in the dark one."""
    found = []
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        violations = Axe().run(page, context=within).response["violations"]
        found += [
            f"{theme}, {violation['id']}: {node['html'][:200]} {node['failureSummary']}"
            for violation in violations
            if violation["impact"] in SERIOUS
            for node in violation["nodes"][:3]
        ]
    return found
