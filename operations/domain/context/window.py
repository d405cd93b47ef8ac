"""The window: keeps the last groups of the history."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from operations.domain.providers.request import Outgoing

from .step import Omission, Step, leaving_out

WINDOW = "window"


class OmittedStart(NamedTuple):
    """What a window leaves out before the first message that it keeps.

    The window of the next request usually leaves out the same, and a little more.
    """

    size: int
    """How many groups the window keeps."""
    messages: Sequence[Outgoing]
    left_out: Sequence[Omission]
    groups: frozenset[int]
    """All groups that the messages belong to."""

    def is_left_out_of(
        self, messages: Sequence[Outgoing], count: int, groups: AbstractSet[int]
    ) -> bool:
        """Whether a window of these groups leaves out all of this from the start of messages."""
        return (
            count == self.size
            and self.groups.isdisjoint(groups)
            and messages[: len(self.messages)] == self.messages
        )


class WindowResult(NamedTuple):
    """The result of applying a window."""

    kept: list[Outgoing]
    step: Step
    top: OmittedStart | None
    """None if all groups are kept."""


def last_groups(messages: Sequence[Outgoing], count: int) -> set[int]:
    """The last `count` groups in the order of the thread as replayed.

    A fold counts as every group that it holds, the later ones first.
    """
    found: set[int] = set()
    for message in reversed(messages):
        for group in sorted(message.groups, reverse=True):
            if group not in found:
                if len(found) == count:
                    return found
                found.add(group)
    return found


def keep_window(
    messages: Sequence[Outgoing], count: int, known: OmittedStart | None = None
) -> WindowResult:
    """The messages that belong to any of the last `count` groups; 0 keeps all.

    `known` is what the window of another request left out.
    """
    if not count:
        return WindowResult(list(messages), leaving_out(WINDOW, messages, ()), None)
    groups = last_groups(messages, count)
    if known is None or not known.is_left_out_of(messages, count, groups):
        known = OmittedStart(count, (), (), frozenset())
    kept: list[Outgoing] = []
    left_out, end = list(known.left_out), len(messages)
    above = set(known.groups)
    group, why = None, ""
    for message in messages[len(known.messages) :]:
        if not groups.isdisjoint(message.groups):
            end = end if kept else len(left_out)
            kept.append(message)
            continue
        if not why or message.group != group:
            group = message.group
            why = f"Group {group} is not among the last {count:,}."
        left_out.append(Omission(message.key, message.tokens, why))
        if not kept:
            above |= message.groups
    top = OmittedStart(count, messages[:end], left_out[:end], frozenset(above))
    return WindowResult(kept, leaving_out(WINDOW, messages, left_out), top)
