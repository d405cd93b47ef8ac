"""What a tool hid is found by comparing what stood there with what stands there now."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threads.domain.formats.kit.context_view import ContextView


def changes(view: ContextView, keys: str) -> list[tuple[tuple[int, ...], str]]:
    return [
        (found.hidden, keys[found.start : found.end]) for found in view.become(keys)
    ]


def view_of(keys: str) -> ContextView:
    view = ContextView()
    for key in keys:
        view.add(key)
    return view


def test_a_key_put_in_the_place_of_another_hides_what_that_showed() -> None:
    view = view_of("abc")

    assert view.put(1, "B") == (1,)
    assert changes(view, "aBC") == [((2,), "C")]


@pytest.mark.parametrize(
    ("before", "now", "found"),
    [
        ("abc", "abc", []),
        ("abc", "abcd", [((), "d")]),
        ("abc", "s", [((0, 1, 2), "s")]),
        ("abcd", "scd", [((0, 1), "s")]),
        ("abcd", "aBcD", [((1,), "B"), ((3,), "D")]),
        ("abc", "ac", [((1, 2), "c")]),
        ("abc", "ab", [((1, 2), "b")]),
        ("abc", "asbc", [((1,), "sb")]),
        ("abc", "sxyc", [((0, 1), "sxy")]),
        ("abc", "scxy", [((0, 1), "s"), ((), "xy")]),
        ("abc", "", []),
        ("", "ab", [((), "ab")]),
        ("aba", "ba", [((0, 1), "b")]),
    ],
)
def test_each_stretch_that_differs_is_told(
    before: str, now: str, found: list[tuple[tuple[int, ...], str]]
) -> None:
    assert changes(view_of(before), now) == found


def test_what_was_hidden_once_is_hidden_with_what_stood_for_it() -> None:
    view = view_of("abcd")

    assert changes(view, "std") == [((0, 1, 2), "st")]
    view.add("e")
    assert changes(view, "stdE") == [((4,), "E")]
    assert changes(view, "sTdE") == [((0, 1, 2), "sT")]
    assert changes(view, "TdE") == [((0, 1, 2), "T")]
    assert changes(view, "x") == [((0, 1, 2, 3, 4), "x")]


def test_a_record_may_be_several_messages_or_none() -> None:
    view = ContextView()
    view.add("a", 2)
    view.add("event", 0)
    view.add("b", 1)

    assert changes(view, "sb") == [((0, 1), "s")]


@given(st.text("abc", max_size=8), st.lists(st.text("abcxy", max_size=8), max_size=3))
def test_what_is_hidden_was_said_and_something_stands_for_it(
    before: str, views: list[str]
) -> None:
    view = view_of(before)
    for keys in views:
        found = changes(view, keys)
        for hidden, stands in found:
            assert stands
            assert set(hidden) <= set(range(len(before)))
        if found and not found[-1][0]:
            assert all(hidden for hidden, _ in found[:-1])
