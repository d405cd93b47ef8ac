"""Pages: how long they are, and the cursor that leads from one to the next."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.domain.paging import (
    clamp,
    decode_cursor,
    encode_cursor,
    page,
)

POSITIONS = st.lists(st.integers() | st.text() | st.none(), min_size=1, max_size=3)


@pytest.mark.parametrize(
    ("asked", "given"), [(None, 100), (0, 1), (-7, 1), (20, 20), (9999, 500)]
)
def test_a_limit_is_never_refused(asked: int | None, given: int) -> None:
    assert clamp(asked) == given


@given(POSITIONS)
def test_a_cursor_gives_its_position_back(position: list[object]) -> None:
    assert decode_cursor(encode_cursor(position), len(position)) == position


def test_the_last_item_of_a_page_is_where_the_next_begins() -> None:
    first = page([1, 2, 3], 2, lambda item: [item])
    assert list(first.items) == [1, 2]
    assert first.next_cursor is not None
    assert decode_cursor(first.next_cursor, 1) == [2]
    assert page([1, 2], 2, lambda item: [item]).next_cursor is None


@pytest.mark.parametrize(
    "cursor",
    ["?", "é", "a", encode_cursor([1, 2]), encode_cursor({"a": 1}), "W" * 100_000],
)
def test_any_other_text_is_refused_with_its_place(cursor: str) -> None:
    with pytest.raises(Invalid) as refused:
        decode_cursor(cursor, 1)
    assert list(refused.value.at) == ["cursor"]
