"""Finds tool calls that a selection of messages separates from their results.

A result follows its call closely, so only originals near the ends of each selected run are read:
a selection of thousands costs as much as its ends.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key, original_index, original_key
from threads.domain.part import ToolCall, ToolResult
from threads.models import Session
from threads.store.originals import load_messages_at

NEAR = 24
"""How many originals on either side of an end are read."""
MAX_RUNS = 50


class SeparatedPairs(NamedTuple):
    """How many pairs a selection separates, and the originals missing from it."""

    pairs: int
    keys: tuple[Key, ...]

    @property
    def sentence(self) -> str:
        """`Separates 2 tool calls from their results`; empty if there are none."""
        if not self.pairs:
            return ""
        if self.pairs == 1:
            return "Separates a tool call from its result"
        return f"Separates {self.pairs:,} tool calls from their results"


def separated_pairs(
    session: Session, thread: Thread, leaves: Iterable[Key]
) -> SeparatedPairs:
    """The pairs that a selection of leaves separates.

    A missing half inside a fold counts only if the selected half is in the same fold.
    """
    chosen = {i for key in leaves if (i := original_index(key)) is not None}
    pairs, missing = 0, set[int]()
    for call, result in _pairs(session, _near_ends(chosen, thread.message_count)):
        if (call in chosen) == (result in chosen):
            continue
        other, own = (result, call) if call in chosen else (call, result)
        folds = thread.path(original_key(other))
        if not folds or folds == thread.path(original_key(own)):
            pairs += 1
            missing.add(other)
    return SeparatedPairs(pairs, tuple(map(original_key, sorted(missing))))


def _near_ends(chosen: set[int], count: int) -> set[int]:
    """The indexes near the ends of the selected runs."""
    near: set[int] = set()
    runs = groupby(enumerate(sorted(chosen)), key=lambda item: item[1] - item[0])
    for place, (_, run) in enumerate(runs):
        if place == MAX_RUNS:
            break
        indexes = [index for _, index in run]
        for end in (indexes[0], indexes[-1]):
            near.update(range(max(0, end - NEAR), min(count, end + NEAR + 1)))
    return near


def _pairs(session: Session, indexes: set[int]) -> Iterator[tuple[int, int]]:
    """Yield the indexes of call and result; a result belongs to the nearest call with its id."""
    calls: dict[str, int] = {}
    for index, original in sorted(load_messages_at(session, indexes).items()):
        for part in original.parts:
            if isinstance(part, ToolCall):
                calls[part.id] = index
            elif isinstance(part, ToolResult) and part.call_id in calls:
                yield calls[part.call_id], index
