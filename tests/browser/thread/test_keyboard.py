"""The main job without a mouse; and wherever a swap happens, the focus stays on something."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import OpenThread, keys_on_sheet, press, row, visit
from tests.browser.transcripts import TURN, agent_session

pytestmark = pytest.mark.browser

COUNT = 20 * TURN
WATCH = """
window.focusLost = [];
const look = (what) => requestAnimationFrame(() => requestAnimationFrame(() => {
  const lost = document.activeElement === document.body && window.hadFocus;
  if (lost && !document.querySelector("dialog[open]")) window.focusLost.push(what);
}));
addEventListener("focusin", () => { window.hadFocus = true; });
for (const name of ["htmx:afterSwap", "htmx:oobAfterSwap", "thread:changed", "thread:loaded"]) {
  document.addEventListener(name, () => look(name), true);
}
document.addEventListener("close", () => look("close"), true);
"""


@pytest.fixture
def keyed(page: Page) -> Iterator[Page]:
    """A page in which every swap is watched: the focus must not fall to the body."""
    page.add_init_script(WATCH)
    yield page
    assert page.evaluate("() => window.focusLost") == []


def test_the_main_job_by_keys_alone(keyed: Page, tmp_path: Path) -> None:
    file = tmp_path / "agent.jsonl"
    file.write_bytes(agent_session(20))
    keyed.on("filechooser", lambda _: None)  # Playwright listens from here on
    keyed.goto("/sessions/")
    with keyed.expect_file_chooser() as chooser:
        press(keyed, "i")
    chooser.value.set_files(file)
    expect(keyed.locator("#feed")).to_have_attribute("data-messages", str(COUNT))
    expect(keyed.locator("#live")).to_have_attribute("data-state", "live")
    digest_and_unfold(keyed)
    move_by_steps_and_by_number(keyed)
    switch_undo_redo(keyed)
    visit_drawer_palette_and_sheet(keyed)


def test_a_transcript_is_pasted_by_keys_alone(keyed: Page) -> None:
    keyed.goto("/sessions/")
    press(keyed, "Control+k")
    keyed.keyboard.type("paste")
    press(keyed, "Enter")
    expect(keyed.get_by_label("Transcript", exact=True)).to_be_focused()
    keyed.keyboard.insert_text('[{"role": "user", "content": "Pasted by hand."}]')
    press(keyed, "Control+Enter")
    expect(row(keyed, "m0")).to_contain_text("Pasted by hand.")
    expect(keyed.locator("#live")).to_have_attribute("data-state", "live")
    press(keyed, "j")
    expect(row(keyed, "m0")).to_be_focused()


def test_a_session_is_renamed_by_keys_alone(
    keyed: Page, open_thread: OpenThread
) -> None:
    open_thread(12)
    press(keyed, "Control+k")
    keyed.keyboard.type("rename")
    press(keyed, "Enter")
    expect(keyed.get_by_label("Title")).to_be_focused()
    keyed.keyboard.type("Boats of the harbour")
    press(keyed, "Control+Enter")
    expect(keyed.locator("#thread-title")).to_have_text("Boats of the harbour")
    keyed.goto("/sessions/")
    press(keyed, "Control+k")
    keyed.keyboard.type("rename")
    expect(keyed.locator("#palette-none")).to_be_visible()


def test_tab_reaches_the_thread_and_leaves_it_again(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(120)
    seen = [tab(page) for _ in range(60)]
    inside = [place for place, one in enumerate(seen) if one.startswith("feed")]
    assert seen[0] == "a.skip"
    assert inside, seen
    assert inside == list(range(inside[0], inside[-1] + 1))
    assert len(inside) < 8
    assert any(one.startswith("drawer") for one in seen[inside[-1] :]), seen


def test_the_menu_of_a_row_by_keys(keyed: Page, open_thread: OpenThread) -> None:
    open_thread(12)
    press(keyed, "j", "j")
    row(keyed, "m1").locator(".menu-button").focus()
    press(keyed, "Enter")
    expect(keyed.get_by_role("menuitem", name="Digest…")).to_be_focused()
    press(keyed, "m")
    expect(keyed.get_by_role("menuitem", name="Move up")).to_be_focused()
    press(keyed, "Enter")
    expect(keyed.locator("#entries-count")).to_have_text("1")
    assert keys_on_sheet(keyed)[:2] == ["m1", "m0"]
    expect(keyed.locator(":popover-open")).to_have_count(0)


def test_a_mark_is_told_to_those_who_see_the_page_too(
    keyed: Page, open_thread: OpenThread
) -> None:
    open_thread(12)
    toasts = keyed.locator("#toasts")
    press(keyed, "'")
    expect(toasts).to_contain_text("No mark is set.")
    press(keyed, "j", "j", "m")
    expect(toasts).to_contain_text("Mark set.")
    press(keyed, "j", "j", "'")
    expect(keyed.locator("#selection")).to_contain_text("3 messages")


@pytest.mark.parametrize("width", [390, 1440])
def test_a_notice_leaves_the_verbs_of_the_selection_free(
    page: Page, open_thread: OpenThread, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    open_thread(12)
    press(page, "j", "j", "m", "x")
    notice, bar = page.locator("#toasts .toast"), page.locator("#selection")
    expect(notice).to_contain_text("Mark set.")
    expect(bar).to_be_visible()
    seen, covered = notice.bounding_box(), bar.bounding_box()
    assert seen and covered
    assert seen["y"] + seen["height"] <= covered["y"]


def test_what_is_selected_leaves_its_verbs_on_one_line(
    page: Page, open_thread: OpenThread
) -> None:
    page.set_viewport_size({"width": 1440, "height": 844})
    open_thread(12)
    press(page, "j", "j", "x")
    counted = page.locator("#selection-tokens")
    expect(counted).to_contain_text("tok")
    counted.evaluate("one => { one.textContent = '#'.repeat(30); }")
    names = ("Digest d", "Move to…", "Clear selection")
    bar = page.locator("#selection")
    boxes = [bar.get_by_role("button", name=name).bounding_box() for name in names]
    assert len({box and box["y"] + box["height"] / 2 for box in boxes}) == 1
    assert page.evaluate(
        "() => { const { scrollWidth, clientWidth } = document.querySelector('.selection-verbs');"
        " return scrollWidth <= clientWidth; }"
    )


def test_single_keys_switched_off_leave_those_with_control(
    keyed: Page, open_thread: OpenThread
) -> None:
    open_thread(12)
    press(keyed, "j", "j", "?")
    expect(keyed.locator("#keys")).to_be_visible()
    press(keyed, "Tab", "Tab")
    expect(
        keyed.get_by_label("Enable single-key shortcuts (without Control or Alt)")
    ).to_be_focused()
    press(keyed, "Space", "Escape")
    expect(keyed.locator("#keys")).to_be_hidden()
    for key in ("s", "d", "x", "j", "g", "G", "v", "h"):
        press(keyed, key)
    expect(row(keyed, "m1")).to_be_focused()
    expect(keyed.locator("#entries-count")).to_have_text("0")
    press(keyed, "Alt+ArrowDown")
    expect(keyed.locator("#entries-count")).to_have_text("1")
    press(keyed, "Control+z")
    expect(keyed.locator("#entries-count")).to_have_text("2")
    assert keys_on_sheet(keyed)[:3] == ["m0", "m1", "m2"]


def test_what_alt_gr_types_is_no_command_but_option_with_an_arrow_is_one(
    page: Page, open_thread: OpenThread
) -> None:
    """Firefox on a Mac says of Option that it is AltGraph too."""
    open_thread(12)
    row(page, "m1").focus()
    alt_gr = {"modifierAltGraph": True}
    row(page, "m1").dispatch_event("keydown", alt_gr | {"key": "s"})
    option = alt_gr | {"altKey": True}
    row(page, "m1").dispatch_event("keydown", option | {"key": "ArrowDown"})
    expect(page.locator("#entries-count")).to_have_text("1")
    assert keys_on_sheet(page)[:3] == ["m0", "m2", "m1"]
    expect(page.locator("#dialog")).to_be_hidden()


def digest_and_unfold(page: Page) -> None:
    """Messages 1 to 4 become a sentence, and are seen again in place."""
    press(page, "j", "j")
    expect(row(page, "m1")).to_be_focused()
    press(page, "x", "Shift+J", "Shift+ArrowDown", "Shift+ArrowDown")
    expect(page.locator("#selection-count")).to_have_text("4 messages")
    press(page, "d")
    expect(page.get_by_role("textbox", name="What the model sees")).to_be_focused()
    page.keyboard.type("Two looks into the ledger.")
    press(page, "Control+Enter")
    expect(row(page, "o1")).to_be_focused()
    press(page, "o")
    expect(page.locator("#n-o1 .inner article")).to_have_count(4)
    press(page, "j")
    expect(row(page, "m1")).to_be_focused()
    press(page, "k", "o")
    expect(page.locator("#n-o1 .inner")).to_have_count(0)
    expect(row(page, "o1")).to_be_focused()


def move_by_steps_and_by_number(page: Page) -> None:
    """One step down and back, behind the next question, then by the dialog to a number."""
    press(page, "J")
    expect(row(page, "m6")).to_be_focused()
    press(page, "Alt+ArrowDown")
    expect(page.locator("#entries-count")).to_have_text("2")
    assert keys_on_sheet(page)[3:5] == ["m7", "m6"]
    press(page, "Alt+ArrowUp")
    expect(page.locator("#entries-count")).to_have_text("3")
    expect(row(page, "m6")).to_be_focused()
    press(page, "Control+k")
    page.keyboard.type("move to")
    press(page, "Enter")
    expect(page.get_by_label("Move after message #")).to_be_focused()
    page.keyboard.type("30")
    press(page, "Enter")
    expect(page.locator("#entries-count")).to_have_text("4")
    expect(page.locator("#n-m6.is-moved")).to_be_focused()
    keys = keys_on_sheet(page)
    assert keys[keys.index("m30") + 1] == "m6"


def switch_undo_redo(page: Page) -> None:
    """The digest off and on by `.`, then two entries back and one again."""
    press(page, "g", "g")
    expect(row(page, "m0")).to_be_focused()
    press(page, "n")
    expect(row(page, "o1")).to_be_focused()
    switch = page.locator(".editor main .toggle[data-operation=o1]")
    for turn, pressed in enumerate(("false", "true", "false", "true"), start=5):
        press(page, ".")
        expect(page.locator("#entries-count")).to_have_text(str(turn))
        expect(switch).to_have_attribute("aria-pressed", pressed)
    press(page, "Control+z")
    expect(switch).to_have_attribute("aria-pressed", "false")
    press(page, "Control+Shift+z")
    expect(switch).to_have_attribute("aria-pressed", "true")


def test_on_the_sheet_no_stroke_is_broken_into_two_lines(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(10)
    press(page, "?")
    expect(page.locator("#keys")).to_be_visible()
    broken = page.locator("#keys kbd").evaluate_all(
        """(caps) => caps.filter((cap) => {
          const beside = cap.closest("div").querySelector("dd").getBoundingClientRect();
          const { height, right } = cap.getBoundingClientRect();
          return height > 24 || right > beside.left;
        }).map((cap) => cap.textContent)"""
    )
    assert broken == []


def visit_drawer_palette_and_sheet(page: Page) -> None:
    """To the drawer and back, by the palette to a message, the sheet of keys."""
    press(page, "h")
    expect(page.get_by_role("tab", name="Operations")).to_be_focused()
    press(page, "ArrowRight")
    expect(page.get_by_role("tab", name="Log")).to_be_focused()
    expect(page.locator(".entry")).to_have_count(10)
    press(page, "h")
    expect(page.locator("#feed article:focus, #feed article :focus")).to_have_count(1)
    press(page, "Control+k")
    expect(page.locator("#palette-list [role=option]").first).to_have_text(
        re.compile("Digest…")
    )
    page.keyboard.type("#77")
    press(page, "Enter")
    expect(row(page, "m77")).to_be_focused()
    press(page, "?")
    expect(page.locator("#keys")).to_be_visible()
    press(page, "Escape")
    expect(row(page, "m77")).to_be_focused()


def test_on_the_sheet_of_keys_all_that_they_do_is_in_line(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(12)
    press(page, "?")
    expect(page.locator("#keys")).to_be_visible()
    begins: set[float] = set(
        page.locator("#keys dd").evaluate_all(
            "(all) => all.map((one) => one.getBoundingClientRect().left)"
        )
    )
    assert len(begins) == 2, "one for each column"


def tab(page: Page) -> str:
    """Press Tab; where the focus is then, briefly."""
    press(page, "Tab")
    where: str = page.evaluate(
        """() => {
          const one = document.activeElement;
          const place = ["feed", "drawer", "outline"].find((id) => one.closest(`#${id}`));
          return `${place ? `${place} ` : ""}${one.localName}.${one.classList[0] ?? ""}`;
        }"""
    )
    return where


def test_what_is_typed_before_a_dialog_opens_is_no_command(
    page: Page, open_thread: OpenThread
) -> None:
    open_thread(12)
    held: list[Route] = []
    page.route("**/selection?*", lambda route: held.append(route), times=1)
    row(page, "m2").locator(".role").click()
    # The second key would go to another view.
    press(page, "d", "v")
    held[0].continue_()
    expect(page.locator("#dialog textarea")).to_be_focused()
    assert "view=" not in page.url


@pytest.mark.parametrize(
    ("words", "strokes", "place"),
    [("", "h", "#drawer"), ("outline", "", "#outline"), ("export", "", "#export")],
)
def test_what_opens_over_a_narrow_thread_has_the_focus_and_gives_it_back(
    keyed: Page, open_thread: OpenThread, words: str, strokes: str, place: str
) -> None:
    keyed.set_viewport_size({"width": 600, "height": 800})
    open_thread(12)
    row(keyed, "m3").focus()
    if words:
        press(keyed, "Control+k")
        keyed.keyboard.type(words)
        press(keyed, "Enter")
    press(keyed, *strokes)
    expect(keyed.locator(f"{place} :focus")).to_be_visible()
    press(keyed, "Escape")
    expect(keyed.locator(place)).to_be_hidden()
    expect(row(keyed, "m3")).to_be_focused()


def test_w_goes_to_the_meter_reads_it_out_and_goes_back(
    keyed: Page, open_thread: OpenThread
) -> None:
    open_thread(12)
    row(keyed, "m3").focus()
    press(keyed, "w")
    expect(keyed.locator("#meter")).to_be_focused()
    expect(keyed.locator("#said")).to_have_text(re.compile(r"^Effective \d+ tok$"))
    press(keyed, "w")
    expect(row(keyed, "m3")).to_be_focused()


def test_j_goes_on_at_the_current_row_from_beside_the_thread(
    keyed: Page, open_thread: OpenThread
) -> None:
    open_thread(12)
    row(keyed, "m3").focus()
    press(keyed, "h", "j")
    expect(row(keyed, "m3")).to_be_focused()


def test_a_hidden_outline_is_told_of(keyed: Page, open_thread: OpenThread) -> None:
    open_thread(12)
    button = keyed.get_by_role("button", name="Outline")
    for word in ("hidden", "shown"):
        button.press("Enter")
        expect(keyed.locator("#said")).to_have_text(f"Outline {word}")


def test_the_last_page_of_the_log_takes_the_focus_of_the_button_that_asked_for_it(
    keyed: Page, api: httpx.Client, new_session: Callable[[int], str]
) -> None:
    session = new_session(12)
    tags = [{"type": "tag", "range": [1, 1], "tags": [f"t{one}"]} for one in range(55)]
    made = api.post(f"/api/sessions/{session}/bundles", json={"operations": tags})
    assert made.status_code == 201, made.text
    visit(keyed, session)
    row(keyed, "m3").focus()
    press(keyed, "h", "ArrowRight")
    older = keyed.get_by_role("button", name="Older entries")
    older.press("Enter")
    expect(older).to_be_hidden()
    expect(
        keyed.locator("#panel-log .log :focus, #panel-log .log:focus")
    ).to_be_visible()


@pytest.mark.parametrize("key", ["r", "d"])
def test_a_dialog_opened_with_the_focus_on_nothing_leaves_it_on_a_row(
    page: Page, open_thread: OpenThread, key: str
) -> None:
    open_thread(12)
    expect(page.locator("body")).to_be_focused()
    press(page, key)
    expect(page.locator("#dialog form")).to_be_visible()
    press(page, "Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    expect(row(page, "m0")).to_be_focused()
