"""The rolling window: the last groups of a conversation."""

from collections.abc import Sequence

from operations.domain.providers.outgoing import Outgoing

from .step import Omission, Step, leaving_out

NAME = "window"


def last_groups(messages: Sequence[Outgoing], count: int) -> set[int]:
    """The last `count` groups in the order of the thread as replayed.

    A fold counts as every group that it holds; of these the later ones count first.
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
    messages: Sequence[Outgoing], count: int
) -> tuple[list[Outgoing], Step]:
    """The messages that belong to the last `count` groups; 0: all."""
    if not count:
        return list(messages), leaving_out(NAME, messages, ())
    groups = last_groups(messages, count)
    kept = [message for message in messages if message.group in groups]
    left_out = [
        Omission(
            message.key,
            message.tokens,
            f"Group {message.group} is not among the last {count:,}.",
        )
        for message in messages
        if message.group not in groups
    ]
    return kept, leaving_out(NAME, messages, left_out)
