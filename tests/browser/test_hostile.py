"""Hostile transcripts: shown inertly everywhere, or refused in a clear sentence on the page."""

import difflib
import hashlib
import io
import json
import re
import uuid
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect

from tests.browsers import Faults
from tests.servers import Server
from tests.threads.support.transcripts import answer, lines, text, user

from .attacks import ATTACKS
from .conftest import press, row, see_the_checks, snip, visit
from .transcripts import with_own_id

pytestmark = pytest.mark.browser

SESSION_ID = "5d1f2f6e-0000-4000-8000-00000000feed"

SKELETON = """() => [...document.querySelectorAll(
    "[id], [name], script, style, link, meta, base, form, iframe, article, section, dialog")]
  .filter((one) => !one.closest("[hx-disable] *, svg *, #sessions > tr + tr, tbody > tr + tr *"))
  .map((one) => [one.localName, one.id.replace(/^s-[0-9a-f-]{36}$/, "s-"),
    one.getAttribute("name")].join(" "))"""
"""What the page is made of beside what a transcript says: its parts, their ids and names.

Rows of the list have the ids of their sessions."""

STRANGE = """() => [...document.querySelectorAll("*")].flatMap((one) => {
  const inside = one.closest("[hx-disable] *");
  const names = one.getAttributeNames();
  return [
    ...names.filter((name) => /^on/.test(name)),
    ...names.filter((name) => inside && /^(hx-|data-|id$|name$|style$|src)/.test(name)),
    inside && !one.matches(
      "a, b, bdi, blockquote, br, code, del, details, div, em, h4, h5, h6, hr, ins, li, ol, p, "
      + "pre, s, span, strong, summary, table, tbody, td, th, thead, tr, ul") ? one.localName : "",
    one.matches("a[href]") && !/^https?:|^mailto:/.test(one.href) ? one.href : "",
    inside && one.origin === location.origin ? one.href : "",
    one.matches("textarea, input") ? "" : unseen([
      ...[...one.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data),
      ...names.map((name) => one.getAttribute(name)),
    ].join(" ")),
  ].filter(Boolean);
  function unseen(words) {
    const control = "\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f";
    const format = "\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069\\ufeff";
    const found = new RegExp(`[${control}${format}]`);
    return found.test(words) ? `unseen in ${one.localName}.${one.className}` : "";
  }
})"""
"""Handlers and unseen characters anywhere; what no body may hold: other tags, attributes of
ours, other addresses."""


SHOWN = {
    "scripts": "<script>",
    "drawings": "<svg onload",
    "links": "javascript:alert(1)",
    "htmx": "hx-get=/attack",
    "shadows": "id=thread-facts",
    "terminal": "click",
    "bidi": "⟦U+202E⟧",
    "nul": "⟦U+0000⟧",
    "surrogates": "⟦U+D800⟧",
}
"""What a reader sees of each attack: all of it, as text."""


@pytest.fixture(scope="module")
def skeletons(
    chromium: Browser, server: Server, signed_in: dict[str, Any], api: httpx.Client
) -> dict[str, list[str]]:
    """Of what the pages of a harmless session are made, step by step."""
    window = chromium.new_context(base_url=server.url, storage_state=signed_in)
    page = window.new_page()
    session = made_of(api, ["plain words"] * 3)
    found = {step: page.evaluate(SKELETON) for step in everywhere(page, session)}
    window.close()
    return found


@pytest.fixture
def watched(context: BrowserContext, server: Server, faults: Faults) -> None:
    """Asking another host or the address of an attack, or a dialog, fails the test."""

    def check(request: Request) -> None:
        ours = request.url.startswith((server.url, "data:", "blob:"))
        if not ours or "attack" in request.url:
            faults.append(f"asked for {request.url}")

    context.on("request", check)
    context.on("dialog", lambda dialog: faults.append(f"dialog: {dialog.message}"))


@pytest.mark.usefixtures("watched")
@pytest.mark.parametrize("attack", ATTACKS)
def test_a_hostile_transcript_is_shown_inertly(
    page: Page, api: httpx.Client, skeletons: dict[str, list[str]], attack: str
) -> None:
    session = made_of(api, ATTACKS[attack])
    for step in everywhere(page, session):
        assert page.evaluate(STRANGE) == [], step
        assert difference(page.evaluate(SKELETON), skeletons[step]) == [], step
        if step == "original":
            expect(row(page, "m4")).to_contain_text(SHOWN[attack])


def everywhere(page: Page, session: str) -> Iterator[str]:
    """Go where a session is shown, unfold and try what can be done; names each step."""
    page.goto("/sessions/")
    expect(page.locator(f"a[href='/sessions/{session}/']")).to_be_visible()
    yield "list"
    visit(page, session)
    see_the_checks(page)
    yield "folded"
    for key in ("o1", "o2"):
        row(page, key).locator(".disclosure").click()
        expect(row(page, key).locator(".inner")).to_be_visible()
    for body in page.locator(".body").all():
        body.hover(position={"x": 1, "y": 1})
        body.click(position={"x": 1, "y": 1})
    yield "unfolded"
    page.get_by_role("tab", name="Log").click()
    expect(page.locator(".entry")).not_to_have_count(0)
    yield "log"
    for key, verb, about in (("o1", "e", "amend"), ("m3", "e", "revise")):
        row(page, key).focus()
        press(page, verb)
        expect(page.locator("#dialog textarea")).to_be_focused()
        yield about
        press(page, "Escape")
    row(page, "m11").focus()
    snip(page)
    expect(page.locator("#n-o6")).to_be_focused()
    for view in ("effective", "original"):
        visit(page, session, query=f"?view={view}")
        see_the_checks(page)
        yield view
    page.goto(f"/sessions/{session}/messages/m2/raw")
    expect(page.get_by_role("heading", name="Message #2")).to_be_visible()
    yield "raw"


def difference(found: list[str], expected: list[str]) -> list[str]:
    """The lines that stand in one of two skeletons only."""
    compared = difflib.unified_diff(expected, found, lineterm="", n=0)
    return [line for line in compared if not line.startswith(("---", "+++", "@@"))]


def transcript(payloads: list[str]) -> bytes:
    """A Claude Code session in which every string that may be anything is one of these."""
    words = "\n\n".join(payloads)
    said: list[tuple[str, Any]] = [
        ("user", words),
        ("assistant", {"type": "thinking", "thinking": words, "signature": "s"}),
        ("assistant", call("c1", payloads[0], {payloads[-1]: payloads})),
        ("user", result("c1", words)),
        ("user", [text(words)]),
        ("assistant", text(f"```{payloads[0]}\n{words}\n```")),
        ("assistant", call("c2", "Bash", {"command": words, "description": words})),
        ("user", result("c2", words)),
        ("assistant", call("c3", "Edit", edited(payloads))),
        ("user", result("c3", words)),
        (
            "assistant",
            text(f"| a | b |\n|---|---|\n| {payloads[0]} | {payloads[-1]} |"),
        ),
        ("user", "The end."),
    ]
    records = []
    for place, (role, content) in enumerate(said):
        line = {"user": user, "assistant": answer}[role]
        records.append(line(f"r{place}", f"r{place - 1}" if place else None, content))
        records[-1] |= {"sessionId": SESSION_ID, "cwd": payloads[0]}
    records[1]["message"]["model"] = payloads[0][:100]
    return lines(
        {"type": "summary", "summary": payloads[0], "leafUuid": "r11"}, *records
    )


def call(id_: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A block that calls a tool."""
    return {"type": "tool_use", "id": id_, "name": name, "input": arguments}


def result(call_id: str, words: str) -> list[dict[str, Any]]:
    """The content of a line that answers a call."""
    return [{"type": "tool_result", "tool_use_id": call_id, "content": words}]


def edited(payloads: list[str]) -> dict[str, str]:
    """The arguments of an edit of a file with such a name."""
    return {
        "file_path": payloads[0],
        "old_string": payloads[-1],
        "new_string": payloads[0],
    }


def made_of(api: httpx.Client, payloads: list[str]) -> str:
    """A session of these in every text, with a digest, an insert, a revise and tags."""
    words, content = "\n\n".join(payloads), transcript(payloads)
    content = content.replace(SESSION_ID.encode(), str(uuid.uuid4()).encode())
    imported = api.post("/api/sessions/import", files={"file": ("a.jsonl", content)})
    assert imported.status_code == 201, imported.text
    session = str(imported.json()["sessions"][0]["id"])
    message = {"role": "user", "content": words}
    for edit in (
        {"type": "digest", "targets": ["m0", "m1"], "summary": words},
        {"type": "revise", "targets": ["m4"], "replacements": [message]},
        {"type": "insert", "after": "m4", "messages": [message]},
        {"type": "tag", "targets": ["m5"], "tags": [payloads[0][:100]]},
        {"type": "snip", "targets": ["m10"], "tags": [payloads[0][:100]]},
    ):
        done = send(api, f"/api/sessions/{session}/operations", edit)
        if done.status_code == 422 and done.json()["at"][0] == "tags":
            done = send(
                api,
                f"/api/sessions/{session}/operations",
                edit | {"tags": ["harmless"]},
            )
        assert done.status_code == 201, done.text
    titled = send(api, f"/api/sessions/{session}", {"title": payloads[0]}, "PATCH")
    assert titled.status_code == 200, titled.text
    return session


def send(
    api: httpx.Client, path: str, body: Any, method: str = "POST"
) -> httpx.Response:
    """Send JSON in ASCII, so that lone surrogates may stand in it."""
    headers = {"Content-Type": "application/json"}
    return api.request(method, path, content=json.dumps(body), headers=headers)


DEEP = 100_000
SENTENCE = re.compile(r'^[A-Z"][^<>]+\.$')


def zipped(content: bytes) -> bytes:
    """An archive with a transcript in it that could be read as it stands."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("agent.jsonl", content)
    return file.getvalue()


UNREADABLE = {
    "a deep document": (b"[" * DEEP + b"]" * DEEP, "nested"),
    "a deep object": (b'{"a":' * DEEP + b"1" + b"}" * DEEP, "nested"),
    "a zip cut short": (zipped(transcript(["plain words"]))[:-30], "zip"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40, "image (PNG)"),
    "noise": (hashlib.shake_256(b"noise").digest(100_000), "binary"),
    "nothing": (b"", "empty"),
    "words": ("milk, \u202e <script>alert(1)</script>".encode(), "text"),
    "an open string": (b'[{"role": "user", "content": "' + b"x" * 1000, "JSON"),
}


@pytest.mark.usefixtures("watched")
@pytest.mark.parametrize("kind", UNREADABLE)
def test_what_cannot_be_read_is_refused_where_it_was_given(
    page: Page, faults: Faults, kind: str
) -> None:
    faults.expect("status of 422")
    content, named = UNREADABLE[kind]
    name = "<img src=x onerror=alert(1)>.jsonl"
    page.goto("/sessions/")
    page.set_input_files(
        "#file", {"name": name, "mimeType": "application/json", "buffer": content}
    )
    refused = page.locator("#import-refused")
    expect(refused).to_have_text(SENTENCE)
    expect(refused).to_contain_text(named)
    assert page.evaluate(STRANGE) == []


@pytest.mark.usefixtures("watched")
def test_a_deep_line_is_left_out_and_the_page_says_so(page: Page) -> None:
    deep = b'{"a":' * DEEP + b"1" + b"}" * DEEP
    call_line = answer("a1", "u1", call("c1", "Bash", {"deep": "HERE"}))
    content = lines(
        user("u1", None, "Look."), call_line, user("u2", "a1", "Thank you.")
    )
    page.goto("/sessions/")
    page.set_input_files(
        "#file",
        {
            "name": "deep.jsonl",
            "mimeType": "application/json",
            "buffer": with_own_id(content).replace(b'"HERE"', deep),
        },
    )
    expect(row(page, "m1")).to_contain_text("Thank you.")
    expect(page.locator("#toasts")).to_contain_text("Line 2 can't be read.")
    expect(page.locator("#toasts")).to_contain_text("nested")


@pytest.mark.usefixtures("watched")
def test_a_line_of_fifty_megabytes_is_imported_by_a_job_and_shown_in_part(
    page: Page, tmp_path: Path
) -> None:
    file = tmp_path / "<img src=x onerror=alert(1)>.jsonl"
    around = lines(user("u1", None, "Before."), user("u2", "u1", "HERE"))
    long = b"<script>alert(1)</script> " * (50 * 2**20 // 26)
    content = around + lines(user("u3", "u2", "Behind."))
    file.write_bytes(with_own_id(content).replace(b"HERE", long))
    page.goto("/sessions/")
    page.set_input_files("#file", file)
    expect(page.locator("#jobs")).to_contain_text("onerror=alert(1)")
    page.get_by_role("link", name="Before.").click()
    expect(row(page, "m1")).to_contain_text("<script>alert(1)</script>")
    expect(row(page, "m2")).to_contain_text("Behind.")
    assert page.evaluate(STRANGE) == []
    assert len(page.content()) < 1_000_000


@pytest.mark.usefixtures("watched")
def test_a_hostile_name_of_a_key_is_shown_inertly(page: Page) -> None:
    for attack in ("scripts", "htmx", "shadows", "bidi"):
        page.goto("/settings/keys/")
        page.get_by_label("Name").fill(ATTACKS[attack][0][:80])
        page.get_by_role("button", name="Create key").click()
        expect(page.locator("#made-key")).to_be_visible()
        assert page.evaluate(STRANGE) == []
        assert page.locator("[id]").count() == len(
            set(page.locator("[id]").evaluate_all("(all) => all.map((one) => one.id)"))
        )


PLACES = [
    "/sign-in",
    "/sessions/",
    "/sessions/{session}/",
    "/sessions/{session}/chunk?start=0&count=9",
    "/sessions/{session}/messages/m0/raw",
    "/sessions/{session}/export",
    "/sessions/{session}/dialogs/digest?targets=m1",
    "/settings/keys/",
    "/no/such/page",
    "/sign-in/used",
    "/api/docs",
    "/api/openapi.json",
    "/api/sessions/{session}/messages",
    "/static/css/base/base.css",
    "/static/favicon.svg",
]


def test_the_policy_of_every_page_allows_nothing_inline(
    page: Page, new_session: Callable[[int], str]
) -> None:
    session = new_session(3)
    for place in PLACES:
        answer = page.request.get(place.format(session=session))
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy, place
        assert "unsafe" not in policy, place
