"""Imports on the page: a folder, its report, sessions that came from one another, live files."""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browsers import Faults
from tests.servers import PATIENCE_SECONDS, ROOT, Server

from .axe import found_in
from .conftest import visit

STAMP = "2026-01-01T00:00:{:02}.000Z"


def lines(session: str, *texts: str, first: int = 0) -> str:
    """A coding agent's file, written from its format: user and assistant in turns."""
    return "".join(
        json.dumps(_line(session, first + place, text)) + "\n"
        for place, text in enumerate(texts)
    )


def _line(session: str, number: int, text: str) -> dict[str, object]:
    role = "assistant" if number % 2 else "user"
    content: object = [{"type": "text", "text": text}] if number % 2 else text
    message: dict[str, object] = {"role": role, "content": content}
    if number % 2:
        message |= {"id": f"msg_{session}_{number}", "model": "model-1", "usage": {}}
    return {
        "type": role,
        "uuid": f"{session}-{number}",
        "parentUuid": f"{session}-{number - 1}" if number else None,
        "sessionId": session,
        "timestamp": STAMP.format(number % 60),
        "cwd": "/srv",
        "version": "2.1.200",
        "isSidechain": False,
        "userType": "external",
        "message": message,
    }


@pytest.fixture(scope="module")
def talks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two conversations, a broken line, and a file that is none."""
    folder = tmp_path_factory.mktemp("all") / "talks"
    (folder / "deep").mkdir(parents=True)
    first = lines("tide", "Why is the table late?", "The buoy sleeps.", "Wake it.")
    event = json.dumps({"type": "progress", "sessionId": "tide", "data": {}})
    (folder / "tide.jsonl").write_text(f"{first}{event}\n{{broken\n")
    (folder / "deep" / "quay.jsonl").write_text(lines("quay", "Which quay?", "Three."))
    (folder / "notes.txt").write_text("no transcript")
    return folder


@pytest.fixture
def report(page: Page, talks: Path) -> Page:
    """The report of that folder."""
    page.goto("/imports/")
    page.set_input_files("#folder", talks)
    expect(page.get_by_role("heading", level=1)).to_have_text("talks")
    return page


def test_a_chosen_folder_leads_to_its_report(report: Page) -> None:
    files = report.locator("table.files tbody tr")
    expect(files).to_have_count(3)
    expect(files.filter(has_text="deep/quay.jsonl")).to_be_visible()
    expect(files.filter(has_text="notes.txt")).to_contain_text("Not a transcript")
    expect(report.locator(".report-warnings")).to_contain_text("tide.jsonl: Line 5")
    expect(report.locator("table.found")).to_contain_text("progress")


def test_the_files_of_a_report_are_searched(report: Page) -> None:
    report.get_by_label("Name or title").fill("quay")
    report.get_by_role("button", name="Search").click()
    expect(report.locator("table.files tbody tr")).to_have_count(1)
    report.get_by_role("link", name="Clear").click()
    expect(report.locator("table.files tbody tr")).to_have_count(3)


def test_a_session_leads_to_its_report_its_events_and_each_raw_record(
    report: Page,
) -> None:
    row = report.locator("table.files tr", has_text="tide.jsonl")
    row.locator("a.session-title").click()
    expect(report.locator("#feed")).to_be_visible()
    report.locator(".origin").get_by_role("link", name="kept as events").click()
    expect(report.locator(".event pre").first).to_contain_text('"progress"')
    report.go_back()
    report.locator("#n-m1 a.tok").click()
    expect(report.locator("pre").last).to_contain_text('"parentUuid"')
    report.go_back()
    report.locator(".origin").get_by_role("link", name="tide.jsonl").first.click()
    expect(report.get_by_role("heading", level=1)).to_have_text("talks")


def test_the_row_menu_opens_the_raw_record_too(report: Page) -> None:
    row = report.locator("table.files tr", has_text="tide.jsonl")
    row.locator("a.session-title").click()
    expect(report.locator("#live")).to_have_attribute("data-state", "live")
    report.get_by_label("More for message #1").first.click()
    with report.context.expect_page() as opened:
        report.locator("#row-menu").get_by_text("View raw").click()
    expect(opened.value.locator("pre").last).to_contain_text('"parentUuid"')


@pytest.mark.parametrize("size", [(1440, 900), (390, 844)], ids=["wide", "narrow"])
def test_nothing_of_the_report_is_out_of_reach(
    report: Page, size: tuple[int, int]
) -> None:
    report.set_viewport_size({"width": size[0], "height": size[1]})
    assert found_in(report) == []
    width = report.evaluate("document.documentElement.scrollWidth")
    assert width <= size[0]
    session = report.locator("a.session-title").first.get_attribute("href")
    for address in ("/imports/", f"{session}events"):
        report.goto(address)
        assert found_in(report) == [], address
        assert report.evaluate("document.documentElement.scrollWidth") <= size[0]


def test_a_folder_that_holds_no_transcript_is_refused_where_it_was_chosen(
    page: Page, tmp_path: Path, faults: Faults
) -> None:
    faults.expect("422")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "a.txt").write_text("words")
    page.goto("/imports/")
    page.set_input_files("#folder", tmp_path / "empty")
    expect(page.locator("#import-refused")).to_contain_text("not a transcript")


def test_children_are_named_on_the_list_and_linked_both_ways(
    page: Page, api: httpx.Client
) -> None:
    files = {
        "one": lines("course", "Begin", "Here."),
        "two": lines("course", "Begin", "There.", "On."),
    }
    found = []
    for name, text in files.items():
        answer = api.post("/api/sessions/import", files={"file": (name, text)})
        assert answer.status_code == 201, answer.text
        found.append(answer.json()["sessions"][0]["id"])
    page.goto("/sessions/")
    kin = page.locator(".session-kin").first
    expect(kin).to_contain_text("Branch of")
    kin.get_by_role("link").click()
    expect(page).to_have_url(f"/sessions/{found[0]}/")
    page.locator(".origin ul").get_by_role("link").click()
    expect(page).to_have_url(f"/sessions/{found[1]}/")


@pytest.fixture
def watched(server: Server, tmp_path: Path) -> Iterator[Path]:
    """A folder that `manage.py watch` follows, until it is asked to stop."""
    process = subprocess.Popen(
        [sys.executable, "manage.py", "watch", str(tmp_path)],
        cwd=ROOT,
        env=server.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in process.stdout or ():
        if line.startswith("Watching"):
            break
    yield tmp_path
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, errors) == (0, "")


def test_a_file_that_grows_is_seen_to_grow_on_the_page(
    page: Page, api: httpx.Client, watched: Path
) -> None:
    path = watched / "grows.jsonl"
    path.write_text(lines("grows", "Is the tide in?", "Not yet."))
    page.goto("/sessions/?q=tide in")
    link = page.locator("a.session-title", has_text="tide in")
    while not link.count():
        page.reload()
    visit(page, str(link.get_attribute("href")).split("/")[2])
    expect(page.locator("#n-m1")).to_contain_text("Not yet.")
    rest = lines("grows", "And now?", "It is in.", first=2)
    with path.open("a") as file:
        file.write(rest[:-30])
    expect(page.locator("#n-m2")).to_contain_text("And now?")
    with path.open("a") as file:
        file.write(rest[-30:])
    expect(page.locator("#n-m3")).to_contain_text("It is in.")


def test_a_large_import_leaves_its_result_on_the_list_that_it_was_watched_on(
    page: Page, talks: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "harbour"
    shutil.copytree(talks, folder)
    for number in range(50):  # more than are read while one waits
        (folder / f"{number}.jsonl").write_text(lines(f"h{number}", "Which?", "That."))
    page.goto("/sessions/?source=Claude+Code")
    page.set_input_files("#folder", folder)
    done = page.locator("#jobs .job--done")
    expect(done).to_contain_text(" sessions, 1 file left out")
    expect(page.locator(".list-bar")).to_contain_text("From Claude Code")
    expect(page.locator("#sessions tr")).to_have_count(50)
    done.get_by_role("link", name="Report on harbour").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("harbour")


def test_the_list_keeps_to_what_it_was_searched_for_when_an_import_ends(
    page: Page, tmp_path: Path
) -> None:
    folder = tmp_path / "quiet"
    folder.mkdir()
    for number in range(51):
        (folder / f"{number}.jsonl").write_text(lines(f"q{number}", "Hush", "Yes."))
    (folder / "50.jsonl").write_text(lines("q50", "A gull on the mast", "Where?"))
    page.goto("/sessions/?q=gull+on")
    page.set_input_files("#folder", folder)
    expect(page.locator("#jobs .job--done")).to_be_visible()
    expect(page.locator("#sessions tr")).to_have_count(1)
