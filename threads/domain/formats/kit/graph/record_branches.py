"""Conversations out of a tree of lines: the branch that was taken, and those that were left.

The thread is the branch to what was last spoken, or to a message that is given. Beside it belongs
what ran beside it: results of its calls, other blocks of its messages, and what followed these
without a person's words. Every other message off the branch was left by a rewind or a repeated
request, and begins a branch of its own; each line is on exactly one branch.
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
    """Lines of one conversation that no other has, in their order.

    In `order` stands -1-n where branch n was left off: what stands before it, both share.
    """

    first: int
    parent: int | None = None
    order: "array[int]" = field(default_factory=lambda: array("i"))
    answers: int = 0
    """Messages of the model."""
    words: int = 0
    """Messages of a person."""

    @property
    def is_conversation(self) -> bool:
        """Whether more happened on it than a question taken back or an answer asked for again."""
        return self.answers > 1 or (self.answers == 1 and self.words > 0)


class GraphBranches:
    """The branches of all groups of a graph."""

    def __init__(self, graph: RecordGraph, end: int = NOBODY) -> None:
        """`end` is the message that the thread ends with, where it isn't the last one."""
        self._graph, self._end = graph, end
        self._tree: RecordTree = graph.tree()
        self._ranks = self._ranked()
        self.following = array("i", [NOBODY]) * len(graph)
        """For each line the next one of the same message on its branch."""
        self.follows = bytearray(len(graph))
        """Whether the message of a line began before it."""
        self._found: dict[int, list[GraphBranch]] = {}

    def of(self, group: int) -> list[GraphBranch]:
        """The branches of a group; the first is its thread, each stands behind its parent."""
        if group in self._found:
            return self._found[group]
        branches = self._found[group] = [GraphBranch(self._tree.size + group)]
        for number, branch in enumerate(branches):  # it grows while it is read
            _BranchWalk(self, branches, number).run()
            self._link(branch)
        return branches

    def has_messages(self, number: int) -> bool:
        """Whether a line or one below it is a message."""
        return self._ranks[number] > 0

    def message_at(self, number: int) -> int:
        """A line if it is a message, else the last one before it; -1 where there is none."""
        while number < self._tree.size and not self._graph.flags[number] & MESSAGE:
            number = self._tree.parents[number]
        return number if number < self._tree.size else NOBODY

    def _ranked(self) -> "array[int]":
        """For each line how late something was spoken on it or below; 0 for never.

        What a call brought back counts less than anything that was spoken.
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
        """Every line, behind all that hang on it."""
        size = self._tree.size
        if is_ordered(self._tree.parents):
            return range(size - 1, -1, -1)
        roots = range(size, size + self._graph.group_count)
        below = (n for root in roots for n in self._tree.below(root) if n < size)
        return reversed(array("i", below))

    def _link(self, branch: GraphBranch) -> None:
        """Join the lines of each message on a branch."""
        last: dict[int, int] = {}
        turns, flags = self._graph.turns, self._graph.flags
        for number in branch.order:
            if number >= 0 and (turn := turns[number]) >= 0 and flags[number] & MESSAGE:
                if turn in last:
                    self.following[last[turn]] = number
                    self.follows[number] = True
                last[turn] = number


class _BranchWalk:
    """One branch while it is walked."""

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
        """Order the lines of the branch, and begin those that are left off it."""
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
        """From the first line (a root is none) to the last that was spoken."""
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
        """Take what hangs beside the step from a line to the following one."""
        children = [n for n in self._tree.children(number) if n != following]
        waiting = [(child, False) for child in reversed(children)]
        while waiting:
            child, runs_on = waiting.pop()
            if not self._joins(child, runs_on):  # it begins another branch
                self._branch.order.append(-1 - len(self._found))
                self._found.append(GraphBranch(child, self._number))
                continue
            self._take(child)
            runs_on = runs_on or bool(self._graph.flags[child] & MESSAGE)
            below = list(self._tree.children(child))
            waiting.extend((n, runs_on) for n in reversed(below))

    def _joins(self, number: int, runs_on: bool) -> bool:
        """Whether a line belongs to the branch that its parent belongs to.

        `runs_on` where a message beside the branch leads to it: the model went on from there.
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
