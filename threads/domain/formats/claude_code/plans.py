"""Which conversations a file of Claude Code's holds: its thread, branches and sub-agents."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from threads.domain.formats.io import fields
from threads.domain.formats.kit.lineage import MESSAGE, WORDS
from threads.domain.formats.kit.ways import Way

from . import record as claude_record
from .index import Index

MOST_SHARED = 500_000
"""Messages that the branches of a file repeat, all together."""


class Plan(NamedTuple):
    """Which conversation of a file: of which group, and by which ways it goes.

    `ways` lead from the thread to the conversation's own, the last; each but the last is left
    where the next one begins. `shared` is how many messages stand before the own ones.
    """

    group: int
    ways: tuple[int, ...] = (0,)
    told: frozenset[int] = frozenset()
    """The ways of the group that are conversations; what lies on others are events."""
    shared: int = 0
    branch: str = ""
    """The id of the first message of a branch, and of the branch that it left, if any."""
    left: str = ""
    words: str = ""


def plans(index: Index, most: int) -> Iterator[Plan]:
    """The conversations of a file: its thread and that one's branches, then its sub-agents."""
    shared = _branches(index, most)
    told = frozenset({0, *shared})
    yield Plan(0, told=told)
    for number in sorted(shared):
        yield _branch(index, number, told, shared[number])
    for group in range(1, len(index.notes)):
        if index.notes[group].message_count:
            yield Plan(group)


def message_ids(index: Index) -> list[str]:
    """The ids of the messages of a file's thread, each by its first line."""
    names = index.graph.names()
    flags, follows = index.graph.flags, index.ways.follows
    return [
        names[number]
        for number in index.ways.of(0)[0].order
        if number >= 0 and flags[number] & MESSAGE and not follows[number]
    ]


def _branches(index: Index, most: int) -> dict[int, int]:
    """The branches with most answers that left the thread or one another.

    With how many messages each shares with what it left: all together `MOST_SHARED`.
    """
    ways = index.ways.of(0)
    able = {0}
    for number, way in enumerate(ways):
        if way.parent in able and way.is_conversation:
            able.add(number)
    best = sorted(able - {0}, key=lambda number: (-ways[number].answers, number))
    chosen: dict[int, int] = {}
    for number in best[:most]:
        shared = _shared(index, _chain(ways, number))
        if sum(chosen.values()) + shared <= MOST_SHARED:
            chosen[number] = shared
    told: dict[int, int] = {}
    for number in sorted(chosen):
        if ways[number].parent in {0, *told}:
            told[number] = chosen[number]
    return told


def _chain(ways: list[Way], number: int) -> list[int]:
    """The ways from the thread to one of them."""
    chain = [number]
    while (parent := ways[chain[-1]].parent) is not None:
        chain.append(parent)
    return chain[::-1]


def _shared(index: Index, chain: list[int]) -> int:
    """How many messages stand before the last of these ways."""
    ways, flags, follows = index.ways.of(0), index.graph.flags, index.ways.follows
    shared = 0
    for way, following in pairwise(chain):
        for line in ways[way].order:
            if line == -1 - following:
                break
            if line in index.summaries:
                shared += not shared  # it is a message where nothing stands before it
            elif line >= 0 and flags[line] & MESSAGE:
                shared += not follows[line]
    return shared


def _branch(index: Index, number: int, told: frozenset[int], shared: int) -> Plan:
    ways = index.ways.of(0)
    left = ways[number].parent or 0
    return Plan(
        0,
        tuple(_chain(ways, number)),
        told,
        shared,
        _id_of(index, ways[number].first),
        _id_of(index, ways[left].first) if left else "",
        _words_of(index, ways[number]),
    )


def _id_of(index: Index, number: int) -> str:
    """The id of a line, or its place where it has none."""
    record = index.value(number)
    return fields.word(record, "uuid") or f"line-{index.line(number)}"


def _words_of(index: Index, way: Way) -> str:
    """The first words of a person on a way, as a title."""
    for number in way.order:
        if number >= 0 and index.graph.flags[number] & WORDS:
            record = index.value(number)
            return fields.one_line(claude_record.words(record["message"]))
    return ""
