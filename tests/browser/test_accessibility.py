"""axe finds nothing serious on any page, in any state, in both themes, wide and narrow."""

import re
import uuid
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from tests.browsers import Faults
from tests.servers import Server

from .axe import WIDTHS, found_in, found_wide_and_narrow
from .conftest import conversation, press, row, visit

pytestmark = pytest.mark.browser
DIALOG = "#dialog form"


@pytest.fixture(scope="module")
def demonstration(api: httpx.Client) -> str:
    """The session that the first start loads; its log holds every kind of marker."""
    *_, session = api.get("/api/sessions", params={"limit": 500}).json()["items"]
    return str(session["id"])


@pytest.fixture(scope="module")
def small(api: httpx.Client, demonstration: str) -> str:
    """A few messages, two of them in a digest, and a snapshot: axe looks at all of a page."""
    body = {"title": "A short thread", "messages": conversation(12)}
    session = str(api.post("/api/sessions", json=body).json()["id"])
    digest = {"type": "digest", "range": [4, 5], "summary": "Two in one."}
    assert api.post(f"/api/sessions/{session}/operations", json=digest).is_success
    taken = {"name": "Two in one"}
    assert api.post(f"/api/sessions/{session}/snapshots", json=taken).is_success
    return session


@pytest.fixture(params=WIDTHS)
def sized(page: Page, request: pytest.FixtureRequest) -> Page:
    """The page at one of the widths that count."""
    width, height = WIDTHS[request.param]
    page.set_viewport_size({"width": width, "height": height})
    return page


def press_on(key: str, *strokes: str, shows: str) -> Callable[[Page], None]:
    """Presses keys upon a row, until something is seen."""

    def act(page: Page) -> None:
        row(page, key).focus()
        press(page, *strokes)
        expect(page.locator(shows).first).to_be_visible()

    return act


def click(name: str, *, shows: str) -> Callable[[Page], None]:
    """Clicks on the first button of this name, until something is seen."""

    def act(page: Page) -> None:
        page.get_by_role("button", name=name).first.click()
        expect(page.locator(shows).first).to_be_visible()

    return act


def unfold_all(page: Page) -> None:
    """Opens the folds of the sheet, and those within them."""
    closed = page.locator(".marker .disclosure[aria-expanded=false]")
    while closed.count():
        key = closed.first.locator("xpath=ancestor::article[1]").get_attribute(
            "data-key"
        )
        # By its key: what is loaded above it meanwhile would be the first one now.
        disclosure = row(page, str(key)).locator(".disclosure").first
        disclosure.click()
        expect(disclosure).to_have_attribute("aria-expanded", "true")


def see_the_log(page: Page) -> None:
    """Opens the log, where the page is narrow in the drawer from below."""
    peek = page.locator(".bottom-bar button", has_text="Operations")
    if peek.is_visible():
        peek.click()
    page.get_by_role("tab", name="Log").click()
    expect(page.locator(".entry").first).to_be_visible()


def name_a_snapshot(page: Page) -> None:
    """Opens the dialog for a snapshot from the log."""
    see_the_log(page)
    page.get_by_role("button", name="Take a snapshot…").click()
    expect(page.locator(DIALOG)).to_be_visible()


def move_by_palette(page: Page) -> None:
    """Opens the dialog for a move by the words of its command."""
    row(page, "m1").focus()
    press(page, "Control+k")
    page.keyboard.type("move to")
    press(page, "Enter")
    expect(page.locator(DIALOG)).to_be_visible()


def open_outline(page: Page) -> None:
    """Shows the outline, which is a pop-over but where the page is wide."""
    page.keyboard.press("Control+k")
    page.keyboard.type("outline")
    press(page, "Enter")
    if page.locator("#outline").is_hidden():
        press(page, "Control+k")
        page.keyboard.type("outline")
        press(page, "Enter")
    expect(page.locator("#outline")).to_be_visible()


def select_some(page: Page) -> None:
    """Selects three messages."""
    row(page, "m1").focus()
    press(page, "x", "Shift+ArrowDown", "Shift+ArrowDown")
    expect(page.locator("#selection-count")).to_have_text(re.compile("messages"))


OVERLAYS: dict[str, tuple[str, Callable[[Page], None]]] = {
    "digest": ("#dialog", press_on("m1", "d", shows=DIALOG)),
    "revise": ("#dialog", press_on("m1", "e", shows=DIALOG)),
    "insert": ("#dialog", press_on("m1", "i", shows=DIALOG)),
    "tag": ("#dialog", press_on("m1", "t", shows=DIALOG)),
    "amend": ("#dialog", press_on("o1", "e", shows=DIALOG)),
    "move": ("#dialog", move_by_palette),
    "menu of a row": ("#row-menu", click("More for message #1", shows="#row-menu")),
    "menu of a marker": (
        "#marker-menu",
        click("More for digest o1", shows="#marker-menu"),
    ),
    "provider-checks": (
        "#provider-checks",
        click("Provider checks", shows="#provider-checks .provider-result"),
    ),
    "export": ("#export", click("Export", shows="#export")),
    "palette": ("#palette", press_on("m1", "Control+k", shows="#palette")),
    "key sheet": ("#keys", press_on("m1", "?", shows="#keys")),
    "outline": ("#outline", open_outline),
    "log": ("#drawer", see_the_log),
    "snapshot": ("#dialog", name_a_snapshot),
    "selection": ("#selection", select_some),
}


def test_the_thread(page: Page, demonstration: str) -> None:
    visit(page, demonstration)
    unfold_all(page)
    assert found_wide_and_narrow(page) == []


@pytest.mark.parametrize("view", ["annotated", "effective", "original"])
def test_the_views_with_a_fold_as_it_stands(page: Page, small: str, view: str) -> None:
    visit(page, small, query=f"?view={view}")
    assert found_wide_and_narrow(page) == []


def test_provider_checks_stay_legible_while_they_are_made_again(
    page: Page, demonstration: str
) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    visit(page, demonstration)
    expect(page.locator("#checks-strip .provider-check").first).to_be_visible()
    held: list[Route] = []
    page.route("**/provider-checks*", lambda route: held.append(route))
    page.locator("#feed").dispatch_event("thread:changed")
    expect(page.locator("#checks-strip.htmx-request")).to_be_visible()
    assert found_in(page, within="#checks-strip") == []
    held[0].continue_()
    expect(page.locator("#checks-strip.htmx-request")).to_have_count(0)


def test_what_opens_over_the_thread(sized: Page, small: str) -> None:
    visit(sized, small)
    found = {}
    for name, (place, show) in OVERLAYS.items():
        show(sized)
        found[name] = found_in(sized, within=place)
        press(sized, "Escape")
        expect(sized.locator("dialog[open], :popover-open")).to_have_count(0)
    assert {name: faults for name, faults in found.items() if faults} == {}


def test_what_the_model_sees(page: Page, small: str) -> None:
    page.goto(f"/sessions/{small}/context?provider=anthropic&against=original")
    expect(page.get_by_role("heading", name="Differences")).to_be_visible()
    assert found_wide_and_narrow(page) == []
    page.get_by_label("Provider", exact=True).focus()
    press(page, "Tab", "Tab", "Tab", "Enter")
    expect(page.get_by_role("heading", name="Differences")).to_be_visible()


def test_the_policy(page: Page, small: str) -> None:
    page.goto(f"/sessions/{small}/policy?preset=slop")
    page.get_by_role("heading", name="Pruning", exact=True).click()
    expect(page.locator("#effect table")).to_be_visible()
    assert found_wide_and_narrow(page) == []


def test_notes_and_memos(page: Page, api: httpx.Client, small: str) -> None:
    for path, content in (
        ("scratchpad", "# Plan"),
        ("scratchpad", "# Plan of [two](https://example.org)"),
        ("state", "Goal: look around"),
    ):
        written = api.put(f"/api/sessions/{small}/{path}", json={"content": content})
        assert written.is_success
    memo = {"content": "Known", "tags": ["gotcha"], "session_id": small}
    assert api.post("/api/tools/save_memo", json=memo).is_success
    for path in (
        *("notes", "notes?version=1", "memos?ref=m1", "memos?ref=m999"),
        *("prune", "prune?show=all", "archive?ref=m1", "archive?ref=m999"),
    ):
        page.goto(f"/sessions/{small}/{path}")
        page.evaluate(
            "() => document.querySelectorAll('main details').forEach((one) => { one.open = true; })"
        )
        assert found_wide_and_narrow(page) == [], path


def test_the_list_and_its_dialogs(page: Page, faults: Faults) -> None:
    faults.expect("status of 422")
    page.goto("/sessions/")
    expect(page.locator("#sessions tr")).not_to_have_count(0)
    assert found_wide_and_narrow(page) == []
    page.get_by_role("button", name="paste text").click()
    page.get_by_label("Transcript", exact=True).fill("no transcript")
    page.locator("#paste").get_by_role("button", name="Import").click()
    expect(page.locator("#paste-refused")).to_be_visible()
    assert found_wide_and_narrow(page) == []


def test_the_empty_list(page: Page, server: Server) -> None:
    # Behind the other project in the list: what other tests drop goes into the first.
    name = f"z{uuid.uuid4().hex}"
    server.command("create_project", name)
    path = server.command(
        "create_user", name, "--project", name, "--role", "editor"
    ).splitlines()[-1]
    page.context.clear_cookies()
    page.goto(path)
    assert found_wide_and_narrow(page) == []
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("No sessions yet")).to_be_visible()
    assert found_wide_and_narrow(page) == []


def test_the_keys_and_a_key_just_made(page: Page) -> None:
    page.goto("/settings/keys/")
    assert found_wide_and_narrow(page) == []
    page.get_by_label("Name").fill("Agent")
    page.get_by_role("button", name="Create key").click()
    expect(page.locator("#made-key")).to_be_visible()
    assert found_wide_and_narrow(page) == []


def test_a_key_and_its_new_secret(page: Page, api: httpx.Client) -> None:
    name = f"k{uuid.uuid4().hex}"  # one of its own: the other tests go on with theirs
    made = api.post("/api/keys", json={"project": "demo", "name": name})
    assert made.status_code == 201
    page.goto("/settings/keys/")
    page.get_by_role("link", name=name).click()
    expect(page.get_by_role("heading", name="Requests")).to_be_visible()
    assert found_wide_and_narrow(page) == []
    page.get_by_role("button", name="Create new secret").click()
    expect(page.locator("#made-key")).to_be_visible()
    assert found_wide_and_narrow(page) == []


def test_the_jobs_the_providers_and_a_summary_in_its_dialog(
    page: Page, api: httpx.Client, small: str
) -> None:
    order = {"start": 6, "end": 9, "propose": True, "provider": "rules"}
    assert api.post(f"/api/sessions/{small}/summaries", json=order).is_success
    page.goto("/settings/jobs/")
    expect(page.get_by_text("Done").nth(1)).to_be_visible()
    assert found_wide_and_narrow(page) == []
    page.goto("/settings/projects/demo/providers")
    assert found_wide_and_narrow(page) == []
    visit(page, small)
    row(page, "m8").focus()
    press(page, "d")
    page.get_by_role("button", name="Outline without a model").click()
    expect(page.get_by_label("What the model sees instead")).to_have_value(
        re.compile("Message 8, summed up by rule")
    )
    assert found_wide_and_narrow(page) == []


def test_a_message_as_recorded(page: Page, demonstration: str) -> None:
    page.goto(f"/sessions/{demonstration}/messages/m0/raw")
    assert found_wide_and_narrow(page) == []


def test_an_invitation_from_its_making_to_another_password(page: Page) -> None:
    page.goto("/settings/projects/demo/")
    page.get_by_role("button", name="Create link").click()
    address = page.locator("#made-link").inner_text()
    assert found_wide_and_narrow(page) == []
    page.context.clear_cookies()
    page.goto(address)
    assert found_wide_and_narrow(page) == []
    page.get_by_label("Username").fill(f"guest-{uuid.uuid4().hex[:8]}")
    page.get_by_label("Password").fill("quayside 4711 lanterns")
    page.get_by_role("button", name="Create account").click()
    page.wait_for_url("**/sessions/**")
    page.goto("/settings/account/")
    page.get_by_label("Current password").fill("quayside 4711 lanterns")
    page.get_by_label("New password").fill("harbour 1174 lamps")
    page.get_by_role("button", name="Change password").click()
    expect(page.get_by_text("The password is set.")).to_be_visible()
    assert found_wide_and_narrow(page) == []


def test_signing_in_and_being_refused(page: Page, faults: Faults) -> None:
    faults.expect("status of 401")
    page.context.clear_cookies()
    page.goto("/sign-in")
    assert found_wide_and_narrow(page) == []
    page.get_by_label("Username").fill("owner")
    page.get_by_label("Password").fill("guess")
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator(".refusal")).to_be_visible()
    assert found_wide_and_narrow(page) == []


@pytest.mark.parametrize("path", ["no/such/page", "sign-in/used"])
def test_pages_that_stand_alone(page: Page, faults: Faults, path: str) -> None:
    faults.expect("status of 4")
    page.goto(f"/{path}")
    assert found_wide_and_narrow(page) == []


def test_a_refusal_in_a_dialog(page: Page, small: str, faults: Faults) -> None:
    faults.expect("422")
    # An estimate under way gives way to the answer of the form.
    faults.expect("htmx:sendAbort")
    faults.expect("htmx:afterRequest")
    visit(page, small)
    press_on("m1", "d", shows=DIALOG)(page)
    press(page, "Control+Enter")
    page.locator("#dialog textarea").fill(" ")
    press(page, "Control+Enter")
    expect(page.locator("#dialog .wrong, #dialog .refusal").first).to_be_visible()
    assert found_wide_and_narrow(page, within="#dialog") == []


@pytest.mark.parametrize("view", ["original", "effective"])
def test_the_page_of_an_export_is_accessible_without_a_server(
    page: Page, api: httpx.Client, small: str, tmp_path: Path, view: str
) -> None:
    """Its folds and thinking are opened by the browser alone: nothing on it is a script."""
    query = {"format": "html", "view": view}
    answer = api.get(f"/api/sessions/{small}/export", params=query)
    file = tmp_path / "page.html"
    file.write_bytes(answer.content)
    page.goto(file.as_uri())
    for closed in page.locator("main details:not([open]) > summary").all()[:40]:
        if closed.is_visible():
            closed.click()

    assert found_wide_and_narrow(page) == []
