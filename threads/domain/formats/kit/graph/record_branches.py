"""Conversations from a tree of lines: the branch that was taken, and those that were abandoned.

The thread is the branch to the last spoken line, or to a given message. Lines that ran beside it
belong to it: results of its calls, other blocks of its messages, and lines that follow these
without a person's words. Every other message off the branch was abandoned by a rewind or a
repeated request, and starts a branch of its own. Each line is on exactly one branch.
"""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import zip_longest

from .record_graph import (
    ANSWER,
    CARRIED,
    LEADS,
    LOOSE,
    MESSAGE,
    NOBODY,
    WORDS,
    RecordGraph,
    RecordTree,
    is_ordered,
)


@dataclass(slots=True)
class GraphBranch:
    """The lines of one conversation that are in no other, in order.

    In `order`, -1-n marks where branch n leaves: both share the lines before it.
    """

    first: int
    parent: int | None = None
    order: "array[int]" = field(default_factory=lambda: array("i"))
    answers: int = 0
    """The number of messages by the model."""
    words: int = 0
    """The number of messages by a person."""

    @property
    def is_conversation(self) -> bool:
        """Whether it is more than a withdrawn question or an answer that was requested again."""
        return self.answers > 1 or (self.answers == 1 and self.words > 0)


class GraphBranches:
    """The branches of all groups of a graph."""

    def __init__(self, graph: RecordGraph, end: int = NOBODY) -> None:
        """`end` is the last message of the thread, if it isn't the last one spoken."""
        self._graph, self._end = graph, end
        self._tree: RecordTree = graph.tree()
        self._ranks = self._ranked()
        self.following = array("i", [NOBODY]) * len(graph)
        """For each line, the next line of the same message on its branch."""
        self.follows = bytearray(len(graph))
        """For each line, whether its message began on an earlier line."""
        self._found: dict[int, list[GraphBranch]] = {}

    def of(self, group: int) -> list[GraphBranch]:
        """The branches of a group; the first is its thread, and each comes after its parent."""
        if group in self._found:
            return self._found[group]
        branches = self._found[group] = [GraphBranch(self._tree.size + group)]
        for number, branch in enumerate(branches):  # the list grows during the loop
            _BranchWalk(self, branches, number).run()
            self._link(branch)
        return branches

    def has_messages(self, number: int) -> bool:
        """Whether a line, or one below it, is a message."""
        return self._ranks[number] > 0

    def message_at(self, number: int) -> int:
        """The line if it is a message, else its nearest ancestor that is one; -1 if none."""
        while number < self._tree.size and not self._graph.flags[number] & MESSAGE:
            number = self._tree.parents[number]
        return number if number < self._tree.size else NOBODY

    def _ranked(self) -> "array[int]":
        """For each line, how late something was spoken on it or below; 0 for never.

        The result of a call ranks below anything spoken.
        """
        size, flags = self._tree.size, self._graph.flags
        ranks = array("i", bytes(4 * (size + self._graph.group_count)))
        for number, flag in enumerate(flags):
            if flag & MESSAGE and not flag & LOOSE:
                ranks[number] = number + 1 + (0 if flag & CARRIED else size)
        if self._end != NOBODY:
            ranks[self._end] = 2 * size + 1
        parents = self._tree.parents
        for number in self._children_first():
            if ranks[number] > ranks[parents[number]]:
                ranks[parents[number]] = ranks[number]
        return ranks

    def _children_first(self) -> Iterable[int]:
        """All lines, each after all its descendants."""
        size = self._tree.size
        if is_ordered(self._tree.parents):
            return range(size - 1, -1, -1)
        roots = range(size, size + self._graph.group_count)
        below = (n for root in roots for n in self._tree.below(root) if n < size)
        return reversed(array("i", below))

    def _link(self, branch: GraphBranch) -> None:
        """Link the lines of each message on a branch."""
        last: dict[int, int] = {}
        turns, flags = self._graph.turns, self._graph.flags
        for number in branch.order:
            if number >= 0 and (turn := turns[number]) >= 0 and flags[number] & MESSAGE:
                if turn in last:
                    self.following[last[turn]] = number
                    self.follows[number] = True
                last[turn] = number


class _BranchWalk:
    """The walk along one branch."""

    def __init__(
        self, branches: GraphBranches, found: list[GraphBranch], number: int
    ) -> None:
        self._tree, self._ranks = branches._tree, branches._ranks
        self._graph = branches._graph
        self._end = branches._end
        self._found, self._number, self._branch = found, number, found[number]
        self._path = self._find_path()
        self._turns = {self._graph.turns[n] for n in self._path} - {NOBODY}
        self._answered = {self._graph.answers[n] for n in self._path} - {NOBODY}
        self._heard: set[int] = set()

    def run(self) -> None:
        """Put the lines of the branch in order, and start the branches that leave it."""
        only_child, take = self._tree.only_child, self._take
        if self._branch.first >= self._tree.size:
            self._beside(self._branch.first, self._path[0] if self._path else NOBODY)
        for number, following in zip_longest(
            self._path, self._path[1:], fillvalue=NOBODY
        ):
            take(number)
            if following == NOBODY or only_child(number) == NOBODY:
                self._beside(number, following)

    def _find_path(self) -> "array[int]":
        """The path from the first line (not counting a root) to the last one spoken."""
        path = array("i")
        only_child, size = self._tree.only_child, self._tree.size
        number = self._branch.first
        while True:
            if number < size:
                path.append(number)
            if number == self._end:
                return path
            child = only_child(number)
            if child == NOBODY:
                children = self._tree.children(number)
                child = max(children, key=self._ranks.__getitem__, default=NOBODY)
            if child == NOBODY or not self._ranks[child]:
                return path
            number = child

    def _beside(self, number: int, following: int) -> None:
        """Take the lines beside the step from a line to the following one."""
        children = [n for n in self._tree.children(number) if n != following]
        waiting = [(child, False) for child in reversed(children)]
        while waiting:
            child, runs_on = waiting.pop()
            if not self._joins(child, runs_on):  # it starts another branch
                self._branch.order.append(-1 - len(self._found))
                self._found.append(GraphBranch(child, self._number))
                continue
            self._take(child)
            runs_on = runs_on or bool(self._graph.flags[child] & MESSAGE)
            below = list(self._tree.children(child))
            waiting.extend((n, runs_on) for n in reversed(below))

    def _joins(self, number: int, runs_on: bool) -> bool:
        """Whether a line belongs to the same branch as its parent.

        With `runs_on`, it descends from a message beside the branch: the model continued there.
        """
        flags = self._graph.flags[number]
        if not flags & MESSAGE:
            return not (flags & LEADS and self._ranks[number])
        if not flags & CARRIED:
            turn = self._graph.turns[number]
            return turn in self._turns or (runs_on and not flags & WORDS)
        answer = self._graph.answers[number]
        is_first = answer == NOBODY or answer not in self._answered
        self._answered.add(answer)
        return is_first

    def _take(self, number: int) -> None:
        branch, flags = self._branch, self._graph.flags[number]
        branch.order.append(number)
        if flags & WORDS:
            branch.words += 1
        if flags & ANSWER:
            turn = self._graph.turns[number]
            branch.answers += turn == NOBODY or turn not in self._heard
            self._heard.add(turn)
            self._turns.add(turn)
