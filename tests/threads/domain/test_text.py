"""Finding words in a text whatever their case, and the text of messages."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from threads.domain.part import Image, Opaque, Text, Thinking, ToolCall, ToolResult
from threads.domain.text import (
    EXCERPT_MARGIN,
    contains,
    excerpt,
    fold,
    places,
    text_of,
    whole_text,
)

letters = st.text(alphabet="aAßſﬁİ\u0130Σςσ%_\0\ud800😀\n", max_size=12)


@given(letters, letters, letters)
def test_what_stands_in_a_text_is_found_in_either_case(before, words, after):
    text = before + words + after
    assert contains(fold(words.upper()), text.upper())
    assert contains(fold(words), text)


@given(letters, st.text(alphabet="aAßſﬁiσ\u0307", min_size=1, max_size=3))
def test_every_place_holds_what_was_searched_and_none_overlaps(text, query):
    found = places(fold(query), text)
    assert bool(found) == contains(fold(query), text)
    assert all(fold(query) in fold(text[start:end]) for start, end in found)
    assert all(one[1] <= other[0] for one, other in pairwise(found))


def test_a_sharp_s_is_found_by_two():
    assert places("ss", "Straße, Gasse") == [(4, 5), (10, 12)]
    assert places("ss", "glass") == [(3, 5)]
    assert places("s", "Straße") == [(0, 1), (4, 5)]
    assert places("", "anything") == []


def test_an_excerpt_shows_what_stands_around():
    text = "x" * 200 + "needle" + "y" * 200
    found = excerpt("needle", text)
    assert found.text[found.start : found.end] == "needle"
    assert len(found.text) == 2 * EXCERPT_MARGIN + 6
    assert (found.cut_before, found.cut_after) == (True, True)


def test_an_excerpt_of_a_text_without_it_is_the_beginning():
    found = excerpt("absent", "short")
    assert (found.text, found.start, found.end) == ("short", 0, 0)
    assert (found.cut_before, found.cut_after) == (False, False)


def test_all_words_of_a_message_are_searched():
    parts = (
        Text("one"),
        Thinking("two"),
        ToolCall("c1", "bash", {"command": "ls", "also": ["a", 1]}),
        ToolResult("c1", (Text("three"), Image("image/png", url="u"))),
        Opaque("kind", {"text": "four"}),
    )
    assert whole_text(parts) == "one\ntwo\nbash\na\nls\nthree\nfour"
    assert text_of(parts[2]) == "a\nls"
