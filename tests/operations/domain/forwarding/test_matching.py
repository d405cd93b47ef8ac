"""Which elements of two sequences are the same, in one order in both."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from operations.domain.forwarding.matching import Pair, match

WORDS = st.lists(st.sampled_from([b"a", b"b", b"c", b"d"]), max_size=12)
DISTINCT = st.lists(st.integers(0, 40).map(lambda n: b"%d" % n), unique=True)


def longest(some, others):
    """The length of a longest common subsequence, by the textbook."""
    row = [0] * (len(others) + 1)
    for one in some:
        before = row[:]
        for at, other in enumerate(others):
            row[at + 1] = (
                before[at] + 1 if one == other else max(row[at], before[at + 1])
            )
    return row[-1]


@given(WORDS, WORDS)
def test_pairs_are_the_same_and_ascend_on_both_sides(sent, held):
    pairs = match(sent, held)
    assert all(sent[place] == held[index] for place, index in pairs)
    for one, other in pairwise(pairs):
        assert one.place < other.place
        assert one.index < other.index


@given(DISTINCT, DISTINCT)
def test_of_distinct_elements_as_many_as_can_be_are_matched(sent, held):
    assert len(match(sent, held)) == longest(sent, held)


@given(DISTINCT, st.data())
def test_what_is_left_out_is_all_that_is_not_matched(held, data):
    kept = data.draw(st.lists(st.booleans(), min_size=len(held), max_size=len(held)))
    sent = [one for one, stays in zip(held, kept, strict=True) if stays]
    assert [held[index] for _, index in match(sent, held)] == sent


@given(WORDS, st.integers(0, 12))
def test_a_beginning_and_an_end_match_whole_whatever_repeats(held, cut):
    assert len(match(held[cut:], held)) == len(held[cut:])
    assert match(held[:cut], held) == [Pair(n, n) for n in range(len(held[:cut]))]


def test_what_is_said_over_and_over_is_matched_at_the_next_place():
    sent = [b"x", *[b"again"] * 3_000, b"y"]
    held = [b"u", *[b"again"] * 3_000, b"v"]
    assert len(match(sent, held)) == 3_000


class Counting(bytes):
    """Counts how often anything like it is looked at."""

    looks = 0

    def __eq__(self, other: object) -> bool:
        Counting.looks += 1
        return bytes(self) == other

    def __hash__(self) -> int:
        Counting.looks += 1
        return bytes.__hash__(self)


def looks_at(count: int) -> int:
    """How often a client's 6 of 7 messages are looked at, a third of which repeats."""
    held = [Counting(b"%d" % (n if n % 3 else n % 50)) for n in range(count)]
    sent = [Counting(one) for n, one in enumerate(held) if n % 7]
    Counting.looks = 0
    assert len(match(sent, held)) == len(sent)
    return Counting.looks


def test_the_cost_grows_with_the_lengths():
    assert looks_at(8_000) < 3 * looks_at(4_000)
