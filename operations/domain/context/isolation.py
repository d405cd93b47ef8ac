"""Isolation by parsing strategy: text crosses, calls and results don't.

Compile translates calls between strategies, so that this is a switch, off by default.
"""

from collections.abc import Sequence

from operations.domain.providers.outgoing import Outgoing
from threads.domain.part import Part, Thinking, ToolCall, ToolResult

from .step import Count, Omission, Step, leaving_out

NAME = "isolation"
_FAMILIES = {"gemini_gca": "gemini"}


def family(strategy: str) -> str:
    """What strategies that read one another's calls have in common."""
    return _FAMILIES.get(strategy, strategy)


def isolate(
    messages: Sequence[Outgoing], strategy: str, count: Count
) -> tuple[list[Outgoing], Step]:
    """The messages without the calls and results of other strategies than this one."""
    kept: list[Outgoing] = []
    left_out: list[Omission] = []
    for message in messages:
        parts = message.parts
        if family(message.strategy) != family(strategy):
            parts = _text_of(parts)
        if len(parts) == len(message.parts):
            kept.append(message)
            continue
        tokens = count(parts) if parts else 0
        why = f"Calls and results of {message.strategy} are not sent as {strategy}."
        left_out.append(Omission(message.key, message.tokens - tokens, why))
        if parts:
            kept.append(message._replace(parts=parts, tokens=tokens, changed=True))
    return kept, leaving_out(NAME, messages, left_out)


def _text_of(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts without calls and results; none where nothing but reasoning is left."""
    rest = tuple(part for part in parts if not isinstance(part, ToolCall | ToolResult))
    if len(rest) < len(parts) and all(isinstance(part, Thinking) for part in rest):
        return ()
    return rest
