"""Where a request may be cut: between two speakers, if neither side depends on the other."""

from collections.abc import Sequence

from operations.domain.providers.plain import UnreadMessage
from operations.domain.providers.request import Outgoing
from threads.domain.message import Role
from threads.domain.part import Text, ToolCall, ToolResult

APART = {
    (Role.ASSISTANT, Role.USER),
    (Role.TOOL, Role.ASSISTANT),
    (Role.USER, Role.ASSISTANT),  # providers that want tool results in a user's message
}
"""Pairs of the last speaker before a cut and the first speaker after it."""


def may_cut(messages: Sequence[Outgoing], place: int) -> bool:
    """Whether a request may be cut before the message at a place.

    That is so if an assistant has finished and a user speaks, or if all calls have been answered
    and the assistant speaks again.
    """
    before, behind = messages[place - 1], messages[place]
    if behind.role is Role.USER:
        return (
            _is_text_only(behind)
            and before.role is Role.ASSISTANT
            and _is_text_only(before)
        )
    return (
        behind.role is Role.ASSISTANT
        and _says_anything(behind)
        and before.role is not Role.ASSISTANT
        and _answers_all_calls(messages, place - 1)
    )


def _answers_all_calls(messages: Sequence[Outgoing], place: int) -> bool:
    """Whether the run of results that ends here answers every call of the message before it."""
    ids: set[str] = set()
    while place >= 0:
        message = messages[place]
        if message.role is Role.ASSISTANT:
            return bool(ids) and ids == set(message.call_ids)
        if not _is_results(message):
            return False
        ids.update(message.result_ids)
        place -= 1
    return False


def _is_text_only(message: Outgoing) -> bool:
    """Whether a message consists only of texts, none of them blank."""
    if isinstance(message, UnreadMessage):
        return not any(message.plain)  # no calls, no results, no reasoning
    parts = message.parts
    return bool(parts) and all(
        isinstance(part, Text) and not part.text.isspace() and part.text
        for part in parts
    )


def _says_anything(message: Outgoing) -> bool:
    """Whether any of an assistant's message is sent: a text that isn't blank, or a call."""
    return isinstance(message, UnreadMessage) or any(
        isinstance(part, ToolCall) or (isinstance(part, Text) and part.text.strip())
        for part in message.parts
    )


def _is_results(message: Outgoing) -> bool:
    """Whether a message that isn't an assistant's consists only of results."""
    if isinstance(message, UnreadMessage):
        return bool(message.result_ids)
    return all(isinstance(part, ToolResult) for part in message.parts)
