"""Groups and stretches of a session as agents are told of them."""

from collections.abc import Sequence
from typing import Any

from operations.domain.thread.groups import MessageGroup
from operations.domain.thread.thread import Thread
from threads.domain.part import Text
from threads.models import Session
from threads.sessions.presentation import present_original
from threads.store.selectors import Original, load_messages, load_messages_at

LONGEST_TITLE = 80
"""Characters of a group's first message that name it."""
MOST_MESSAGES = 500
"""Originals that one answer holds."""


def present_groups(
    session: Session, groups: Sequence[MessageGroup]
) -> list[dict[str, Any]]:
    """Groups, each named by the first words of its first message."""
    firsts = load_messages_at(session, (group.first for group in groups))
    return [present_group(group, firsts[group.first]) for group in groups]


def present_group(group: MessageGroup, first: Original) -> dict[str, Any]:
    """One group without its messages."""
    return {
        "group_id": group.id,
        "first": group.first,
        "last": group.last,
        "title": _title(first),
        "tokens": group.tokens,
        "status": group.status,
    }


def present_range(
    session: Session, thread: Thread, start: int, end: int
) -> list[dict[str, Any]]:
    """The originals `start` to `end` (half-open) as they may be read, with their tags."""
    return [
        present_original(
            original,
            tags=thread.tags(original.key),
        )
        for original in load_messages(session, start, end)
    ]


def _title(original: Original) -> str:
    texts = (part.text for part in original.parts if isinstance(part, Text))
    words = " ".join(" ".join(texts).split())
    short = words if len(words) <= LONGEST_TITLE else f"{words[: LONGEST_TITLE - 1]}…"
    return short or f"({original.role})"
