"""What people read messages called."""

import pytest

from operations.log.selectors import load_thread
from operations.messages.names import (
    extent_of,
    name_of,
    names_of,
    range_of,
    ranges_of,
)
from tests.operations.conftest import Page

KEYS = {
    "m12": "#12",
    "o1": "insert o1",
    "o1.0": "insert o1",
    "o1.1": "insert o1.1",
    "o2": "digest o2",
    "o3": "move o3",
    "o9": "o9",
}


@pytest.fixture
def edited(page: Page) -> Page:
    page.edit("insert", after="m3", role="user", text="Between")
    page.edit("digest", targets="m5 m6", summary="Sum")
    page.edit("resequence", moved="m9", behind="m11")
    page.session.refresh_from_db()
    return page


@pytest.mark.parametrize("key", KEYS)
def test_an_original_is_named_by_its_index_and_the_rest_by_operations(
    edited: Page, key: str
) -> None:
    assert name_of(load_thread(edited.session), key) == KEYS[key]


def test_of_many_some_are_named_and_the_others_counted(edited: Page) -> None:
    thread, keys = load_thread(edited.session), [f"m{n}" for n in range(7)]
    assert names_of(thread, keys[:5]) == "#0, #1, #2, #3, #4"
    assert names_of(thread, keys) == "#0, #1, #2, #3, #4 and 2 more"
    assert names_of(thread, keys, 3) == "#0, #1, #2 and 4 more"
    assert names_of(thread, []) == ""


def test_a_range_of_originals_has_a_dash_and_one_message_no_range(edited: Page) -> None:
    thread = load_thread(edited.session)
    assert range_of(thread, "m2", "m5") == "#2–#5"
    assert range_of(thread, "m2", "m2") == "#2"
    assert range_of(thread, "o2", "m8") == "digest o2 to #8"
    assert range_of(thread, "", "") == ""


def test_a_set_is_named_by_its_runs_unless_these_are_many(edited: Page) -> None:
    thread = load_thread(edited.session)
    assert ranges_of(thread, ["m4", "m2", "m3", "m7", "o1.0"]) == "#2–#4, #7, insert o1"
    assert ranges_of(thread, ["m1", "m3", "m5", "m7"]) == ""


def test_an_extent_names_its_runs_or_its_ends_where_these_are_many(
    edited: Page,
) -> None:
    thread = load_thread(edited.session)
    assert extent_of(thread, ["m2", "m3", "m4"]) == "#2–#4"
    assert extent_of(thread, ["m3", "m4", "m7"]) == "#3–#4, #7"
    assert extent_of(thread, ["m1", "m3", "m5", "m7"]) == "#1 … #7"
    assert extent_of(thread, []) == ""
