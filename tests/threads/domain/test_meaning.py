"""Passages of texts, and vectors as they are kept and compared."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from threads.domain.meaning.nearness import NEAR, PARTS, as_share
from threads.domain.meaning.passages import passages
from threads.domain.meaning.vectors import (
    DIMENSIONS,
    Vectors,
    nearest,
    pack,
    similarities,
    unit,
)

TEXTS = st.text(alphabet="ab \n", max_size=200)
WORST = round(PARTS * DIMENSIONS**0.5 * 0.5 / 127) + 1
"""How far rounding to bytes may move a similarity."""


@given(TEXTS, st.integers(5, 30))
def test_passages_are_all_that_a_text_says_cut_between_words(text: str, length: int):
    found = passages(text, length, most=1000)
    assert all(0 < end - start <= length for start, end in found)
    assert "".join("".join(text[a:b] for a, b in found).split()) == "".join(
        text.split()
    )
    starts = [start for start, _ in found]
    assert starts == sorted(set(starts))


def test_a_passage_ends_with_a_line_else_a_word_else_where_it_must():
    assert passages("a line of\nthree fo", 12) == [(0, 10), (10, 18)]
    assert passages("one two three", 9) == [(0, 8), (8, 13)]
    assert passages("abcdefghijkl", 5) == [(0, 5), (5, 10), (10, 12)]


def test_of_a_long_text_the_beginning_and_the_end_are_taken():
    text = "".join(f"{number:09}\n" for number in range(20))
    starts = [start // 10 for start, _ in passages(text, 10, most=8)]
    assert starts == [0, 1, 2, 3, 4, 17, 18, 19]
    assert passages(text, 10, most=1) == [(0, 10)]


def test_what_says_nothing_has_no_passages():
    assert passages("") == passages(" \n" * 3000) == []


def vectors(count: int, seed: int) -> Vectors:
    drawn = np.random.default_rng(seed).normal(size=(count, DIMENSIONS))
    return unit(drawn.astype(np.float32))


@given(st.lists(st.integers(1, 4), min_size=1, max_size=6), st.integers(0, 1000))
def test_a_text_is_as_near_as_the_nearest_of_its_passages(counts: list[int], seed: int):
    texts = [vectors(count, seed + 7 * at) for at, count in enumerate(counts)]
    question = vectors(1, seed + 5000)[0]
    found = similarities(question, [pack(one) for one in texts])
    expected = [PARTS * float((one @ question).max()) for one in texts]
    assert np.abs(found - np.array(expected)).max() <= WORST


def test_the_same_text_is_all_parts_near():
    same = vectors(1, 3)
    [found] = similarities(same[0], [pack(same)])
    assert abs(found - PARTS) <= WORST
    assert len(pack(same)) == DIMENSIONS


def test_nothing_is_near_where_nothing_is_kept():
    assert similarities(vectors(1, 3)[0], []).tolist() == []


def test_what_has_no_direction_stays_as_it_is():
    assert not unit(np.zeros((1, DIMENSIONS), np.float32)).any()


def test_the_nearest_come_first_and_of_equals_the_newest():
    scores = np.array([NEAR, NEAR - 1, 5000, NEAR, 9000], np.int32)
    ids = np.array([1, 2, 3, 4, 5], np.int64)
    assert nearest(scores, ids, 10) == [(9000, 5), (5000, 3), (NEAR, 4), (NEAR, 1)]
    assert nearest(scores, ids, 2) == [(9000, 5), (5000, 3)]


@pytest.mark.parametrize(("parts", "share"), [(-5, 0), (2000, 0.2), (PARTS, 1)])
def test_nearness_is_shown_from_0_to_1(parts: int, share: float):
    assert as_share(parts) == share
