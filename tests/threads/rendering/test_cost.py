"""Rendering costs in proportion to the text, whatever the text is.

Calls are counted, not time, and compared with those for a quarter of the input, with a wide
margin: what grows with the square would make sixteen times as many.
"""

import sys
from typing import Any

import pytest

from threads.domain.message import Role
from threads.domain.part import Text
from threads.rendering import render, render_difference
from threads.rendering.text import code

ESC = "\x1b"
SIZE = 4_000
PATTERNS = {
    "open brackets": "[",
    "open links": "[a](",
    "open pictures": "![",
    "emphasis": "*a _b ",
    "strong in emphasis": "**a *a ",
    "strikethrough": "~~a ",
    "backticks": "`a",
    "angles": "<a ",
    "comments": "<!--",
    "quotes": ">",
    "list items": "- a\n",
    "table rows": "|a|b|\n|-|-|\n",
    "references": "[a]: b\n",
    "backslashes": "\\",
    "entities": "&amp;",
    "addresses": "a@b.example http://c\n",
    "hidden characters": "a\x00\u202e",
}
OUTPUTS = {
    "colours": f"{ESC}[31ma",
    "open commands": f"{ESC}]",
    "open strings": f"{ESC}P",
    "short introducers": "\x90",
    "overwritten": "ab\r",
    "backspaces": "a\b",
    "erased": f"{ESC}[2K{ESC}[256Cx",
    "headers of diffs": "--- a\n+++ b\n",
    "removed lines": "@@ -1,999 +1,999 @@\n-a\n",
    "open arrays": "[",
    "empty arrays": "[],",
}


def calls(text: str, role: Role) -> int:
    """How many functions a rendering calls."""
    counted = 0

    def note(*_: object) -> None:
        nonlocal counted
        counted += 1

    sys.setprofile(note)
    try:
        render(role, (Text(text),), counts=None)
    finally:
        sys.setprofile(None)
    return counted


@pytest.mark.parametrize(
    ("pattern", "role"),
    [
        *((pattern, Role.USER) for pattern in PATTERNS.values()),
        *((pattern, Role.TOOL) for pattern in OUTPUTS.values()),
    ],
    ids=[*PATTERNS, *OUTPUTS],
)
def test_four_times_the_text_costs_less_than_ten_times_as_much(
    pattern: str, role: Role
) -> None:
    text = pattern * (SIZE // len(pattern))
    render(role, (Text(text),), counts=None)  # what is loaded once is not counted
    assert calls(text * 4, role) < 10 * calls(text, role) + 1_000


def test_a_lexer_never_sees_more_than_a_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    highlight = code.highlight

    def noting(piece: str, *rest: Any) -> Any:
        seen.append(len(piece))
        assert len(piece.split("\n")) <= code.PIECE_LINES
        return highlight(piece, *rest)

    monkeypatch.setattr(code, "highlight", noting)
    for text in ("\n" * 20_000, "x = 1\n" * 5_000, ("y" * 900 + "\n") * 100):
        assert len(code.coloured(text, "python")) == len(text.rstrip("\n").split("\n"))
    assert max(seen) < code.PIECE_SIZE + code.COLOURED_LINE


def test_code_keeps_its_lines_in_every_language() -> None:
    text = 'a = [1,\n\n\'x\' /* y */ # z\n\t"""\n\n' * 60
    for language in code._LANGUAGES:
        assert len(code.coloured(text, language)) == text.rstrip("\n").count("\n") + 1


@pytest.mark.parametrize(
    "text", ["x" * 50_000_000, "a b\n" * 10_000_000, "- a\n" * 10_000_000]
)
def test_a_body_of_fifty_megabytes_becomes_a_page_of_bounded_size(text: str) -> None:
    for role in (Role.USER, Role.TOOL):
        html = render(role, (Text(text),), counts=None)
        assert len(html) < 2_000_000
        assert "left out here" in html


def test_a_difference_of_large_texts_is_of_bounded_size() -> None:
    html = render_difference("a\n" * 1_000_000, "b\n" * 1_000_000)
    assert len(html) < 2_000_000
    assert "left out here" in html
