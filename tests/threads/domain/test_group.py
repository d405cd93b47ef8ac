"""A group is a user's message with all that follows it."""

from threads.domain.message import Role, group_ids, starts_group
from threads.domain.part import Text, ToolResult


def test_only_a_user_who_says_something_starts_a_group() -> None:
    result = ToolResult("1", ())

    assert starts_group(Role.USER, [Text("Hi")])
    assert starts_group(Role.USER, [result, Text("Go on.")])
    assert starts_group(Role.USER, [])
    assert not starts_group(Role.USER, [result, result])
    assert not starts_group(Role.TOOL, [result])
    assert not starts_group(Role.ASSISTANT, [Text("Hi")])


def test_what_stands_before_the_first_user_is_group_0() -> None:
    assert list(group_ids([False, True, False, False, True])) == [0, 1, 1, 1, 2]
    assert list(group_ids([True, False])) == [1, 1]


def test_groups_go_on_where_messages_are_appended() -> None:
    assert list(group_ids([False, True], last=7)) == [7, 8]
