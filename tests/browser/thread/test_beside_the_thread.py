"""What belongs to a session beside its thread: provider checks, policy, notes, memos."""

import re
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import BrowserContext, Dialog, Page, Route, expect

from tests.browser.conftest import press, row, snip, visit
from tests.browsers import Faults

pytestmark = pytest.mark.browser

CALL = {
    "id": "call-1",
    "type": "function",
    "function": {"name": "bash", "arguments": '{"command": "ls"}'},
}
SAID = [
    {"role": "user", "content": "Look around."},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call-1", "content": "a.py"},
    {"role": "assistant", "content": "There is a.py."},
    {"role": "user", "content": "Thank you."},
]


@pytest.fixture
def session(api: httpx.Client) -> str:
    body = {"title": "Session pages", "messages": SAID}
    return str(api.post("/api/sessions", json=body).json()["id"])


def test_a_check_turns_with_an_edit_and_leads_to_what_it_found(
    page: Page, session: str
) -> None:
    visit(page, session)
    check = page.get_by_role("button", name="Provider checks")
    expect(check).to_contain_text("3 of 8 providers repaired")
    strip = page.locator("#checks-strip")
    expect(strip.get_by_role("link", name="Anthropic")).to_contain_text("accepted")
    row(page, "m2").focus()
    snip(page)
    expect(strip.get_by_role("link", name="Anthropic")).to_contain_text("1 repaired")
    expect(check).to_contain_text("8 of 8 providers repaired")
    check.focus()
    press(page, "Enter")
    hit = page.locator("#provider-anthropic .hit").first
    expect(hit).to_contain_text("R1")
    hit.get_by_role("link", name="#1").click()
    expect(page.locator("#provider-checks")).to_be_hidden()
    expect(row(page, "m1")).to_be_focused()
    page.set_viewport_size({"width": 390, "height": 844})
    expect(strip).to_be_hidden()
    check.click()
    expect(page.locator("#provider-openai")).to_be_visible()


def test_the_provider_checks_begin_where_the_messages_do_on_a_wide_screen(
    page: Page, session: str
) -> None:
    page.set_viewport_size({"width": 2560, "height": 1300})
    visit(page, session)
    check = page.locator("#checks-strip .provider-check").first
    expect(check).to_be_visible()
    message, shown = row(page, "m0").bounding_box(), check.bounding_box()
    assert message
    assert shown
    assert shown["x"] == pytest.approx(message["x"], abs=2)


def test_a_check_that_still_runs_at_an_edit_ends_and_another_follows(
    page: Page, session: str
) -> None:
    held: list[Route] = []
    page.route("**/provider-checks", lambda route: held.append(route), times=1)
    visit(page, session)
    strip = page.locator("#checks-strip.htmx-request")
    expect(strip).to_have_count(1)
    strip.evaluate(
        """strip => strip.addEventListener(
          "htmx:trigger", () => { strip.dataset.asked = "again"; })"""
    )
    row(page, "m2").focus()
    snip(page)
    expect(strip).to_have_attribute("data-asked", "again")
    held[0].continue_()
    check = page.get_by_role("button", name="Provider checks")
    expect(check).to_contain_text("8 of 8 providers repaired")


def test_two_requests_stand_side_by_side_in_a_wide_window(
    page: Page, session: str
) -> None:
    visit(page, session)
    row(page, "m4").focus()
    snip(page)
    expect(page.locator("#n-m4")).to_have_count(0)
    page.goto(f"/sessions/{session}/context?provider=openai&against=original")
    sides = page.locator(".pair").first.locator(".pair-side")
    boxes = (
        "all => all.map((one) => one.getBoundingClientRect()).map(({ x, y }) => [x, y])"
    )
    for width, is_beside in ((1440, True), (390, False)):
        page.set_viewport_size({"width": width, "height": 844})
        (x, y), (other_x, other_y) = sides.evaluate_all(boxes)
        assert (x < other_x and y == other_y) is is_beside
        assert (x == other_x and y < other_y) is not is_beside
        scroll = "document.scrollingElement.scrollWidth"
        assert page.evaluate(scroll) == width
    gone = page.get_by_role("article", name="Original, message 4, user")
    expect(gone.get_by_role("heading")).to_contain_text("Original user")


def test_the_log_that_was_open_is_open_after_a_reload(page: Page, session: str) -> None:
    visit(page, session)
    row(page, "m2").focus()
    snip(page)
    page.get_by_role("tab", name="Log").click()
    page.reload()
    expect(page.get_by_role("tab", name="Log")).to_have_attribute(
        "aria-selected", "true"
    )
    expect(page.locator("#panel-log .entry")).to_contain_text("Snip")
    expect(page.locator("#panel-operations")).to_be_hidden()
    page.get_by_role("tab", name="Operations").click()
    page.reload()
    expect(page.locator("#panel-operations")).to_be_visible()


def test_an_open_log_shows_what_is_recorded_and_stays_as_far_as_it_was_read(
    page: Page, session: str, api: httpx.Client
) -> None:
    edit = {"type": "tag", "targets": ["m0"], "tags": ["one"]}
    for _ in range(55):
        recorded = api.post(f"/api/sessions/{session}/operations", json=edit)
        assert recorded.status_code == 201
    visit(page, session)
    page.get_by_role("tab", name="Log").click()
    older = page.get_by_role("button", name="Older entries")
    older.click()
    expect(older).to_have_count(0)
    entries = page.locator("#panel-log .entry-key")
    before = entries.count()
    assert api.post(f"/api/sessions/{session}/operations", json=edit).is_success
    expect(entries).to_have_count(before + 1)
    expect(entries.last).to_have_text("o1")
    row(page, "m2").focus()
    snip(page)
    expect(entries).to_have_count(before + 2)
    expect(page.locator("#panel-log .entry").first).to_contain_text("Snip #2")


def test_a_snapshot_is_taken_compared_and_gone_back_to(
    page: Page, session: str, api: httpx.Client
) -> None:
    visit(page, session)
    page.get_by_role("tab", name="Log").click()
    page.get_by_role("button", name="Take a snapshot…").click()
    page.get_by_role("textbox", name="Name").fill("Before")
    press(page, "Enter")
    taken = page.locator("#panel-log .snapshot")
    expect(taken).to_contain_text("Before")
    row(page, "m2").focus()
    snip(page)
    expect(page.locator("#panel-log .entry")).to_contain_text("Snip #2")
    taken.get_by_role("link", name="Compare").click()
    expect(page.get_by_label("Compare with")).to_have_value("snapshot:Before")
    expect(page.locator(".sent-message--before")).to_contain_text("a.py")
    alike = page.locator(".alike").first
    alike.get_by_text("identical messages").press("Enter")
    alike.get_by_text("position 0").click()
    expect(alike.get_by_label("Text of message 0")).to_have_text("Look around.")
    page.go_back()
    taken.get_by_role("button", name="Restore").click()
    expect(row(page, "m2")).to_be_visible()
    expect(page.locator("#toasts")).to_contain_text('Restore of "Before"')
    taken.get_by_role("button", name="Delete snapshot Before").click()
    expect(taken).to_have_count(0)
    made = api.post(f"/api/sessions/{session}/snapshots", json={"name": "Theirs"})
    assert made.status_code == 201
    expect(taken).to_contain_text("Theirs")


def test_a_policy_shows_its_effect_before_it_is_saved(
    page: Page, session: str, faults: Faults
) -> None:
    faults.expect("422")
    visit(page, session)
    row(page, "m0").focus()
    press(page, "g", "p")
    effect = page.get_by_role("region", name="Effect")
    expect(effect).to_contain_text("No change in tokens")
    page.get_by_label("Groups to send").fill("1")
    expect(effect.get_by_role("row", name="Window")).to_contain_text("not run")
    expect(effect).to_contain_text("left out in 4 places")
    page.get_by_label("Groups to send").fill("-1")
    expect(effect).to_contain_text("greater than or equal to 0")
    page.get_by_role("link", name="Lean").click()
    expect(effect.get_by_role("row", name="Truncation")).to_be_visible()
    page.get_by_role("button", name="Save for this session").click()
    expect(
        page.locator("#toasts").get_by_text("Saved for this session.")
    ).to_be_visible()
    expect(page.get_by_text("set for this session")).to_be_visible()
    page.wait_for_load_state()
    press(page, "g", "c")
    expect(page.get_by_role("row", name="Truncation")).to_be_visible()
    page.wait_for_load_state()
    press(page, "g", "t")
    expect(row(page, "m0")).to_be_visible()


def test_what_a_session_keeps_is_written_and_read_again(
    page: Page, session: str, api: httpx.Client, faults: Faults
) -> None:
    known = {"session_id": session, "content": "Known", "tags": ["gotcha"]}
    assert api.post("/api/tools/save_memo", json=known).status_code == 200
    visit(page, session)
    page.get_by_role("button", name="Session pages").click()
    page.locator("#beside").get_by_role("link", name="Notes").click()
    scratchpad = page.locator("#scratchpad")
    for words in ("# Plan", "# Plan of two"):
        scratchpad.get_by_text("Edit scratchpad").click()
        scratchpad.get_by_label("Markdown").fill(words)
        scratchpad.get_by_role("button", name="Save").click()
        expect(scratchpad.get_by_role("heading", name=words[2:])).to_be_visible()
    scratchpad.get_by_text("2 versions").click()
    scratchpad.get_by_role("link", name="Version 1").click()
    expect(scratchpad.locator("ins")).to_have_text(" of two")
    scratchpad.get_by_role("button", name="Restore version 1").click()
    expect(scratchpad).to_contain_text("Version 3, by Owner")
    page.locator("#state").get_by_text("Edit STATE").click()
    page.get_by_role("textbox", name="STATE").fill("Goal: look around")
    page.locator("#state").get_by_role("button", name="Save").click()
    page.get_by_role("link", name="Compare with what is sent").click()
    expect(
        page.get_by_text("No response in the request ends with a STATE block.")
    ).to_be_visible()
    page.get_by_role("button", name="Use it").click()
    expect(page.locator("#objective")).to_contain_text("look around")
    page.wait_for_load_state()
    press(page, "g", "m")
    page.get_by_text("Save a memo").click()
    form = page.locator("form:has(#id_content)")
    form.locator("#id_content").fill("There is a.py.")
    form.get_by_label("Tags").fill("where")
    form.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("link", name="#where").click()
    expect(page.get_by_role("article")).to_have_count(1)
    page.get_by_label("Reference").fill("m3")
    press(page, "Enter")
    expect(page.get_by_label("Recalled text")).to_have_text("There is a.py.")
    page.wait_for_load_state()
    press(page, "g", "t")
    expect(row(page, "m0")).to_be_visible()


def test_the_notes_follow_an_agent_and_leave_a_form_that_is_open(
    page: Page, session: str, api: httpx.Client, faults: Faults
) -> None:
    def write(words: str) -> None:
        known = {"session_id": session, "action": "update", "content": words}
        assert api.post("/api/tools/manage_scratchpad", json=known).is_success

    faults.expect("409")
    write("It is in [recall:m3].")
    page.goto(f"/sessions/{session}/notes")
    scratchpad, objective = page.locator("#scratchpad"), page.locator("#objective")
    scratchpad.get_by_role("link", name="m3").click()
    expect(scratchpad.get_by_label("Recalled text")).to_have_text("There is a.py.")
    goal = {"objective": "Find the file"}
    assert api.patch(f"/api/sessions/{session}", json=goal).is_success
    expect(objective.locator(".kept-words")).to_have_text("Find the file")
    expect(page.locator("#said")).to_have_text("The page was updated")
    expect(scratchpad.get_by_label("Recalled text")).to_be_visible()
    scratchpad.get_by_text("Edit scratchpad").click()
    words = scratchpad.get_by_label("Markdown")
    words.fill("It is in c.py.")
    write("It is in b.py.")
    expect(scratchpad.locator(".kept-page")).to_have_text("It is in b.py.")
    expect(words).to_have_value("It is in c.py.")
    expect(words).to_be_focused()
    scratchpad.get_by_role("button", name="Save").click()
    expect(scratchpad.get_by_role("alert")).to_contain_text("at version 2, not 1")


def test_the_notes_that_were_out_of_reach_for_a_moment_are_asked_for_again(
    page: Page, context: BrowserContext, session: str, api: httpx.Client, faults: Faults
) -> None:
    faults.expect("ERR_INTERNET_DISCONNECTED")
    faults.expect("WebSocket connection")
    page.goto(f"/sessions/{session}/notes")
    context.set_offline(True)
    goal = {"objective": "Find the file"}
    assert api.patch(f"/api/sessions/{session}", json=goal).is_success
    context.set_offline(False)
    expect(page.locator("#objective .kept-words")).to_have_text("Find the file")


def test_the_list_of_requests_follows_the_client(
    page: Page, session: str, api: httpx.Client
) -> None:
    page.goto(f"/sessions/{session}/requests")
    expect(page.locator("#requests")).to_contain_text("No requests yet")
    said = {"messages": [*SAID, {"role": "user", "content": "And now?"}]}
    assert api.post(f"/api/sessions/{session}/apply", json=said).is_success
    expect(page.locator("#request-1")).to_contain_text("Adds 1 message")
    assert api.post(f"/api/sessions/{session}/apply", json=said).is_success
    expect(page.locator("#request-2")).to_contain_text("Sends the same again")


def test_what_the_model_sees_follows_the_session_for_the_chosen_provider(
    page: Page, session: str, api: httpx.Client
) -> None:
    page.goto(f"/sessions/{session}/context?provider=openai")
    page.get_by_label("Provider", exact=True).select_option("anthropic")
    shown = page.locator("#context-body")
    expect(shown).to_contain_text("Anthropic rules")
    said = {"messages": [{"role": "user", "content": "And in c.py?"}]}
    assert api.post(f"/api/sessions/{session}/messages", json=said).is_success
    expect(page.locator(".sent-message").last).to_contain_text("And in c.py?")
    expect(shown).to_contain_text("Anthropic rules")
    expect(page.locator("#said")).to_have_text("The page was updated")
    snipped = {"type": "snip", "range": [0, 0]}
    path = f"/api/sessions/{session}/operations"
    with page.expect_request("**/provider-checks"):
        assert api.post(path, json=snipped).is_success
    expect(page.locator("#against")).to_contain_text("Without snip o1")
    expect(page.locator(".sent-message").first).not_to_contain_text("Look around.")


def test_two_requests_beside_each_other_stay_as_they_were_opened(
    page: Page, session: str, api: httpx.Client
) -> None:
    path = f"/api/sessions/{session}/operations"
    assert api.post(path, json={"type": "snip", "targets": ["m0"]}).is_success
    page.goto(f"/sessions/{session}/context?provider=openai&against=original")
    alike = page.locator(".alike").first
    alike.get_by_text("identical messages").click()
    expect(alike.locator(".sent-message").first).to_be_visible()
    assert api.post(path, json={"type": "snip", "targets": ["m3"]}).is_success
    expect(page.locator("#against")).to_contain_text("Without snip o2")
    expect(alike.locator(".sent-message").first).to_be_visible()
    page.get_by_label("Compare with").select_option("")
    expect(page.locator(".pair")).to_have_count(0)
    assert api.post(path, json={"type": "snip", "targets": ["m4"]}).is_success
    expect(page.locator("#against")).to_contain_text("Without snip o3")
    expect(page.locator(".sent-message", has_text="Thank you.")).to_have_count(0)


def test_a_page_sends_its_open_form_by_keys_and_asks_before_words_are_lost(
    page: Page, session: str
) -> None:
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    page.goto(f"/sessions/{session}/notes")
    page.get_by_text("Edit scratchpad").click()
    words = page.get_by_role("textbox", name="Markdown")
    words.fill("Look into b.py too.")
    page.get_by_role("link", name="Memos").click()
    expect(words).to_have_value("Look into b.py too.")
    words.press("Control+Enter")
    expect(page.locator("#toasts")).to_contain_text("Scratchpad saved.")
    page.get_by_role("link", name="Memos").click()
    expect(page).to_have_url(re.compile("/memos$"))
    assert asked == ["beforeunload"]


def test_a_light_leads_to_what_the_model_sees_which_answers_at_once(
    page: Page, session: str
) -> None:
    visit(page, session)
    page.locator("#checks-strip").get_by_role("link", name="Anthropic").click()
    expect(page.get_by_label("Provider", exact=True)).to_have_value("anthropic")
    expect(page.get_by_role("link", name="Session pages")).to_be_visible()
    pages = page.get_by_role("navigation", name="Pages of the session")
    expect(pages.get_by_role("link", name="Thread", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="Effective")).to_be_visible()
    light = page.locator("#checks-strip").get_by_role("link", name="Gemini")
    expect(light).to_be_visible()
    page.get_by_label("Provider", exact=True).select_option("gemini")
    expect(page.get_by_role("heading", name="Gemini rules")).to_be_visible()
    expect(page).to_have_url(re.compile("provider=gemini"))
    page.get_by_role("textbox", name="Model").fill("gpt-4o")
    expect(page).to_have_url(re.compile("model=gpt-4o"))
    expect(page.locator("#context-body")).to_contain_text("Counted with o200k_base")
    expect(page.get_by_role("button", name="Show", exact=True)).to_have_count(0)


def test_older_operations_are_listed_as_the_newest_are(
    page: Page, new_session: Callable[[int], str], api: httpx.Client
) -> None:
    session = new_session(60)
    snips = [{"type": "snip", "start_idx": at, "end_idx": at} for at in range(40)]
    for body in snips:
        answer = api.post(f"/api/sessions/{session}/operations", json=body)
        assert answer.status_code == 201, answer.text
    visit(page, session)
    operations = page.locator("#panel-operations .ops > li")
    expect(page.locator("#p-o40 .op-cost").first).to_contain_text("per turn")
    press(page, "S")
    page.get_by_text("Off", exact=True).first.click()
    expect(page.locator("#said")).to_have_text("0 of 30 operations listed")
    page.get_by_role("button", name="Show 10 older operations").press("Enter")
    expect(operations).to_have_count(40)
    expect(operations.locator("visible=true")).to_have_count(0)
    stage = page.locator(".panel-bar [data-action=staging]")
    expect(stage).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#panel-operations")).to_be_focused()
    page.get_by_text("All", exact=True).first.click()
    for key in ("o40", "o3"):
        expect(page.locator(f"#p-{key} .op-cost").first).to_contain_text("per turn")
    press(page, "S")
    page.locator("#p-o3 .toggle").press("Enter")
    expect(page.locator("#p-o3")).to_have_class(re.compile("is-off"))
    expect(page.locator(".toast")).to_contain_text("off")
    expect(page.locator(".panel-bar [data-action=undo]")).to_have_attribute(
        "title", re.compile("turning off")
    )
    expect(operations).to_have_count(40)
    expect(page.locator("#p-o3 .toggle")).to_be_focused()


@pytest.mark.parametrize("path", ["notes", "memos"])
def test_a_text_that_can_not_be_sent_stays_in_its_form(
    page: Page, session: str, faults: Faults, path: str
) -> None:
    faults.expect("Failed to load")
    page.goto(f"/sessions/{session}/{path}")
    page.get_by_text({"notes": "Edit scratchpad", "memos": "Save a memo"}[path]).click()
    words = page.locator("main textarea:visible").first
    words.fill("Words that took an hour.")
    for answer in (
        lambda route: route.abort(),
        lambda route: route.fulfill(status=502, body="Bad Gateway"),
    ):
        page.route(f"**/{path}", answer)
        words.press("Control+Enter")
        expect(page.locator("#toasts .toast--error").last).to_be_visible()
        expect(words).to_have_value("Words that took an hour.")
        page.unroute(f"**/{path}")
    words.press("Control+Enter")
    expect(page.locator("#toasts")).to_contain_text("saved")
    expect(page.locator("main")).to_contain_text("Words that took an hour.")


def test_a_text_of_a_session_that_was_deleted_stays_in_its_form(
    page: Page, session: str, api: httpx.Client, faults: Faults
) -> None:
    faults.expect("Failed to load")
    page.goto(f"/sessions/{session}/notes")
    page.get_by_text("Edit scratchpad").click()
    words = page.get_by_role("textbox", name="Markdown")
    words.fill("Words that took an hour.")
    assert api.delete(f"/api/sessions/{session}").is_success
    page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")
    for _ in range(2):
        expect(page.locator("#toasts")).to_contain_text("Copy what you wrote")
        expect(words).to_have_value("Words that took an hour.")
        page.locator("#toasts .toast--error button").last.click()
        words.press("Control+Enter")
