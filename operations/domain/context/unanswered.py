"""Calls that are sent without their results, and what left the results out.

A provider wants a result for each call, so that a short one says how to recall the true one.
"""

from collections.abc import Iterable, Mapping, Sequence

from operations.domain.providers.outgoing import Outgoing
from operations.domain.providers.request import LeftOut
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, original_key
from threads.domain.part import Part, ToolCall, ToolResult

from .step import Step

NEAR = 16
"""How many originals behind that of a call may hold its result."""


def unanswered(messages: Iterable[Outgoing]) -> dict[str, int]:
    """The ids of calls whose results are not among the messages, with the calls' originals."""
    calls: dict[str, int] = {}
    answered: set[str] = set()
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolCall) and message.index is not None:
                calls[part.id] = message.index
            elif isinstance(part, ToolResult):
                answered.add(part.call_id)
    return {id_: index for id_, index in calls.items() if id_ not in answered}


def keys_near(thread: Thread, calls: Mapping[str, int]) -> list[Key]:
    """The originals in which the results of calls may be, in the thread's order of indexes."""
    end = len(thread.leaves)
    near = {
        place
        for index in calls.values()
        for place in range(index + 1, min(index + 1 + NEAR, end))
    }
    return [original_key(place) for place in sorted(near)]


def left_out_results(
    thread: Thread,
    steps: Sequence[Step],
    calls: Mapping[str, int],
    words: Mapping[Key, Sequence[Part]],
) -> dict[str, LeftOut]:
    """By call, the message that holds its result and what left it out (`Draft.left_out`).

    `words` are those of `keys_near`; a call whose result is in none of them is not named.
    """
    found: dict[str, LeftOut] = {}
    for key, parts in words.items():
        for part in parts:
            if isinstance(part, ToolResult) and part.call_id in calls:
                by = _left_out_by(thread, steps, key)
                if by is not None:
                    found.setdefault(part.call_id, LeftOut(key, by))
    return found


def _left_out_by(thread: Thread, steps: Sequence[Step], key: Key) -> str | None:
    """The outermost fold that holds an original, else the step that left it out."""
    around = thread.path(key)
    if around:
        return around[0]
    for step in steps:
        if any(omission.key == key for omission in step.left_out):
            return step.name
    return None
