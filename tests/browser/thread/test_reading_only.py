"""Somebody who may only read sees how things stand, and nothing to press that would refuse."""

from collections.abc import Callable, Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import press, row, visit
from tests.servers import Server

pytestmark = pytest.mark.browser


@pytest.fixture(params=["viewer", "reviewer"])
def role(request: pytest.FixtureRequest) -> str:
    """A role that may not edit."""
    return str(request.param)


@pytest.fixture
def reader(
    chromium: Browser, server: Server, role: str, request: pytest.FixtureRequest
) -> Iterator[Page]:
    """A page of somebody of this role in the project."""
    context = chromium.new_context(base_url=server.url)
    page = context.new_page()
    name = f"{role}-{request.function.__name__}"
    page.goto(server.command("create_user", name, "--project", "demo", "--role", role))
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/sessions/**")
    yield page
    context.close()


def test_who_may_not_edit_sees_states_and_can_switch_nothing(
    reader: Page, role: str, new_session: Callable[[int], str], api: httpx.Client
) -> None:
    session = new_session(12)
    body = {"type": "digest", "start_idx": 2, "end_idx": 4, "summary": "They talked."}
    assert api.post(f"/api/sessions/{session}/operations", json=body).is_success
    visit(reader, session)
    switch = row(reader, "o1").locator(".toggle")
    expect(switch).to_have_text("On, digest o1")
    expect(switch).to_be_disabled()
    expect(switch.locator(".toggle-track")).to_be_hidden()
    reader.get_by_role("button", name="Unfold digest o1").click()
    expect(row(reader, "m3")).to_be_visible()
    expect(switch).to_be_disabled()
    if role == "reviewer":  # who may propose what STATE is to say
        return
    reader.goto(f"/sessions/{session}/notes")
    expect(reader.get_by_role("heading", name="STATE")).to_be_visible()
    expect(reader.get_by_role("button", name="Have a model write it")).to_have_count(0)


def test_who_may_not_edit_copies_what_is_selected(
    reader: Page, role: str, new_session: Callable[[int], str]
) -> None:
    reader.context.grant_permissions(["clipboard-read", "clipboard-write"])
    session = new_session(6)
    visit(reader, session)
    bar = reader.get_by_role("region", name="Selection")
    row(reader, "m1").locator(".pick").check()
    expect(bar).to_contain_text("1 message")
    if role == "reviewer":  # who may propose
        expect(bar.get_by_role("button", name="Digest")).to_be_visible()
        return
    expect(bar.get_by_role("button", name="Digest")).to_have_count(0)
    row(reader, "m3").locator(".pick").click(modifiers=["Shift"])
    expect(bar).to_contain_text("3 messages")
    bar.get_by_role("button", name="Copy keys").click()
    copied = "() => navigator.clipboard.readText()"
    assert reader.evaluate(copied) == "m1 m2 m3"
    bar.get_by_role("button", name="Copy link").click()
    reader.goto(reader.evaluate(copied))
    expect(reader.locator(".is-picked")).to_have_count(3)
    row(reader, "m2").locator(".pick").uncheck()
    expect(bar.get_by_role("button", name="Copy link")).to_be_hidden()


def test_nothing_is_selected_where_nothing_can_be_done_with_it(
    reader: Page, new_session: Callable[[int], str]
) -> None:
    session = new_session(3)
    reader.goto(f"/sessions/{session}/?view=original")
    expect(row(reader, "m1").locator(".pick")).to_be_hidden()
    row(reader, "m1").focus()
    press(reader, "x")
    expect(reader.get_by_text("You can select in the Annotated view.")).to_be_visible()
    expect(reader.locator(".is-picked")).to_have_count(0)


@pytest.mark.parametrize("role", ["viewer"])
def test_a_key_that_would_edit_is_answered_with_why_it_does_nothing(
    reader: Page, new_session: Callable[[int], str]
) -> None:
    session = new_session(3)
    for view, key in (
        ("annotated", "s"),
        ("annotated", "Alt+ArrowUp"),
        ("original", "e"),
    ):
        visit(reader, session, query=f"?view={view}")
        row(reader, "m1").focus()
        press(reader, key)
        expect(reader.locator("#toasts")).to_contain_text(
            "You may only read this session."
        )
    expect(reader.locator("dialog[open]")).to_have_count(0)


@pytest.mark.parametrize("role", ["reviewer"])
def test_who_may_propose_is_told_in_which_view(
    reader: Page, new_session: Callable[[int], str]
) -> None:
    visit(reader, new_session(3), query="?view=effective")
    row(reader, "m1").focus()
    press(reader, "s")
    expect(reader.get_by_text("You can edit in the Annotated view.")).to_be_visible()


@pytest.mark.parametrize("role", ["reviewer"])
def test_a_move_that_is_proposed_is_not_announced_as_done_and_goes_further(
    reader: Page, new_session: Callable[[int], str]
) -> None:
    visit(reader, new_session(6))
    row(reader, "m3").focus()
    reader.keyboard.press("Alt+ArrowUp")
    expect(reader.locator("#said")).to_have_text("Move #3 after #1 proposed.")
    reader.keyboard.press("Alt+ArrowUp")
    expect(reader.locator("#said")).to_have_text("Move #3 after #0 proposed.")
    expect(reader.locator(".decision")).to_have_count(1)
