"""Groups: a user's message with all that follows it."""

from collections.abc import Iterable, Iterator
from itertools import accumulate, islice

from .message import Role
from .part import Part, ToolResult


def starts_group(role: Role, parts: Iterable[Part]) -> bool:
    """Whether a message starts a group: a user's, that holds more than tool results.

    A user's message without any part starts one too: somebody sent it.
    """
    if role is not Role.USER:
        return False
    empty = True
    for part in parts:
        if not isinstance(part, ToolResult):
            return True
        empty = False
    return empty


def group_ids(starts: Iterable[bool], *, last: int = 0) -> Iterator[int]:
    """The group of each message, given which of them start one.

    What stands before the first user's message is group 0, so the first is always group 1.
    `last` is the group of the message before these, when they are appended.
    """
    return islice(accumulate(starts, initial=last), 1, None)
