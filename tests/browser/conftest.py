"""Threads for testing the pages, and helpers for browser tests."""

from collections.abc import Callable, Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browsers import launched
from tests.servers import PATIENCE_SECONDS, Server, started_copy

Message = dict[str, str]
OpenThread = Callable[..., str]


def conversation(count: int) -> list[Message]:
    """`count` messages; every tenth is a user's, starting with #0."""
    roles = ["user"] + ["assistant"] * 9
    return [
        {"role": roles[index % 10], "content": f"Message {index} says its words. " * 3}
        for index in range(count)
    ]


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """One browser for all of these tests, none of which uses Django's database itself.

    Launching one and rendering its first page takes longer than most of them.
    """
    yield from launched()


@pytest.fixture(scope="session")
def server(
    first_start: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """One server for all of these tests: starting one takes longer than most of them."""
    yield from started_copy(first_start, tmp_path_factory.mktemp("server"))


@pytest.fixture(scope="session")
def signed_in(server: Server) -> dict[str, object]:
    """The cookies of the server's owner, obtained without a browser."""
    return cookies_of(server)


def cookies_of(server: Server) -> dict[str, object]:
    """The storage state of a browser in which a server's owner is signed in."""
    with httpx.Client(timeout=PATIENCE_SECONDS) as client:
        server.sign_in(client)
        cookies = [
            {"name": name, "value": value, "domain": "127.0.0.1", "path": "/"}
            for name, value in client.cookies.items()
        ]
    return {"cookies": cookies, "origins": []}


@pytest.fixture(scope="session")
def api(server: Server) -> Iterator[httpx.Client]:
    """A REST client with all rights, as an agent uses it.

    It is idle while a page is examined. Both the server and httpx close connections after 5 idle
    seconds, and a request sent at that moment would be lost; so httpx closes them earlier.
    """
    with httpx.Client(
        base_url=server.url,
        headers={"Authorization": f"Bearer {server.key()}"},
        timeout=120,
        limits=httpx.Limits(keepalive_expiry=1),
    ) as client:
        yield client


@pytest.fixture
def new_session(api: httpx.Client) -> Callable[[int], str]:
    """Creates a session of `count` messages; returns its id."""

    def make(count: int) -> str:
        body = {"title": "A thread to try", "messages": conversation(count)}
        answer = api.post("/api/sessions", json=body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    return make


@pytest.fixture
def open_thread(page: Page, new_session: Callable[[int], str]) -> OpenThread:
    """Opens a new session in the page and waits for the socket; returns its id."""

    def opened(count: int = 30) -> str:
        session = new_session(count)
        visit(page, session)
        return session

    return opened


def visit(page: Page, session: str, *, query: str = "") -> None:
    """Go to the thread of a session and wait until it is live."""
    page.goto(f"/sessions/{session}/{query}")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")


def see_the_checks(page: Page) -> None:
    """Wait for the provider checks that a page requests once it is loaded."""
    if page.locator("#checks-strip").count():
        expect(page.locator("#checks-found section")).not_to_have_count(0)


def row(page: Page, key: str) -> Locator:
    """Locate the row or marker with this key."""
    return page.locator(f"#n-{key.replace('.', '_')}")


def keys_on_sheet(page: Page) -> list[str]:
    """The keys of the top-level rows that the page has loaded, in order."""
    keys: list[str] = page.evaluate(
        "() => [...document.querySelectorAll('.chunk > article')].map((row) => row.dataset.key)"
    )
    return keys


def snip(page: Page) -> None:
    """Snip the selection, or the row with the focus: the form needs no more than Enter."""
    press(page, "s")
    expect(page.locator("#dialog .button--main")).to_be_focused()
    press(page, "Enter")


def press(page: Page, *keys: str) -> None:
    """Press keys one after another."""
    for key in keys:
        page.keyboard.press(key)
