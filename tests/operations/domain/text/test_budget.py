"""An answer is cut to its tokens, and gone on with until all of it was shown, each text once."""

import json
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.domain.paging import encode_cursor
from operations.domain.text.budget import SHORT, Path, fit_to_tokens
from threads import tokens

leaves = st.none() | st.booleans() | st.integers(0, 999) | st.text("ab\n", max_size=400)
answers = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=12)
        | st.dictionaries(st.text("abc", min_size=1, max_size=6), inner, max_size=5)
    ),
    max_leaves=40,
)


def count(text: str) -> int:
    """One token for three characters."""
    return -(-len(text) // 3)


def pages(answer: Any, most: int) -> list[Any]:
    found, path = [], []
    while True:
        value, stop = fit_to_tokens(answer, most, count, path)
        found.append(value)
        if stop is None:
            return found
        assert stop != path
        path: Path = json.loads(json.dumps(stop))  # type: ignore[no-redef]


def texts(value: Any) -> list[str]:
    """The longer texts of an answer, in their order."""
    if isinstance(value, str):
        return [value] if len(value) > SHORT else []
    inside = value.values() if isinstance(value, dict) else value
    return (
        [text for one in inside for text in texts(one)]
        if isinstance(inside, list | type({}.values()))
        else []
    )


def test_what_fits_is_given_whole() -> None:
    answer = {"messages": [{"key": "m0", "content": "Hello"}], "end": 1}
    assert fit_to_tokens(answer, 400, count) == (answer, None)


def test_a_long_text_is_cut_and_gone_on_with() -> None:
    words = "".join(f"{number:05} " for number in range(500))
    answer = {"start": 0, "messages": [{"key": "m0", "content": words, "tokens": 9}]}
    found = pages(answer, 400)
    assert len(found) > 3
    assert all(page["start"] == 0 for page in found)
    assert all(page["messages"][0]["key"] == "m0" for page in found)
    assert all(page["messages"][0]["tokens"] == 9 for page in found)
    assert "".join(page["messages"][0]["content"] for page in found) == words
    assert all(count(json.dumps(page)) <= 400 for page in found)


def test_a_list_goes_on_with_what_was_not_shown() -> None:
    answer = {
        "matches": [[n, {"key": f"m{n}", "content": "x" * 200}] for n in range(9)]
    }
    found = pages(answer, 300)
    shown = [match for page in found for match in page["matches"]]
    assert len(found) > 1
    assert [key for key, *_ in shown if key is not None].count(0) == 1
    assert sum(len(m[-1]["content"]) for m in shown if "content" in m[-1]) == 1800


@pytest.mark.parametrize("most", range(100, 200))
def test_a_key_is_never_cut_for_it_would_be_anothers(most: int) -> None:
    keys = [f"m{number}" for number in range(400, 460)]
    answer = {"policy": "replay", "issues": [{"keys": keys, "rule": "R7"}]}
    shown = [issue["keys"] for page in pages(answer, most) for issue in page["issues"]]
    assert [key for some in shown for key in some] == keys


@pytest.mark.parametrize("most", range(100, 200))
def test_a_line_that_is_short_is_given_whole_where_little_room_is_left(
    most: int,
) -> None:
    lines = [f"{number:02}".ljust(SHORT, "x") for number in range(20)]
    found = pages({"lines": lines}, most)
    assert [line for page in found for line in page["lines"]] == lines


@settings(max_examples=200)
@given(answers, st.integers(90, 300))
def test_all_is_shown_in_the_end(answer: Any, most: int) -> None:
    found = pages(answer, most)
    whole = sum(len(text) for text in texts(answer))
    shown = json.dumps(found)
    for letter in "a":
        assert shown.count(letter) >= json.dumps(answer).count(letter) or not whole
    assert len(found) < 200


@pytest.mark.parametrize(
    "path", [["b"], [0], ["a", 7], ["a", "x"], ["a", 0, 99], ["n", 1], ["a", -1]]
)
def test_a_place_that_is_not_there_is_refused(path: Path) -> None:
    with pytest.raises(Invalid) as refused:
        fit_to_tokens({"a": ["text"], "n": 1}, 100, count, path)
    assert refused.value.at == ("cursor",)


@pytest.mark.parametrize("most", range(1500, 6000, 250))
def test_a_text_of_costly_characters_waits_for_a_page_of_its_own(most: int) -> None:
    """Where a few of its characters would fit behind another text, none is shown."""
    words = ["é" * 90, "è" * 150, "ê" * 200]
    for answer in (words, {"messages": words}, [{"content": one} for one in words]):
        assert "".join(map(said, pages_of(answer, most))) == "".join(words)


def said(value: Any) -> str:
    """All texts of an answer, joined."""
    if isinstance(value, str):
        return value
    inside = value.values() if isinstance(value, dict) else value
    return "".join(map(said, inside))


def pages_of(answer: Any, most: int) -> list[Any]:
    """The pages under a tokenizer that takes 20 tokens for a character."""
    found: list[Any] = []
    path: Path = []
    while True:
        value, stop = fit_to_tokens(answer, most, lambda text: 20 * len(text), path)
        found.append(value)
        if stop is None:
            return found
        path = stop


@pytest.mark.parametrize("words", range(0, 400, 7))
def test_what_is_short_behind_a_cut_text_is_paid_for(words: int) -> None:
    names = [sha256(f"{words} {place}".encode()).hexdigest() for place in range(40)]
    answer = {
        "session": names[0],
        "messages": [
            {
                "id": name,
                "content": [
                    {"text": "word " * words, "hash": name[:32], "name": name[32:]}
                ],
                "tokens": 1_000,
                "more": name[::-1],
            }
            for name in names
        ],
        "who": names[-1],
    }
    tokens_of = tokens.counter(tokens.DEFAULT)
    value, stop = fit_to_tokens(answer, 1_000, tokens_of)
    assert stop is not None
    assert (
        tokens_of(json.dumps({**value, "next_cursor": encode_cursor([stop])})) <= 1_000
    )
