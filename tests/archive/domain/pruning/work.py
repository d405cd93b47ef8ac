"""Messages of an agent's work, for the pruner."""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from archive.domain.pruning.classes import Protected, Prunable
from archive.domain.pruning.fitting import fit_plan
from archive.domain.pruning.harm import NamesLeft
from archive.domain.pruning.needs import plan
from archive.domain.pruning.plan import PrunePlan
from archive.domain.pruning.reading import ThreadReading
from operations.domain.context.policy import Pruning
from operations.domain.tree.key import Key
from threads.domain.message import Role
from threads.domain.part import Part, Text, ToolCall, ToolResult
from threads.domain.text import whole_text


def count(parts: Sequence[Part]) -> int:
    """Count each word as a token, including arguments."""
    words = whole_text(tuple(parts)).split()
    return len(words) + sum(isinstance(part, ToolCall) for part in parts)


def message(role: Role, *parts: Part, **fields: Any) -> Prunable:
    return Prunable("", "", role, parts, count(parts), **fields)


def user(text: str, **fields: Any) -> Prunable:
    return message(Role.USER, Text(text), **fields)


def said(text: str) -> Prunable:
    return message(Role.ASSISTANT, Text(text))


def call(id_: str, name: str, words: str = "", **arguments: Any) -> Prunable:
    parts: tuple[Part, ...] = (Text(words),) if words else ()
    return message(Role.ASSISTANT, *parts, ToolCall(id_, name, arguments))


def result(id_: str, text: str, *, failed: bool = False, **fields: Any) -> Prunable:
    part = ToolResult(id_, (Text(text),), None, failed)
    return message(Role.TOOL, part, **fields)


def thread(*messages: Prunable) -> list[Prunable]:
    """The messages with keys and names by position."""
    return [
        one._replace(key=f"m{place}", name=f"msg-{place:08x}")
        for place, one in enumerate(messages)
    ]


def planned(
    *messages: Prunable, protected: Protected | None = None, **rules: Any
) -> PrunePlan:
    """The plan for messages; by default no last messages are kept."""
    chosen = Pruning(**{"keep_last_n": 0, "condense_after_n": 0, **rules})
    return plan(thread(*messages), chosen, count, protected)


def fit(
    plan: PrunePlan,
    messages: Sequence[Prunable],
    target: int,
    relevance: Mapping[Key, float] = MappingProxyType({}),
) -> PrunePlan:
    """Fit a plan for messages to a number of tokens."""
    return fit_plan(
        plan, target, NamesLeft(ThreadReading(thread(*messages)), plan), relevance
    )


def classes(plan: PrunePlan) -> list[str]:
    return [item.prune_class.value for item in plan.items]


def lines(plan: PrunePlan) -> list[str]:
    """The text of each condensed message."""
    return [
        json.dumps(part.arguments, ensure_ascii=False)
        if isinstance(part, ToolCall)
        else whole_text((part,))
        for edit in plan.edits
        for new in getattr(edit, "messages", ())
        for part in new.parts
    ]


LONG = "word " * 60
