"""Keys, read and written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operations.domain.tree.key import (
    entry_key,
    entry_number,
    made_key,
    original_index,
    original_key,
    parse_made_key,
)
from tests.operations.support.strategies import MALFORMED


@given(st.integers(0, 10**9 - 1), st.integers(1, 10**9 - 1))
def test_keys_read_as_they_are_written(index, number):
    assert original_index(original_key(index)) == index
    assert entry_number(entry_key(number)) == number
    assert parse_made_key(made_key(number, index)) == (number, index)
    assert parse_made_key(entry_key(number)) == (number, None)


@pytest.mark.parametrize("key", MALFORMED)
def test_what_is_no_key_names_nothing(key):
    assert (original_index(key), parse_made_key(key), entry_number(key)) == (
        None,
        None,
        None,
    )


def test_each_kind_of_key_is_told_apart():
    assert (original_index("o1"), original_index("o1.0")) == (None, None)
    assert (parse_made_key("m1"), entry_number("m1"), entry_number("o1.0")) == (
        None,
        None,
        None,
    )
