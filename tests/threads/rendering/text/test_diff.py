"""Differences: by their structure alone, with signs as text and changed words marked."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.threads.rendering.html_reading import Reading
from threads.rendering import render_difference
from threads.rendering.text import diff
from threads.rendering.text.difference import MAX_CHANGED, align

UNIFIED = """\
commit 1
diff --git a/a.py b/a.py
--- a/a.py
+++ b/a.py
@@ -1,3 +1,3 @@ def f
 same
-the old word
+the new word
 end
- not a removed line
"""


def rows(html: str) -> list[tuple[str, str]]:
    """Kind and text of each row, sign included."""
    pieces = html.split('<div class="line ')[1:]
    return [(piece.split('"')[0], _text(piece)) for piece in pieces]


def _text(piece: str) -> str:
    return Reading("<p>" + piece.split(">", 1)[1].split("</div>")[0] + "</p>").text


def test_a_unified_diff_becomes_rows_with_their_signs() -> None:
    assert rows(diff.render_unified(UNIFIED)) == [
        ("context", " commit 1"),
        ("file", "diff --git a/a.py b/a.py"),
        ("file", "--- a/a.py"),
        ("file", "+++ b/a.py"),
        ("hunk", "@@ -1,3 +1,3 @@ def f"),
        ("context", " same"),
        ("remove", "−the old word"),
        ("add", "+the new word"),
        ("context", " end"),
        ("context", " - not a removed line"),
    ]


def test_changed_words_of_a_replaced_line_are_marked() -> None:
    html = diff.render_unified(UNIFIED)
    assert "the <del>old</del> word" in html
    assert "the <ins>new</ins> word" in html


@pytest.mark.parametrize(
    "text",
    [
        "- one\n- two\n+ three",
        "--- a heading ---\ntext",
        "--- a\n+++ b\nno hunk",
        "@@ a mention @@",
        "+1 for that\n-1 for this",
        "diff --git is a command",
    ],
)
def test_what_only_looks_like_a_diff_is_none(text: str) -> None:
    assert not diff.is_unified(text)


@pytest.mark.parametrize(
    "text",
    [
        UNIFIED,
        "@@ -1 +1 @@\n-a\n+b",
        "--- a\n+++ b\n@@ -0,0 +1 @@\n+x",
        "diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@",
    ],
)
def test_a_diff_is_known_by_its_headers(text: str) -> None:
    assert diff.is_unified(text)


def test_a_codex_patch_becomes_rows() -> None:
    patch = (
        "*** Begin Patch\n*** Update File: a.py\n@@ def f\n-a\n+b\n same\n*** End Patch"
    )
    assert diff.is_patch(patch)
    assert diff.patched_files(patch) == ["a.py"]
    assert [kind for kind, _ in rows(diff.render_patch(patch))] == [
        *("file", "file", "hunk", "remove", "add", "context", "file")
    ]


def test_of_a_patch_that_is_far_too_long_the_end_is_shown_too() -> None:
    lines = f"+{'x' * 200}\n" * 2000
    html = diff.render_patch(f"*** Begin Patch\n{lines}-the last\n*** End Patch")
    assert "left out here" in html
    assert rows(html)[-2:] == [("remove", "−the last"), ("file", "*** End Patch")]


def test_an_edit_shows_removed_lines_before_added_ones() -> None:
    assert rows(diff.render_edit("a\nold word here\nz", "a\nnew word here\nz")) == [
        ("context", " a"),
        ("remove", "−old word here"),
        ("add", "+new word here"),
        ("context", " z"),
    ]


def test_a_revision_shows_a_changed_line_once() -> None:
    html = render_difference("It stays as it was before.", "It stays as it is before.")
    assert rows(html) == [("change", "±It stays as it wasis before.")]
    assert "<del>was</del><ins>is</ins>" in html


def test_a_line_that_shares_too_little_is_shown_twice() -> None:
    kinds = [
        kind for kind, _ in rows(render_difference("alpha beta gamma", "one two three"))
    ]
    assert kinds == ["remove", "add"]


def test_added_and_removed_lines_of_a_revision_have_their_sign() -> None:
    assert rows(render_difference("a\nb", "b\nc")) == [
        ("remove", "−a"),
        ("context", " b"),
        ("add", "+c"),
    ]


def test_lines_far_from_a_change_are_folded() -> None:
    same = "".join(f"line {n}\n" for n in range(40))
    html = render_difference(same + "old", same + "new")
    assert "Show 37 unchanged lines" in html
    assert html.index("line 0") > html.index("<details")
    assert html.index("line 39") > html.index("</details>")


def test_equal_texts_have_no_change_and_no_fold() -> None:
    html = render_difference("a\n" * 100, "a\n" * 100)
    assert {kind for kind, _ in rows(html)} == {"context"}
    assert "details" not in html


@pytest.mark.parametrize("lines", [10, 900])
def test_large_texts_are_compared_by_line(lines: int) -> None:
    padding = "word " * (70_000 // 5 // lines)
    old = "".join(f"{n} {padding}\n" for n in range(lines))
    kinds = {
        kind for kind, _ in rows(render_difference(old, old.replace("word", "ward", 1)))
    }
    assert "change" not in kinds
    assert {"remove", "add"} <= kinds


def test_more_than_can_be_aligned_counts_as_replaced() -> None:
    old = [f"a{n}" for n in range(MAX_CHANGED + 1)]
    new = [f"b{n}" for n in range(MAX_CHANGED + 1)]
    assert align(old, ["same", *new]) == [(False, (0, len(old)), (0, len(new) + 1))]


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abc")))
def test_an_alignment_leads_from_one_to_the_other(
    old: list[str], new: list[str]
) -> None:
    blocks = align(old, new)
    assert [x for block in blocks for x in old[slice(*block.old)]] == old
    assert [x for block in blocks for x in new[slice(*block.new)]] == new
    assert all(old[slice(*b.old)] == new[slice(*b.new)] for b in blocks if b.same)
    assert all(left.same != right.same for left, right in pairwise(blocks))


@given(st.text(alphabet="ab \n<&"), st.text(alphabet="ab \n<&"))
def test_a_difference_holds_all_words_of_both(old: str, new: str) -> None:
    shown = Reading(render_difference(old, new)).text
    assert all(
        shown.count(mark) >= max(old.count(mark), new.count(mark)) for mark in "ab<&"
    )
