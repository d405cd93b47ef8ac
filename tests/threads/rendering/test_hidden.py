"""Characters that hide are shown, characters that scripts need are left alone."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threads.domain.message import Role
from threads.domain.part import Text
from threads.rendering import render, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", "a⟦U+202E⟧b"),
        ("a\x00b", "a⟦U+0000⟧b"),
        ("\ud800", "⟦U+D800⟧"),
        ("\u200b\u200b\u200b", "⟦U+200B ×3⟧"),
        ("\U000e0068\U000e0069", "⟦U+E0068 “hi”⟧"),
        ("\U000e003c\U000e0062", "⟦U+E003C “·b”⟧"),
        ("a\u200db", "a⟦U+200D⟧b"),
        ("a\ufe01\ufe02", "a⟦U+FE01⟧⟦U+FE02⟧"),
        ("\u2028", "⟦U+2028⟧"),
        ("\x85\x9b", "⟦U+0085⟧⟦U+009B⟧"),
        ("a\r\nb\tc\rd", "a\nb\tc⟦U+000D⟧d"),
    ],
)
def test_a_hidden_character_becomes_a_token(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "👩‍👩‍👧",
        "❤️",
        "1️⃣ #️⃣",
        "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
        "می‌خواهم",
        "क्‍ष",
        "naïve “quotes” — …",
        "שלום",
        "日本語",
    ],
)
def test_what_a_script_or_an_emoji_needs_stays(text: str) -> None:
    assert visible(text) == text


@given(st.text())
def test_nothing_that_hides_is_left(text: str) -> None:
    shown = visible(text)
    shown.encode()
    assert all(
        character in "\n\t\u200c\u200d"
        or unicodedata.category(character) not in ("Cc", "Cs")
        for character in shown
    )
    assert visible(shown) == shown


@given(st.text(alphabet="a\u202d\u202e\u2066\u2069\u200e\u200f\u061c"))
def test_every_bidirectional_control_is_shown(text: str) -> None:
    assert not set(visible(text)) & set("\u202d\u202e\u2066\u2069\u200e\u200f\u061c")


@given(st.text(), st.text())
def test_texts_that_differ_stay_different(left: str, right: str) -> None:
    if (
        left.replace("\r\n", "\n") != right.replace("\r\n", "\n")
        and "⟦" not in left + right
    ):
        assert visible(left) != visible(right)


def test_a_token_is_set_apart_and_named() -> None:
    html = render(Role.TOOL, (Text("a\u202eb"),), counts=None)
    assert '<span class="unseen" title="right-to-left override">⟦U+202E⟧</span>' in html


def test_a_token_inside_an_attribute_stays_text() -> None:
    html = render(Role.USER, (Text("[x](http://a.example/\u202e)"),), counts=None)
    assert '<a href="http://a.example/%E2%9F%A6U+202E%E2%9F%A7"' in html
