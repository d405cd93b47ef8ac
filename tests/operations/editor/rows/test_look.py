"""Positions of nodes and places of rows, and what is kept beside a thread."""

import gc
from dataclasses import replace
from weakref import ref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operations.domain.thread.thread import Thread
from operations.editor.rows.look import Places, derived
from operations.editor.rows.minimap import minimap_of, results_of_users
from operations.editor.rows.operation import Operations
from operations.requests import View
from tests.operations.support.builders import digest, insert, snip, thread

from .looks import history_of, look_at

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


def look_around(seen: Thread) -> None:
    """Have all made that is kept beside a thread."""
    operations = derived(seen, "operations", lambda: Operations(seen, history_of(seen)))
    for view in View:
        look = replace(look_at(seen, view), operations=operations)
        assert minimap_of(look) and look.places
        results_of_users(look)
        assert [look.operations[f"o{number}"] for number in (1, 2, 3)]


@pytest.mark.django_db
def test_what_is_derived_from_a_thread_goes_with_it() -> None:
    seen = thread(9, digest(1, 3), snip(5, 6), insert("m7", "new"))
    look_around(seen)
    gone = ref(seen)
    del seen
    gc.collect()
    assert gone() is None
