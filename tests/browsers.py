"""A real browser, in which unexpected errors fail the test."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    expect,
    sync_playwright,
)

from .servers import Server

COMMANDS = ("chromium-headless-shell", "chromium")
"""The system's browsers; the first opens a window in a fifth of the time."""

PATIENCE_MS = 240_000
"""How long a condition may take to come true on a machine that is busy with other things.

A passing test waits no longer than necessary; only a failing one reports later."""

expect.set_options(timeout=PATIENCE_MS)


def system_chromium() -> str | None:
    """The path of the system's browser; None if only Playwright's own is available."""
    return next(filter(None, map(shutil.which, COMMANDS)), None)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser for a whole module.

    Playwright's event loop keeps Django's database out of the thread in which it runs.
    """
    yield from launched()


def launched() -> Iterator[Browser]:
    """Launch Chromium: the system's or else Playwright's own; closed when the generator resumes."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=system_chromium(),
            args=["--disable-gpu"],  # without a GPU, emulating one takes longer
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def signed_in(chromium: Browser, server: Server) -> dict[str, object]:
    """The cookies of the owner of the module's server."""
    context = chromium.new_context()
    page = context.new_page()
    page.goto(server.sign_in_url())
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda address: "/sign-in/" not in address)
    state = context.storage_state()
    context.close()
    return dict(state)


class Faults(list[str]):
    """The faults of a page; a test declares those that it provokes."""

    def __init__(self) -> None:
        super().__init__()
        self._expected: list[str] = []
        self.is_over = False
        """Whether the window is being closed: what that interrupts is no fault."""

    def expect(self, words: str) -> None:
        """Ignore faults that contain these words."""
        self._expected.append(words)

    @property
    def unexpected(self) -> list[str]:
        """The faults that no test declared."""
        return [
            fault
            for fault in self
            if not any(words in fault for words in self._expected)
        ]


@pytest.fixture
def faults() -> Iterator[Faults]:
    """JavaScript errors, console errors and CSP violations of the test's pages."""
    found = Faults()
    yield found
    assert found.unexpected == []


@pytest.fixture
def context(
    chromium: Browser,
    server: Server,
    signed_in: dict[str, object],
    faults: Faults,
    request: pytest.FixtureRequest,
) -> Iterator[BrowserContext]:
    """A signed-in window of 1440 × 900; the module's `browser_options` change its settings."""
    options = {"viewport": {"width": 1440, "height": 900}} | getattr(
        request.module, "browser_options", {}
    )
    reported = server.log.count("CSP report")
    window = chromium.new_context(
        base_url=server.url,
        storage_state=signed_in,
        **options,  # type: ignore[arg-type]
    )
    window.set_default_timeout(PATIENCE_MS)
    window.on("page", lambda page: _watch(page, faults))
    yield window
    window.cookies()  # by now everything earlier was reported
    faults.is_over = True
    window.close()
    faults.extend(["a CSP report"] * (server.log.count("CSP report") - reported))


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """A blank page of the signed-in window, watched for faults."""
    return context.new_page()


def _watch(page: Page, faults: Faults) -> None:
    page.on("pageerror", lambda error: faults.append(f"JavaScript: {error}"))
    page.on(
        "console",
        lambda message: (
            faults.append(
                f"console: {message.text} ({message.location.get('url', '')})"
            )
            if message.type == "error" and not faults.is_over
            else None
        ),
    )
