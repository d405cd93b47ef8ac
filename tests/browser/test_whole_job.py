"""The main job from end to end, as a person does it: with a file, keys and the mouse."""

import json
import re
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import BrowserContext, Download, Page, expect

from tests.operations.domain.forwarding.sending import said_in
from tests.servers import Server

from .conftest import OpenThread, keys_on_sheet, press, row
from .thread.dragging import drag_over, order, pick_up
from .transcripts import CALLS, TURN, agent_session

pytestmark = pytest.mark.browser

TURNS = 43
COUNT = TURNS * TURN


def test_a_person_does_the_whole_job(
    page: Page, context: BrowserContext, server: Server, api: httpx.Client
) -> None:
    context.clear_cookies()
    page.goto(server.sign_in_url())
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Sessions").first.click()
    expect(page.get_by_role("heading", name="Sessions")).to_be_visible()
    drop_file(page, agent_session(TURNS))
    session = opened_session(page)
    digest_by_keys(page)
    see_the_originals_in_place(page)
    drag_three_over_two_hundred(page)
    switch_off_and_on(page)
    undo_and_redo(page)
    sheet = order(api, session)
    page.reload()
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    expect(page.locator("#n-o1 .inner article")).to_have_count(5)
    assert keys_on_sheet(page) == sheet[: len(keys_on_sheet(page))]
    sent = compare_export_with_apply(page, api, session, "Anthropic")
    # Four less by the operations; three more stand in one message with their neighbours.
    assert len(sent) == COUNT - 4 - 3


def test_an_export_in_openai_s_form_is_what_apply_answers(
    page: Page, open_thread: OpenThread, api: httpx.Client
) -> None:
    session = open_thread(12)
    row(page, "m3").focus()
    press(page, "x", "Shift+J", "d")
    expect(page.get_by_role("textbox", name="What the model sees")).to_be_focused()
    page.keyboard.type("Two became one.")
    press(page, "Control+Enter")
    expect(row(page, "o1")).to_be_focused()
    press(page, "Alt+ArrowDown")
    expect(page.locator("#entries-count")).to_have_text("2")
    expect(row(page, "o1")).to_be_focused()
    sent = compare_export_with_apply(page, api, session, "OpenAI")
    assert len(sent) == 11


def test_a_chosen_file_is_imported_and_opened_from_the_list(
    page: Page, tmp_path: Path
) -> None:
    file = tmp_path / "chosen.jsonl"
    file.write_bytes(agent_session(2))
    page.on("filechooser", lambda _: None)  # Playwright listens from here on
    page.goto("/sessions/")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Import").click()
    chooser.value.set_files(file)
    session = opened_session(page, count=2 * TURN)
    page.get_by_role("navigation", name="Breadcrumb").get_by_role("link").click()
    page.locator(f"a[href='/sessions/{session}/']").click()
    expect(row(page, "m0")).to_contain_text("Question 0")


def test_the_heaviest_range_of_what_is_sent_is_digested_from_its_link(
    page: Page, api: httpx.Client
) -> None:
    said = [
        {"role": "user", "content": "Read all of it."},
        *({"role": "assistant", "content": f"Line {n}. " * 90} for n in range(130)),
        {"role": "user", "content": "And now?"},
    ]
    made = api.post("/api/sessions", json={"title": "Heavy", "messages": said})
    page.goto(f"/sessions/{made.json()['id']}/context")
    page.get_by_role("link", name="#0–#130").click()
    expect(row(page, "m0")).to_be_focused()
    expect(page.locator("#selection-count")).to_have_text("131 messages")
    press(page, "d")
    expect(page.get_by_role("textbox", name="What the model sees")).to_be_focused()
    page.keyboard.type("Nothing in it was needed.")
    press(page, "Control+Enter")
    expect(row(page, "o1")).to_be_focused()
    page.reload()
    expect(row(page, "o1")).to_be_visible()
    expect(page.locator("#selection")).to_be_hidden()


def drop_file(page: Page, content: bytes) -> None:
    """Drop a file of these bytes on the page, as the browser reports one."""
    page.wait_for_load_state()  # the page's script listens by then
    transfer = page.evaluate_handle(
        """(text) => {
          const transfer = new DataTransfer();
          transfer.items.add(new File([text], "agent.jsonl"));
          return transfer;
        }""",
        content.decode(),
    )
    zone = page.locator("#dropzone")
    zone.dispatch_event("dragover", {"dataTransfer": transfer})
    expect(zone).to_have_class(re.compile("is-over"))
    zone.dispatch_event("drop", {"dataTransfer": transfer})


def opened_session(page: Page, *, count: int = COUNT) -> str:
    """Wait until the imported session is open and live; its id."""
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    expect(page.locator("#feed")).to_have_attribute("data-messages", str(count))
    return page.url.rstrip("/").rpartition("/")[2]


def digest_by_keys(page: Page) -> None:
    """Messages 7 to 11 become one sentence, without the mouse."""
    press(page, "j", *["j"] * 7)
    expect(row(page, "m7")).to_be_focused()
    press(page, "x", *["Shift+J"] * 4)
    expect(page.locator("#selection-count")).to_have_text("5 messages")
    expect(page.locator("#selection-tokens")).to_contain_text("#7–#11")
    press(page, "d")
    expect(page.get_by_role("textbox", name="What the model sees")).to_be_focused()
    page.keyboard.type("The ledger was read twice; seven entries, all paid.")
    press(page, "Control+Enter")
    expect(row(page, "o1")).to_be_focused()
    assert keys_on_sheet(page)[5:9] == ["m5", "m6", "o1", "m12"]


def see_the_originals_in_place(page: Page) -> None:
    """The marker unfolds: between #6 and #12 stand the five originals."""
    press(page, "o")
    inside = page.locator("#n-o1 .inner article")
    expect(inside).to_have_count(5)
    shown = [one.get_attribute("data-key") for one in inside.all()]
    assert shown == ["m7", "m8", "m9", "m10", "m11"]
    expect(row(page, "m11")).to_contain_text("Answer 1: it holds 7 entries")
    expect(page.locator("#n-o1")).to_contain_text("The ledger was read twice")
    assert keys_on_sheet(page)[6:9] == ["m6", "o1", "m12"]


def drag_three_over_two_hundred(page: Page) -> None:
    """Messages 18 to 20 go far below, over sections that load under the pointer.

    They go behind whichever message is there, but for a call: its result must follow it, which
    `apply` would see to and an export would not.
    """
    row(page, "m18").locator(".role").click()
    row(page, "m20").locator(".role").click(modifiers=["Shift"])
    expect(page.locator("#selection-count")).to_have_text("3 messages")
    expect(page.locator(".chunk[data-height]").last).to_be_attached()
    x, _ = pick_up(page, "m19")
    expect(page.locator("#drag-preview-label")).to_have_text("3 messages")
    page.mouse.move(x + 40, 890, steps=3)
    page.wait_for_function(
        "() => document.getElementById('n-m230')?.getBoundingClientRect().top < 500",
    )
    page.mouse.move(x + 40, 450, steps=3)
    expect(page.locator("#feed")).to_have_attribute("aria-busy", "false")
    page.wait_for_function(STANDS_STILL)
    behind = page.evaluate(ROW_IN_VIEW, [TURN, CALLS])
    drag_over(page, behind)
    expect(page.locator("#drop")).to_be_visible()
    expect(page.locator("#drop-label")).to_have_text(f"after #{behind[1:]}")
    page.mouse.up()
    expect(page.locator("#n-m18.is-moved")).to_be_visible()
    expect(page.locator("#drop")).to_be_hidden()
    assert int(behind[1:]) > 221
    keys = [key for key in keys_on_sheet(page) if key[1:].isdecimal()]
    place = keys.index(behind)
    assert keys[place : place + 4] == [behind, "m18", "m19", "m20"]
    assert keys[keys.index("m17") + 1] == "m21"


STANDS_STILL = """() => {
  const before = window.scrollBefore;
  window.scrollBefore = scrollY;
  return before === scrollY;
}"""
ROW_IN_VIEW = """([turn, calls]) => {
const rows = [...document.querySelectorAll(".chunk > article")];
return rows.find((row) => {
  const { top, bottom } = row.getBoundingClientRect();
  const isCall = calls.includes(Number(row.dataset.key.slice(1)) % turn);
  return !isCall && top > 200 && bottom < innerHeight - 200;
}).dataset.key; }"""


def switch_off_and_on(page: Page) -> None:
    """The digest goes off, its originals come back, and on again."""
    press(page, "g", "g")
    expect(row(page, "m0")).to_be_focused()
    press(page, "n")
    expect(row(page, "o1")).to_be_focused()
    press(page, ".")
    expect(page.locator(".flat .toggle[data-operation=o1]")).to_be_focused()
    assert keys_on_sheet(page)[5:9] == ["m5", "m6", "m7", "m8"]
    press(page, ".")
    expect(page.locator("#n-o1 .toggle")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#n-o1 .toggle")).to_be_focused()
    assert keys_on_sheet(page)[5:9] == ["m5", "m6", "o1", "m12"]


def undo_and_redo(page: Page) -> None:
    """Taking back the last two entries switches the digest off; bringing one back, too."""
    switch = page.locator(".toggle[data-operation=o1]").first
    press(page, "Control+z")
    expect(switch).to_have_attribute("aria-pressed", "false")
    press(page, "Control+Shift+z")
    expect(page.locator("#n-o1 .toggle")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#entries-count")).to_have_text("6")


def compare_export_with_apply(
    page: Page, api: httpx.Client, session: str, form: str
) -> list[object]:
    """What a person takes away is what `apply` makes of the originals in the same form."""
    effective = json.loads(export(page, "Effective", f"{form} messages"))
    original = json.loads(export(page, "Original", f"{form} messages"))
    body = {"format": form.lower(), "append": False, **original}
    answer = api.post(f"/api/sessions/{session}/apply", json=body)
    assert answer.status_code == 200, answer.text
    messages: list[object] = effective["messages"]
    said = said_in(effective["messages"], form.lower())
    assert said_in(answer.json()["messages"], form.lower()) == said
    assert messages != original["messages"]
    return messages


def export(page: Page, view: str, name: str) -> str:
    """What the export menu gives for a view in a format."""
    page.get_by_role("button", name="Export").click()
    menu = page.locator("#export")
    group = menu.locator(".menu-title", has_text=view)
    with page.expect_download() as waiting:
        group.locator(
            f"xpath=following-sibling::a[normalize-space()='{name}'][1]"
        ).click()
    press(page, "Escape")
    expect(menu).to_be_hidden()
    return text_of(waiting.value)


def text_of(download: Download) -> str:
    """The words of a downloaded file."""
    return Path(download.path()).read_text(encoding="utf-8")
