"""On a phone nothing leaves the window, and what is pressed is as large as a finger."""

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.servers import Server

from .conftest import conversation, press, row, visit

pytestmark = pytest.mark.browser
LONG_TITLE = "A title of many words, " * 6 + "a/path/without/a/blank_" * 8
PAGES = (
    *("", "context", "requests", "policy", "notes", "memos", "prune", "archive"),
    *("events", "messages/m0/raw"),
)
OVERFLOW = """() => {
  const { scrollWidth, clientWidth } = document.scrollingElement;
  return scrollWidth - clientWidth;
}"""
TOO_SMALL = """() => [...document.querySelectorAll('main button, main input, main select, .rail a')]
  .filter((one) => one.checkVisibility() && !one.closest('.vh') && one.type !== 'hidden')
  .map((one) => (one.closest('label') ?? one).getBoundingClientRect())
  .filter(({ width, height }) => Math.min(width, height) < 44)
  .map(({ width, height }) => `${width} x ${height}`)"""


@pytest.fixture
def phone(
    chromium: Browser, server: Server, signed_in: dict[str, object]
) -> Iterator[Page]:
    """A page in a phone's window, under a finger."""
    context = chromium.new_context(
        base_url=server.url,
        storage_state=signed_in,  # type: ignore[arg-type]  # as the fixture makes it
        viewport={"width": 390, "height": 844},
        is_mobile=True,
        has_touch=True,
    )
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def session(api: httpx.Client) -> str:
    """A session whose title is longer than any window."""
    body = {"title": LONG_TITLE, "messages": conversation(12)}
    return str(api.post("/api/sessions", json=body).json()["id"])


def test_a_long_title_leaves_no_page_wider_than_its_window(
    phone: Page, session: str
) -> None:
    for path in PAGES:
        phone.goto(f"/sessions/{session}/{path}")
        assert phone.evaluate(OVERFLOW) == 0, path


def test_a_short_page_is_as_high_as_its_window(phone: Page, session: str) -> None:
    for path in (f"/sessions/{session}/events", "/no/such/page"):
        phone.goto(path)
        assert phone.evaluate(OVERFLOW.replace("Width", "Height")) == 0, path


def test_a_message_as_recorded_is_a_page_like_the_others(
    phone: Page, session: str
) -> None:
    phone.goto(f"/sessions/{session}/messages/m3/raw")
    expect(phone.get_by_role("navigation", name="Main")).to_be_visible()
    phone.get_by_role("link", name=LONG_TITLE[:30]).click()
    expect(row(phone, "m3")).to_be_visible()


def test_a_key_is_called_one_where_its_column_has_no_head(phone: Page) -> None:
    phone.goto("/settings/projects/demo/upstreams")
    expect(phone.get_by_text("Key: the caller's").first).to_be_visible()
    phone.goto("/settings/projects/demo/providers")
    expect(phone.get_by_text("Key: not set").first).to_be_visible()


def test_a_request_of_a_key_has_a_line_or_two(
    phone: Page, session: str, server: Server, api: httpx.Client
) -> None:
    made = api.post("/api/keys", json={"project": "demo", "name": "asking"}).json()
    asking = {"Authorization": f"Bearer {made['key']}"}
    path = f"/api/sessions/{session}"
    assert httpx.get(server.url + path, headers=asking).is_success
    phone.goto(f"/settings/keys/{made['id']}/")
    request = phone.locator(".key-requests tbody tr").first
    while not request.count():  # nobody waits for it to be recorded
        phone.reload()
    for width, height in ((390, 80), (1440, 40)):
        phone.set_viewport_size({"width": width, "height": 844})
        box = request.bounding_box()
        assert box is not None and box["height"] < height
        assert phone.evaluate(OVERFLOW) == 0


def test_a_list_says_on_a_phone_what_its_columns_say_elsewhere(
    phone: Page, session: str, api: httpx.Client
) -> None:
    end = {"expires_at": "2099-03-04T05:06:07Z"}
    api.post("/api/keys", json={"project": "demo", "name": "ending"} | end)
    api.post(f"/api/sessions/{session}/apply", json={"messages": conversation(12)})
    phone.goto("/settings/keys/")
    ending = phone.locator("tr", has_text="ending")
    expect(ending.get_by_text("Never used · expires 4 Mar 2099")).to_be_visible()
    phone.goto(f"/sessions/{session}/requests")
    request = phone.locator("table.requests tbody tr").first
    expect(request.get_by_text("12 messages")).to_contain_text("just now")


def test_what_is_said_of_a_job_and_a_member_stands_below_their_names(
    phone: Page, session: str, api: httpx.Client
) -> None:
    order = {"start": 6, "end": 9, "propose": True, "provider": "rules"}
    assert api.post(f"/api/sessions/{session}/summaries", json=order).is_success
    for path, what in (("jobs", ".job-word"), ("projects/demo", ".members select")):
        phone.goto(f"/settings/{path}/")
        name = phone.locator("tbody .session-line").first.bounding_box()
        said = phone.locator(what).first.bounding_box()
        assert name is not None and said is not None
        assert said["y"] >= name["y"] + name["height"], path
        assert phone.evaluate(OVERFLOW) == 0
    assert said["height"] >= 44
    phone.goto("/settings/jobs/")
    expect(phone.locator(".jobs time").first).to_be_visible()


def test_a_long_title_leaves_the_list_of_deleted_sessions_in_its_window(
    phone: Page, api: httpx.Client
) -> None:
    body = {"title": LONG_TITLE, "messages": conversation(1)}
    deleted = api.post("/api/sessions", json=body).json()["id"]
    api.delete(f"/api/sessions/{deleted}")
    phone.goto("/sessions/deleted")
    expect(phone.get_by_role("button", name="Restore A title")).to_be_in_viewport(
        ratio=1
    )
    assert phone.evaluate(OVERFLOW) == 0


def test_of_the_pages_of_a_session_the_open_one_is_in_sight(
    phone: Page, session: str
) -> None:
    phone.goto(f"/sessions/{session}/archive")
    expect(phone.locator(".places [aria-current]")).to_be_in_viewport(ratio=1)


def test_the_versions_of_an_operation_are_opened_from_its_marker(
    phone: Page, api: httpx.Client, session: str
) -> None:
    edit = {"type": "digest", "start_idx": 2, "end_idx": 4, "summary": "They talked."}
    made = api.post(f"/api/sessions/{session}/operations", json=edit).json()
    amended = f"/api/operations/{made['operation_id']}/amend"
    assert api.post(amended, json={"summary": "They spoke."}).status_code == 200
    phone.goto(f"/sessions/{session}/")
    phone.get_by_role("button", name="Version 2 of").click()
    expect(phone.locator("#dialog .versions > li")).to_have_count(2)


def test_fields_and_buttons_are_as_large_as_a_finger(phone: Page) -> None:
    for path in ("settings/keys/", "settings/projects/demo/upstreams"):
        phone.goto(f"/{path}")
        assert phone.evaluate(TOO_SMALL) == [], path


def test_no_permission_of_a_key_has_to_be_scrolled_to(phone: Page) -> None:
    phone.goto("/settings/keys/")
    permissions = phone.get_by_role("group", name="Permissions").locator("> div")
    assert permissions.evaluate("box => box.scrollHeight <= box.clientHeight")


def test_links_that_stand_by_themselves_are_as_high_as_a_target(phone: Page) -> None:
    phone.goto("/settings/jobs/")
    links = phone.locator(".job-filter a").all()
    boxes = [link.bounding_box() for link in links]
    assert len(boxes) > 3
    assert all(box and min(box["width"], box["height"]) >= 24 for box in boxes)


def test_the_way_from_one_request_to_the_next_is_as_high_as_a_finger(
    phone: Page, session: str, api: httpx.Client
) -> None:
    for count in (12, 13):
        asked = {"messages": conversation(count)}
        assert api.post(f"/api/sessions/{session}/apply", json=asked).is_success
    phone.goto(f"/sessions/{session}/sent")
    box = phone.get_by_role("link", name="Previous").bounding_box()
    assert box is not None and box["height"] >= 44


def look_for_words(phone: Page, session: str) -> None:
    """Have the dialog list what holds a word that many messages have."""
    phone.goto(f"/sessions/{session}/")
    row(phone, "m1").focus()
    phone.keyboard.press("r")
    phone.get_by_label("Text, or its start").fill("says")
    phone.get_by_role("button", name="Show matches").click()
    expect(phone.locator(".hit")).not_to_have_count(0)


def test_what_a_form_is_sent_with_stays_in_sight_below_a_long_list(
    phone: Page, session: str
) -> None:
    look_for_words(phone, session)
    expect(phone.get_by_role("button", name="Replace selected")).to_be_in_viewport(
        ratio=1
    )


def test_of_many_matches_all_or_none_are_chosen_at_once(
    phone: Page, session: str
) -> None:
    look_for_words(phone, session)
    chosen, free = phone.locator(".hit :checked"), phone.locator(".hit :enabled")
    expect(chosen).not_to_have_count(0)
    phone.get_by_role("button", name="Select none").click()
    expect(chosen).to_have_count(0)
    phone.get_by_role("button", name="Select all").click()
    expect(chosen).to_have_count(free.count())


def test_above_a_keyboard_a_form_leaves_its_words_the_room(
    phone: Page, session: str
) -> None:
    phone.set_viewport_size({"width": 844, "height": 200})
    phone.goto(f"/sessions/{session}/")
    row(phone, "m1").focus()
    phone.keyboard.press("d")
    words = phone.locator("#dialog textarea")
    expect(words).to_be_focused()
    phone.keyboard.type("They talked.")
    in_sight = words.evaluate("""(one) => {
      one.scrollIntoView({ block: "center" });
      const { left, top, height } = one.getBoundingClientRect();
      const heights = [...Array(Math.floor(height)).keys()];
      return heights.filter((y) => document.elementFromPoint(left + 9, top + y) === one).length;
    }""")
    assert in_sight >= 6 * 20, "six lines"


def test_the_menu_of_a_row_selects_it_and_takes_that_back(
    phone: Page, session: str
) -> None:
    phone.goto(f"/sessions/{session}/")
    more = row(phone, "m1").locator(".menu-button")
    more.click()
    phone.get_by_role("menuitem", name="Select").click()
    expect(phone.locator("#selection")).to_be_visible()
    row(phone, "m0").locator(".menu-button").click()  # no finger has a shift key
    phone.get_by_role("menuitem", name="Select up to here").click()
    expect(phone.locator("#selection-count")).to_have_text("2 messages")
    more.click()
    expect(phone.get_by_role("menuitem", name="Select up to here")).to_be_hidden()
    phone.keyboard.press("Escape")
    phone.locator("#selection").get_by_role("button", name="Clear").click()
    more.click()
    phone.get_by_role("menuitem", name="Select").click()
    more.click()
    phone.get_by_role("menuitem", name="Deselect").click()
    expect(phone.locator("#selection")).to_be_hidden()


def listing(api: httpx.Client) -> str:
    """A session whose #2 is a long result, which is folded; its address."""
    call = {"id": "1", "function": {"name": "ls", "arguments": "{}"}}
    said = [
        {"role": "user", "content": "What is there?"},
        {"role": "assistant", "tool_calls": [{**call, "type": "function"}]},
        {"role": "tool", "tool_call_id": "1", "content": "a file and a folder " * 30},
        {"role": "user", "content": "Look into the folder."},
    ]
    body = {"title": "A long list", "messages": said}
    return f"/sessions/{api.post('/api/sessions', json=body).json()['id']}/"


def test_a_row_that_is_folded_to_its_beginning_ends_after_two_lines(
    phone: Page, api: httpx.Client
) -> None:
    phone.goto(listing(api))
    brief = row(phone, "m2").locator(".brief")
    # Safari doesn't count the lines of a button.
    brief.evaluate("(button) => { button.style.webkitLineClamp = 'none'; }")
    assert brief.evaluate(
        "(button) => button.clientHeight <= 2 * parseFloat(getComputedStyle(button).lineHeight)"
    )


def test_what_was_done_after_a_folded_row_ends_where_the_row_does(
    phone: Page, api: httpx.Client
) -> None:
    path = listing(api)
    said = [{"role": "user", "content": "Is that all?"}]
    insert = {"type": "insert", "after": "m2", "messages": said, "propose": True}
    assert api.post(f"/api{path}operations", json=insert).is_success
    phone.goto(path)
    note = row(phone, "m2").locator(".flat")
    bottom = "(one) => one.getBoundingClientRect().bottom"
    assert note.evaluate(bottom) == row(phone, "m2").evaluate(bottom)


def test_words_without_a_blank_leave_no_page_wider_than_its_window(
    phone: Page, session: str, api: httpx.Client
) -> None:
    word = "W" * 100
    memo = {"content": word, "tags": [word], "session_id": session}
    assert api.post("/api/tools/save_memo", json=memo).is_success
    taken = f"/api/sessions/{session}/snapshots"
    assert api.post(taken, json={"name": word}).is_success
    body = {"title": f"{word} {word}", "messages": conversation(1)}
    assert api.post("/api/sessions", json=body).is_success
    own = f"/sessions/{session}"
    for path in (
        *(f"{own}/memos", f"{own}/memos?tag={word}"),
        *(f"{own}/context?against=snapshot:{word}", f"/sessions/?q={word}"),
    ):
        phone.goto(path)
        assert phone.evaluate(OVERFLOW) == 0, path


def test_a_refusal_that_quotes_a_long_name_stays_in_its_dialog(
    phone: Page, session: str, api: httpx.Client
) -> None:
    name = "V" * 100
    taken = f"/api/sessions/{session}/snapshots"
    assert api.post(taken, json={"name": name}).is_success
    visit(phone, session)
    row(phone, "m1").focus()
    press(phone, "Control+k")
    phone.keyboard.type("take a snapshot")
    press(phone, "Enter")
    phone.get_by_label("Name", exact=True).fill(name)
    press(phone, "Control+Enter")
    dialog = phone.locator("#dialog")
    expect(dialog.locator(".wrong")).to_be_visible()
    assert dialog.evaluate("(one) => one.scrollWidth - one.clientWidth") == 0


def test_a_project_with_a_long_name_leaves_its_pages_in_their_window(
    phone: Page, server: Server
) -> None:
    name = "P" * 150
    server.command("create_project", "long-name", "--name", name)
    made = ("create_user", "long", "--project", "long-name", "--role", "owner")
    path = server.command(*made).splitlines()[-1]
    phone.context.clear_cookies()
    phone.goto(path)
    phone.get_by_role("button", name="Sign in").click()
    expect(phone.get_by_text("No sessions yet")).to_be_visible()
    phone.goto("/settings/projects/long-name/")
    phone.get_by_role("button", name="Create link").click()
    link = phone.locator("#made-link").inner_text()
    phone.context.clear_cookies()
    phone.goto(link)
    assert phone.evaluate(OVERFLOW) == 0


def test_a_choice_of_projects_is_no_wider_than_its_window(
    phone: Page, session: str
) -> None:
    phone.goto(f"/sessions/?q={LONG_TITLE[:7]}")
    phone.evaluate(
        """() => {
          const source = document.querySelector(".list-search select");
          source.options[0].textContent = "P".repeat(150);
        }"""
    )
    assert phone.evaluate(OVERFLOW) == 0
