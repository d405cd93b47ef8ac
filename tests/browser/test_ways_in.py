"""Three ways in on the list of sessions: a chosen file, a drop, pasted text; and long jobs."""

import json
import re
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browsers import Faults
from tests.servers import Server

from .conftest import conversation

DROP = """text => {
  const data = new DataTransfer();
  data.items.add(new File([text], "dropped.json", { type: "application/json" }));
  for (const type of ["dragover", "drop"]) {
    document.body.dispatchEvent(
      new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
  }
}"""


IS_REFUSED = """() => {
  const data = new DataTransfer();
  data.items.add(new File(["{}"], "astray.json"));
  return ["dragover", "drop"].every((type) => !document.body.dispatchEvent(
    new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true })));
}"""
"""Whether the browser is kept from opening a file that is dropped on the page."""


def transcript(count: int, title: str) -> str:
    """A file that holds so many messages."""
    return json.dumps({"title": title, "messages": conversation(count)})


def test_a_chosen_file_opens_its_session(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "chosen.json"
    file.write_text(transcript(7, "chosen"))
    page.goto("/sessions/")
    page.set_input_files("#file", file)
    expect(page.locator("#feed")).to_have_attribute("data-total", "7")


def test_a_drop_anywhere_on_the_page_opens_its_session(page: Page) -> None:
    page.goto("/sessions/")
    page.evaluate(DROP, transcript(9, "dropped"))
    expect(page.locator("#feed")).to_have_attribute("data-total", "9")


@pytest.mark.parametrize("path", ["", "notes", "context"])
def test_a_drop_where_nothing_is_imported_leaves_the_page_as_it_is(
    page: Page, new_session: Callable[[int], str], path: str
) -> None:
    address = f"/sessions/{new_session(3)}/{path}"
    page.goto(address)
    assert page.evaluate(IS_REFUSED)
    expect(page).to_have_url(re.compile(f"{address}$"))


def test_what_is_dropped_on_the_dialog_is_refused_in_it(
    page: Page, faults: Faults
) -> None:
    faults.expect("422")
    page.goto("/sessions/")
    page.get_by_role("button", name="paste text").click()
    page.evaluate(DROP, "no transcript")
    expect(page.locator("#paste-refused")).to_be_visible()
    expect(page.locator("#import-refused")).to_be_hidden()


def test_pasted_text_opens_its_session(page: Page) -> None:
    page.goto("/sessions/")
    page.get_by_role("button", name="paste text").click()
    page.get_by_label("Transcript", exact=True).fill(transcript(5, "pasted"))
    page.locator("#paste").get_by_role("button", name="Import").click()
    expect(page.locator("#feed")).to_have_attribute("data-total", "5")


def test_what_comes_in_goes_into_the_project_that_is_chosen(
    page: Page, server: Server, tmp_path: Path
) -> None:
    # Behind the other projects in the list: what other tests drop goes into the first.
    name = f"z{uuid.uuid4().hex}"
    server.command("create_project", name)
    file = tmp_path / "file.json"
    file.write_text(transcript(7, "from a file"))
    page.goto("/sessions/")
    page.locator("#import-project").select_option(name)
    page.set_input_files("#file", file)
    expect(page.locator("#feed")).to_have_attribute("data-total", "7")
    page.goto("/sessions/")
    page.get_by_role("button", name="paste text").click()
    page.locator("#paste-project").select_option(name)
    page.get_by_label("Transcript", exact=True).fill(transcript(5, "pasted"))
    page.locator("#paste").get_by_role("button", name="Import").click()
    expect(page.locator("#feed")).to_have_attribute("data-total", "5")
    page.goto("/sessions/")
    page.get_by_label("Project", exact=True).select_option(name)
    page.get_by_role("button", name="Search").click()
    titles = page.locator("#sessions .session-title")
    expect(titles).to_have_text(["pasted", "from a file"])


def test_what_is_no_transcript_is_refused_where_it_was_given(
    page: Page, tmp_path: Path, faults: Faults
) -> None:
    faults.expect("422")
    file = tmp_path / "shopping.txt"
    file.write_text("milk, bread")
    page.set_viewport_size({"width": 1000, "height": 200})  # as beside a long list
    page.goto("/sessions/")
    page.set_input_files("#file", file)
    expect(page.locator("#import-refused")).to_be_in_viewport()
    expect(page.locator("#import-refused")).to_have_text(re.compile(r"\w+.*\.$"))
    page.get_by_role("button", name="paste text").click()
    page.get_by_label("Transcript", exact=True).fill("not a transcript")
    page.locator("#paste").get_by_role("button", name="Import").click()
    expect(page.locator("#paste-refused")).to_be_visible()
    expect(page.get_by_label("Transcript", exact=True)).to_have_value(
        "not a transcript"
    )


def test_a_large_file_is_a_job_whose_session_joins_the_list(
    page: Page, tmp_path: Path
) -> None:
    small, large = tmp_path / "small.json", tmp_path / "large.json"
    small.write_text(transcript(4, "small"))
    long = [
        {**message, "content": message["content"] * 12}
        for message in conversation(3000)
    ]
    large.write_text(json.dumps({"messages": long}))
    page.goto("/sessions/")
    page.set_input_files("#file", small)
    expect(page.locator("#feed")).to_be_visible()
    page.goto("/sessions/")
    page.set_input_files("#file", large)
    newest = page.locator("#sessions > tr").first
    expect(newest).to_contain_text("3,000")
    done = page.locator("#jobs > .job--done")
    expect(done).to_contain_text("1 session")
    expect(page.locator("#jobs > li")).to_have_count(1)
    done.get_by_role("link", name="Report").click()
    expect(page).to_have_url(re.compile("/imports/"))


def test_what_is_said_of_an_import_is_how_it_ended(page: Page) -> None:
    row = '<li class="job job--{0}" id="job-1" data-job="1" data-status="{0}"></li>'
    page.route("**/import", lambda route: route.fulfill(body=row.format("running")))
    page.route("**/jobs/*", lambda route: route.fulfill(body=row.format("failed")))
    page.goto("/sessions/")
    page.get_by_role("button", name="paste text").click()
    page.get_by_role("textbox", name="Transcript").fill("Long.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#said")).to_have_text("Import failed.")


def test_j_and_k_walk_the_list_and_i_chooses_a_file(page: Page) -> None:
    # Playwright catches choosers only once somebody has listened for a while.
    page.on("filechooser", lambda chooser: None)
    page.goto("/sessions/")
    page.keyboard.press("j")
    first = page.locator("#sessions a.session-title").first
    expect(first).to_be_focused()
    with page.expect_file_chooser():
        page.keyboard.press("i")


def test_the_ends_of_a_session_s_menu_are_a_stroke_away(page: Page) -> None:
    page.goto("/sessions/")
    page.locator(".t-menu button").first.press("Enter")
    page.keyboard.press("End")
    expect(page.get_by_role("menuitem", name="Delete")).to_be_focused()
    page.keyboard.press("Home")
    expect(page.get_by_role("menuitem", name="Rename…")).to_be_focused()
