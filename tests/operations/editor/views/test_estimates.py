"""What a digest or a snip would come to is said in its form, and comes true."""

import pytest

from operations.editor.views import estimates
from operations.log.selectors import load_thread
from tests.operations.conftest import Page


def estimated(page: Page, **fields: str) -> str:
    return page.post("estimate", **fields).content.decode()


def line_of(page: Page, key: str) -> str:
    ledger = page.get("ledger").content.decode()
    return ledger.split(f'data-late="{key}">')[1].split("</p>")[0].split("</svg>")[-1]


def test_the_forms_of_digest_and_snip_ask_for_it_and_no_other(page: Page) -> None:
    for kind in ("digest", "snip"):
        shown = page.get(f"dialogs/{kind}", targets="m2 m3").content.decode()
        assert f'hx-post="{page.url}estimate"' in shown
    assert "/estimate" not in page.get("dialogs/tag", targets="m2").content.decode()


def test_what_is_estimated_is_what_notice_and_ledger_say_afterwards(
    page: Page,
) -> None:
    fields = {"targets": "m2 m3 m4 m5 m6 m7 m8", "summary": "All in one."}
    said = estimated(page, type="digest", **fields)
    assert load_thread(page.session).head == 0  # nothing was recorded
    figure = said.split("<b>")[1].split(" tokens</b>")[0]
    notice = page.edit("digest", **fields).content.decode()
    assert f"Digest #2–#8, {figure} tokens." in notice
    assert line_of(page, "o1") in said


def test_a_digest_says_what_its_text_leaves_out_as_it_is_written(page: Page) -> None:
    page.edit("insert", after="m3", role="user", text="See docs/tides.md and 4711.")
    targets = "m2 m3 o1.0 m4"
    before = estimated(page, type="digest", targets=targets, summary="")
    assert "before the text" in before
    assert "Leaves out" not in before
    without = estimated(page, type="digest", targets=targets, summary="Nothing.")
    assert "<code>docs/tides.md</code>" in without
    within = estimated(page, type="digest", targets=targets, summary="docs/tides.md")
    assert "docs/tides.md" not in within
    assert "before the text" not in within


def test_what_would_cut_through_a_fold_is_said_before_it_is_posted(
    page: Page,
) -> None:
    page.edit("digest", targets="m2 m3 m4", summary="Sum")
    said = estimated(page, type="snip", targets="m4 m5")
    assert "It covers only part of a fold." in said
    assert "tokens</b>" not in said


def test_inside_a_fold_no_tokens_are_promised(page: Page) -> None:
    page.edit("digest", targets="m2 m3 m4 m5", summary="Sum")
    said = estimated(page, type="snip", targets="m3 m4")
    assert "<b>No tokens</b> in the thread: it is inside digest o1" in said
    assert "−" not in said.partition("</p>")[0]
    waits = page.edit("snip", targets="m3 m4", propose="1").content.decode()
    assert "Snip #3–#4 proposed, inside digest o1." in waits
    refused = page.post("operations/o2/reject").content.decode()
    assert '<span class="op-delta">in digest o1</span>' in refused


def test_a_form_that_names_nothing_is_answered_with_nothing(page: Page) -> None:
    assert "<p" not in estimated(page, type="snip", targets="")


def selection(page: Page, keys: str) -> dict[str, object]:
    return page.get("selection", keys=keys).json()["parted"]  # type: ignore[no-any-return]


def test_a_selection_says_that_it_parts_a_call_from_its_result(page: Page) -> None:
    assert selection(page, "m1") == {
        "sentence": "Separates a tool call from its result",
        "keys": ["m2"],
    }
    assert selection(page, "m0 m2")["keys"] == ["m1"]
    assert selection(page, "m1 m2") == {"sentence": "", "keys": []}
    assert selection(page, "m0") == {"sentence": "", "keys": []}


def test_of_a_half_that_a_fold_hides_nothing_is_offered(page: Page) -> None:
    page.edit("digest", targets="m2 m3", summary="Sum")
    assert selection(page, "m1") == {"sentence": "", "keys": []}
    assert selection(page, "o1")["keys"] == ["m1"]


def test_in_a_long_session_the_request_is_left_until_it_is_asked_for(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimates, "MAX_UNASKED", 10)
    fields = {"type": "snip", "targets": "m2 m3"}
    first = estimated(page, **fields)
    assert " tokens</b> in the thread" in first
    assert "per turn" not in first
    assert "Show what a request would save" in first
    asked = estimated(page, **fields, asked="1")
    assert "per turn" in asked
    assert "Show what a request would save" not in asked
    page.edit("digest", targets="m4 m5", summary="Sum")
    assert "only part of a fold" in estimated(page, type="snip", targets="m5 m6")
