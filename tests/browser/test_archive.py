"""The archive's pages in a browser: with a keyboard alone, wide and narrow, in both themes."""

import re
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from tests.archive.pruning.conftest import WORK
from tests.browsers import Faults

from .axe import WIDTHS, found_in, found_wide_and_narrow
from .conftest import press, row, visit

pytestmark = pytest.mark.browser


@pytest.fixture(params=WIDTHS)
def sized(page: Page, request: pytest.FixtureRequest) -> Page:
    """The page at one of the widths that count."""
    width, height = WIDTHS[request.param]
    page.set_viewport_size({"width": width, "height": height})
    return page


@pytest.fixture
def pruned(api: httpx.Client) -> str:
    """A session of an agent's work, pruned."""
    body = {"title": "Mend the parser", "messages": WORK}
    session = str(api.post("/api/sessions", json=body).json()["id"])
    assert api.post(f"/api/sessions/{session}/prune", json={}).is_success
    return session


def test_a_tray_is_filled_and_inserted_with_the_keyboard(
    sized: Page, pruned: str
) -> None:
    sized.goto(f"/sessions/{pruned}/archive")
    for _ in range(2):
        sized.get_by_role("button", name="Add to tray").first.focus()
        press(sized, "Enter")
        expect(sized.locator(":focus")).to_have_text("tray")
    assert found_in(sized) == []
    visit(sized, pruned)
    link = sized.locator("a.recall").first
    link.focus()
    press(sized, "Enter")
    expect(sized.locator(".recalled")).to_contain_text("tokens")
    sized.goto(f"/sessions/{pruned}/archive")
    tray = sized.get_by_role("region", name="Tray")
    expect(tray).to_contain_text("2 entries")
    tray.get_by_role("button", name="Remove").first.focus()
    press(sized, "Enter")
    expect(tray).to_contain_text("1 entry")
    expect(tray).to_be_focused()  # once its page is there; till then it takes the focus
    tray.get_by_role("button", name="Insert into the thread").focus()
    press(sized, "Enter")
    sized.wait_for_url("**/?at=o*")
    expect(sized.locator("#toasts")).to_contain_text("Inserted 1 entry")
    expect(sized.locator(".inserted")).to_contain_text("From the archive")
    expect(sized.locator(".inserted")).to_be_focused()


@pytest.mark.parametrize("place", ["#reading", ".archive-entries"])
def test_what_is_read_is_put_into_the_tray_once_from_the_list_or_beside_it(
    page: Page, pruned: str, place: str
) -> None:
    page.goto(f"/sessions/{pruned}/archive")
    page.locator(".archive-entry").nth(1).click()
    expect(page.locator("#reading pre")).to_be_visible()
    of_entry = page.locator("li:has([aria-current]), #reading")
    offers = of_entry.get_by_role("button", name="Add to tray")
    expect(offers).to_have_count(2)
    offers.and_(page.locator(f"{place} button")).click()
    expect(offers).to_have_count(0)
    expect(of_entry.get_by_text("In the tray")).to_have_count(2)


def test_a_form_that_is_pressed_twice_is_sent_once(page: Page, pruned: str) -> None:
    page.goto(f"/sessions/{pruned}/archive")
    page.locator(".archive-entry").first.click()
    insert = page.locator("#reading").get_by_role("button", name="Insert into")
    expect(insert).to_be_visible()
    prevented = insert.evaluate("""(button) => {
      const found = [];
      addEventListener("submit", (event) => found.push(event.defaultPrevented));
      button.click();
      button.click();
      return found;
    }""")
    assert prevented == [False, True]
    expect(page.locator("#toasts")).to_contain_text("Inserted at the end")
    expect(page.locator(".inserted")).to_have_count(1)


def test_a_reference_that_can_not_be_recalled_is_answered_in_words(
    page: Page, pruned: str, faults: Faults
) -> None:
    faults.expect("Failed to load")
    page.route("**/recall?**", lambda route: route.abort())
    visit(page, pruned)
    page.locator("a.recall").first.click()
    expect(page.locator("#toasts")).to_contain_text("Can't reach the server.")


def test_a_reference_that_is_pressed_twice_is_recalled_once(
    page: Page, pruned: str
) -> None:
    visit(page, pruned)
    page.locator("a.recall").first.evaluate("(link) => { link.click(); link.click(); }")
    page.wait_for_load_state("networkidle")
    expect(page.locator(".recalled")).to_have_count(1)
    page.locator("a.recall").first.click()
    expect(page.locator(".recalled")).to_have_count(0)


def test_an_entry_is_read_where_the_list_stands(sized: Page, pruned: str) -> None:
    sized.goto(f"/sessions/{pruned}/archive")
    first, second, *_ = sized.locator(".archive-entry").all()
    before = sized.evaluate("scrollY")
    for entry in (first, second):
        address = str(entry.get_attribute("href")).partition("#")[0]
        entry.focus()
        press(sized, "Enter")
        expect(entry).to_have_attribute("aria-current", "true")
        whole = entry.locator("xpath=..")
        expect(whole).not_to_have_css("background-color", "rgba(0, 0, 0, 0)")
        expect(sized.get_by_role("heading", name="Reading")).to_be_focused()
        expect(sized.get_by_role("heading", name="Reading")).to_be_in_viewport()
        assert sized.url.endswith(address)
        assert sized.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if is_wide(sized):
        assert sized.evaluate("scrollY") == before
        expect(sized.get_by_role("region", name="Tray")).to_be_in_viewport()
    sized.go_back()
    expect(first).to_have_attribute("aria-current", "true")


def is_wide(page: Page) -> bool:
    """Whether what is read stands beside the list."""
    size = page.viewport_size
    return size is not None and size["width"] == WIDTHS["wide"][0]


PENDING = """<section class="pending op-digest" data-job="j1" data-at="m10" data-status="running"
aria-label="Summary of #10–#12"><header class="pending-head">
<span class="verb">Digest</span> #10–#12
<span class="pending-words" role="status">Being written… 1 of 3 calls.</span>
<span class="pending-acts">
<button class="button button--small button--quiet" type="button" data-action="summary-act"
data-address="summaries/stop">Stop</button></span></header>
<p class="summary-preview" dir="auto">They chose</p></section>"""


def test_a_summary_grows_in_the_row_where_its_digest_will_stand(
    page: Page, pruned: str
) -> None:
    parts, stopped = [PENDING], list[str]()

    def stop(route: Route) -> None:
        stopped.append(route.request.method)
        parts[0] = ""
        route.fulfill(status=200, body="")

    page.route("**/summaries/pending*", lambda route: route.fulfill(body=parts[0]))
    page.route("**/summaries/stop", stop)
    visit(page, pruned)
    shown = row(page, "m10").locator(".pending")
    expect(shown).to_contain_text("They chose")
    parts[0] = PENDING.replace("They chose", "They chose SQLite")
    expect(shown).to_contain_text("They chose SQLite")
    assert found_wide_and_narrow(page, within=".pending") == []
    row(page, "m10").focus()
    shown.get_by_role("button", name="Stop").focus()
    press(page, "Enter")
    expect(page.locator(".pending")).to_have_count(0)
    assert stopped == ["POST"]


def test_a_summary_that_failed_is_there_after_a_reload_until_it_is_dismissed(
    page: Page, pruned: str
) -> None:
    buttons = """<button class="button button--small" type="button"
data-action="summary-act" data-address="summaries/retry">Retry</button>
<button class="button button--small button--quiet" type="button"
data-action="summary-dismiss" data-address="summaries/dismiss">Dismiss</button>"""
    start, end = PENDING.index("<button"), PENDING.index("</button>") + len("</button>")
    failed = PENDING[:start] + buttons + PENDING[end:]
    failed = failed.replace("running", "failed").replace("Being written…", "No answer.")
    parts, dismissed = [failed], list[str]()

    def dismiss(route: Route) -> None:
        dismissed.append(route.request.method)
        parts[0] = ""
        route.fulfill(status=200, body="")

    page.route("**/summaries/pending*", lambda route: route.fulfill(body=parts[0]))
    page.route("**/summaries/dismiss", dismiss)
    for _reload in range(2):
        visit(page, pruned)
        shown = row(page, "m10").locator(".pending")
        expect(shown).to_contain_text("No answer.")
        expect(shown.get_by_role("button", name="Retry")).to_be_visible()
    assert found_wide_and_narrow(page, within=".pending") == []
    shown.get_by_role("button", name="Dismiss").focus()
    with page.expect_request("**/summaries/dismiss"):
        press(page, "Enter")
    expect(page.locator(".pending")).to_have_count(0)
    expect(row(page, "m10")).to_be_focused()
    visit(page, pruned)
    expect(page.locator(".pending")).to_have_count(0)
    assert dismissed == ["POST"]


def test_a_summary_in_the_dialog_leads_the_focus_to_what_it_wrote(
    page: Page, pruned: str
) -> None:
    visit(page, pruned)
    row(page, "m12").focus()
    press(page, "d")
    page.get_by_role("button", name="Outline without a model").focus()
    held: list[Route] = []
    page.route("**/summaries/*", lambda route: held.append(route))
    press(page, "Enter")
    expect(page.get_by_role("button", name="Stop")).to_be_focused()
    page.unroute("**/summaries/*")
    for route in held:
        route.continue_()
    words = page.get_by_label("What the model sees instead")
    expect(words).to_have_value(re.compile("summed up by rule"))
    expect(words).to_be_focused()


def test_a_summary_into_the_thread_becomes_its_digest(page: Page, pruned: str) -> None:
    visit(page, pruned)
    row(page, "m12").focus()
    press(page, "d")
    page.get_by_role("button", name="Summarise and record").focus()
    press(page, "Enter")
    expect(page.locator("#dialog")).to_be_hidden()
    expect(page.locator(".marker").last).to_contain_text("summed up by rule")
    expect(page.locator("#toasts")).to_contain_text("#12 summarised by rule:")


def test_the_policy_has_the_settings_of_summaries_and_a_trial(
    page: Page, pruned: str
) -> None:
    page.goto(f"/sessions/{pruned}/policy")
    automatic = page.get_by_label("Summarise automatically")
    automatic.select_option("Never")
    page.get_by_role("button", name="Save settings for summaries").focus()
    press(page, "Enter")
    expect(page.locator("#toasts")).to_contain_text("saved")
    expect(automatic).to_have_value("yes")
    page.get_by_role("button", name="Try on the last 50 sessions").focus()
    press(page, "Enter")
    expect(page.locator("#trial-found .trial-line").first).to_be_visible()
    assert found_wide_and_narrow(page) == []


def test_memos_say_why_they_are_sent(
    page: Page, api: httpx.Client, pruned: str
) -> None:
    said = {"role": "user", "content": "Is the parser generated?"}
    path = f"/api/sessions/{pruned}"
    assert api.post(f"{path}/messages", json={"messages": [said]}).is_success
    memo = {"content": "The parser is generated.", "session_id": pruned}
    assert api.post("/api/tools/save_memo", json=memo).is_success
    for place in ("memos", "context"):
        page.goto(f"/sessions/{pruned}/{place}")
        expect(page.get_by_text('Shares "generated", "parser"').first).to_be_visible()
        assert found_wide_and_narrow(page) == [], place


def test_a_session_is_taken_elsewhere_and_imported(
    page: Page, pruned: str, tmp_path: Path
) -> None:
    visit(page, pruned)
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="With operations and archive").click()
    file = tmp_path / "kept.session.json"
    download.value.save_as(file)
    page.goto("/imports/")
    page.locator("input[type=file]:not([webkitdirectory])").first.set_input_files(file)
    expect(page.locator("#toasts")).to_contain_text(
        "Imported with 5 operations and 6 archive entries."
    )
    expect(page.locator(".marker")).to_have_count(5)
    assert found_wide_and_narrow(page, within="#toasts") == []
