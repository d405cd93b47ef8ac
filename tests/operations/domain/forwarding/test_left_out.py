"""What a client leaves out bit by bit is named by few snips, and all of it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operations.domain.forwarding.left_out import more_left_out


@pytest.mark.parametrize(
    ("gone", "known", "more"),
    [
        (range(3), [], range(3)),
        (range(3), [range(3)], range(0)),
        (range(3), [range(2), range(2, 3)], range(0)),
        (range(3), [range(2)], range(2, 3)),
        (range(4), [range(2), range(2, 3)], range(4)),
        (range(9), [range(8), range(3)], range(8, 9)),  # one inside the other
        (range(5), [range(1, 5)], range(5)),  # what is missing is before
        (range(5), [range(3), range(2, 4)], range(5)),  # they overlap
    ],
)
def test_the_run_of_a_new_snip(gone: range, known: list[range], more: range) -> None:
    found = more_left_out(gone, known)
    assert list(found) == list(more)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=200), st.integers(0, 3))
def test_growing_bit_by_bit_costs_little(steps: list[int], start: int) -> None:
    end, made = start, list[range]()
    for step in steps:
        end += step
        made.append(more_left_out(range(start, end), made))
        assert made[-1].stop == end
        assert {at for run in made for at in run} == set(range(start, end))
    count = end - start
    assert sum(map(len, made)) <= count * (count.bit_length() + 1)
