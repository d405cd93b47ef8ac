"""A slice for the next context alone."""

from typing import Any

import pytest

from contextstudio.accounts.domain.errors import Invalid
from operations.domain.context.selection import Preference, select
from operations.domain.providers.request import Outgoing
from tests.operations.domain.providers.outgoings import fold, inserted, keys_of, out
from threads.domain.message import Role
from threads.domain.part import ToolCall, ToolResult

HELD = {"o1": [2, 3, 4], "o3": []}
THREAD = [
    inserted(9, 1),
    out(0, 1, "a"),
    out(1, 1, "b"),
    fold(1, (1, 2)),
    inserted(2, 1),
    fold(3, (1,)),
    out(5, 3, "c"),
    out(6, 3, "d"),
]


def chosen(messages: list[Outgoing] = THREAD, **query: Any) -> list[str]:
    kept, step = select(messages, Preference(**query), HELD.__getitem__)
    assert step.after + sum(one.tokens for one in step.left_out) == step.before
    return keys_of(kept)


def test_each_node_with_a_leaf_in_the_range_is_kept() -> None:
    assert chosen(start=1, end=3) == ["m1", "o1.0", "o2.0", "o3.0", "m6"]
    assert chosen(start=6, end=7) == ["m6"]


def test_an_insert_goes_with_the_node_before_it() -> None:
    assert chosen(start=4, end=5) == ["o1.0", "o2.0", "o3.0", "m6"]
    assert chosen(start=0, end=1) == ["m0", "m6"]


def test_of_the_range_the_newest_are_kept() -> None:
    assert chosen(start=0, end=6, max_context_messages=2) == ["o3.0", "m5", "m6"]
    assert chosen(max_context_messages=1) == ["m6"]


def test_what_the_last_search_found_is_added_where_asked() -> None:
    found = {"matches": (0, 3), "start": 6, "end": 7}
    assert chosen(**found) == ["m6"]
    assert chosen(**found, include_search_results=True) == [
        *("m0", "o1.0", "o2.0", "o3.0", "m6"),
    ]


def test_what_is_left_out_says_why() -> None:
    query = Preference(start=5, end=7, max_context_messages=1)
    _, step = select(THREAD, query, HELD.__getitem__)
    whys = {one.key: one.why for one in step.left_out}
    assert whys["m0"] == "It is not in the slice 5 to 7."
    assert whys["m5"] == "It is not among the newest 1."
    _, step = select(THREAD, Preference(include_search_results=True), HELD.__getitem__)
    assert {one.why for one in step.left_out} == {"The last search did not find it."}


@pytest.mark.parametrize(
    ("query", "at"),
    [
        ({"start": 3, "end": 3}, "start_message_index"),
        ({"start": -1, "end": 3}, "start_message_index"),
        ({"start": 3}, "start_message_index"),
        ({"max_context_messages": 0}, "max_context_messages"),
    ],
)
def test_what_can_be_no_slice_is_refused(query: dict[str, int], at: str) -> None:
    with pytest.raises(Invalid) as refused:
        Preference(**query)  # type: ignore[arg-type]
    assert refused.value.at == (at,)


def test_the_open_turn_is_always_sent_and_calls_go_with_their_results() -> None:
    messages = [
        out(0, 1, "a"),
        out(1, 1, "b")._replace(
            role=Role.ASSISTANT,
            parts=(ToolCall("x", "look", {}), ToolCall("y", "look", {})),
        ),
        out(2, 1, "c")._replace(role=Role.TOOL, parts=(ToolResult("x", ()),)),
        out(3, 1, "d")._replace(role=Role.USER, parts=(ToolResult("y", ()),)),
        out(4, 1, "e")._replace(role=Role.ASSISTANT),
        out(5, 2, "f"),
        out(6, 2, "g")._replace(
            role=Role.ASSISTANT, parts=(ToolCall("z", "slice", {}),)
        ),
        out(7, 2, "h")._replace(role=Role.USER, parts=(ToolResult("z", ()),)),
    ]
    turn = ["m5", "m6", "m7"]
    assert chosen(messages, start=0, end=1) == ["m0", *turn]
    for index in (1, 2, 3):
        assert chosen(messages, start=index, end=index + 1) == [
            *("m1", "m2", "m3"),
            *turn,
        ]
    answers = messages[1:5]
    assert chosen(answers, start=9, end=10) == ["m1", "m2", "m3", "m4"]
