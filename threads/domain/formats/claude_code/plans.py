"""Which conversations a file of Claude Code's holds: its thread, branches and sub-agents."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from threads.domain.formats.io import fields
from threads.domain.formats.kit.graph_branches import GraphBranch
from threads.domain.formats.kit.record_graph import MESSAGE, WORDS

from . import record as claude_record
from .index import SessionIndex

MOST_SHARED = 500_000
"""Messages that the branches of a file repeat, all together."""


class ConversationPlan(NamedTuple):
    """Which conversation of a file: of which group, and by which branches it goes.

    `path` leads from the thread to the conversation's own, the last; each but the last is left
    where the next one begins. `shared` is how many messages stand before the own ones.
    """

    group: int
    path: tuple[int, ...] = (0,)
    told: frozenset[int] = frozenset()
    """The branches of the group that are conversations; what lies on others are events."""
    shared: int = 0
    branch: str = ""
    """The id of the first message of a branch, and of the branch that it left, if any."""
    left: str = ""
    words: str = ""


def plans(index: SessionIndex, most: int) -> Iterator[ConversationPlan]:
    """The conversations of a file: its thread and that one's branches, then its sub-agents."""
    shared = _branches(index, most)
    told = frozenset({0, *shared})
    yield ConversationPlan(0, told=told)
    for number in sorted(shared):
        yield _branch(index, number, told, shared[number])
    for group in range(1, len(index.notes)):
        if index.notes[group].message_count:
            yield ConversationPlan(group)


def message_ids(index: SessionIndex) -> list[str]:
    """The ids of the messages of a file's thread, each by its first line."""
    names = index.graph.names()
    flags, follows = index.graph.flags, index.branches.follows
    return [
        names[number]
        for number in index.branches.of(0)[0].order
        if number >= 0 and flags[number] & MESSAGE and not follows[number]
    ]


def _branches(index: SessionIndex, most: int) -> dict[int, int]:
    """The branches with most answers that left the thread or one another.

    With how many messages each shares with what it left: all together `MOST_SHARED`.
    """
    branches = index.branches.of(0)
    able = {0}
    for number, branch in enumerate(branches):
        if branch.parent in able and branch.is_conversation:
            able.add(number)
    best = sorted(able - {0}, key=lambda number: (-branches[number].answers, number))
    chosen: dict[int, int] = {}
    for number in best[:most]:
        shared = _shared(index, _chain(branches, number))
        if sum(chosen.values()) + shared <= MOST_SHARED:
            chosen[number] = shared
    told: dict[int, int] = {}
    for number in sorted(chosen):
        if branches[number].parent in {0, *told}:
            told[number] = chosen[number]
    return told


def _chain(branches: list[GraphBranch], number: int) -> list[int]:
    """The branches from the thread to one of them."""
    chain = [number]
    while (parent := branches[chain[-1]].parent) is not None:
        chain.append(parent)
    return chain[::-1]


def _shared(index: SessionIndex, chain: list[int]) -> int:
    """How many messages stand before the last of these branches."""
    branches, flags, follows = (
        index.branches.of(0),
        index.graph.flags,
        index.branches.follows,
    )
    shared = 0
    for branch, following in pairwise(chain):
        for line in branches[branch].order:
            if line == -1 - following:
                break
            if line in index.summaries:
                shared += not shared  # it is a message where nothing stands before it
            elif line >= 0 and flags[line] & MESSAGE:
                shared += not follows[line]
    return shared


def _branch(
    index: SessionIndex, number: int, told: frozenset[int], shared: int
) -> ConversationPlan:
    branches = index.branches.of(0)
    left = branches[number].parent or 0
    return ConversationPlan(
        0,
        tuple(_chain(branches, number)),
        told,
        shared,
        _id_of(index, branches[number].first),
        _id_of(index, branches[left].first) if left else "",
        _words_of(index, branches[number]),
    )


def _id_of(index: SessionIndex, number: int) -> str:
    """The id of a line, or its place where it has none."""
    record = index.value(number)
    return fields.word(record, "uuid") or f"line-{index.line(number)}"


def _words_of(index: SessionIndex, branch: GraphBranch) -> str:
    """The first words of a person on a branch, as a title."""
    for number in branch.order:
        if number >= 0 and index.graph.flags[number] & WORDS:
            record = index.value(number)
            return fields.one_line(claude_record.words(record["message"]))
    return ""
