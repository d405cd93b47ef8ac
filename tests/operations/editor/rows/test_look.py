"""Positions of nodes and places of rows."""

from hypothesis import given
from hypothesis import strategies as st

from operations.editor.rows.look import Places

widths = st.lists(st.integers(1, 4), max_size=12)


@given(widths)
def test_every_place_is_one_row_of_one_node(widths: list[int]) -> None:
    places = Places((place, width) for place, width in enumerate(widths) if width > 1)
    rows = [
        (position, row) for position, width in enumerate(widths) for row in range(width)
    ]
    assert [places.position(place) for place in range(len(rows))] == rows
    assert [places.place(position) for position in range(len(widths))] == [
        rows.index((position, 0)) for position in range(len(widths))
    ]
    assert places.added == len(rows) - len(widths)


def test_without_wide_nodes_a_place_is_a_position() -> None:
    assert Places().place(7) == 7
    assert Places().position(7) == (7, 0)
