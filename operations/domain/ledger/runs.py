"""How two lists of messages differ, as runs of what both have and of what one has alone."""

from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher
from enum import StrEnum
from typing import NamedTuple

_MOST_PAIRS = 4_000_000
"""Pairs of messages beyond which the middle is taken as all new: it is looked at by pairs."""


class Side(StrEnum):
    """Which of the lists have a run."""

    BOTH = "both"
    BEFORE = "before"
    AFTER = "after"


class Run(NamedTuple):
    """Elements `start` to `end`, half-open, of the list after; of the one before where only it
    has them."""

    side: Side
    start: int
    end: int


def runs(before: Sequence[Hashable], after: Sequence[Hashable]) -> list[Run]:
    """The runs that lead from one list to the other, in the order of the list after."""
    most = min(len(before), len(after))
    head = next((n for n in range(most) if before[n] != after[n]), most)
    tail = next(
        (n for n in range(most - head) if before[-1 - n] != after[-1 - n]), most - head
    )
    middle = before[head : len(before) - tail], after[head : len(after) - tail]
    found = [
        Run(Side.BOTH, 0, head),
        *_middle(*middle, head),
        Run(Side.BOTH, len(after) - tail, len(after)),
    ]
    return [run for run in found if run.start < run.end]


def _middle(
    before: Sequence[Hashable], after: Sequence[Hashable], at: int
) -> list[Run]:
    found: list[Run] = []
    steps: Sequence[tuple[str, int, int, int, int]]
    if len(before) * len(after) > _MOST_PAIRS:
        steps = [("replace", 0, len(before), 0, len(after))]
    else:
        steps = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    for tag, first, last, start, end in steps:
        if tag == "equal":
            found.append(Run(Side.BOTH, at + start, at + end))
            continue
        found.append(Run(Side.BEFORE, at + first, at + last))
        found.append(Run(Side.AFTER, at + start, at + end))
    return found
