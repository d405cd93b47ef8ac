"""Lines that name their parents: a graph on disk, repaired where it is broken.

Agents append lines to one file while several things happen at once: parallel calls, progress,
hooks, sub-agents. People also rewind and try again. Then neither the clock nor the order in the
file is right, but the graph of parents is, wherever it is intact. It is held as arrays of numbers,
so that a file of a gigabyte can be ordered. `record_branches` makes conversations from it.
"""

from array import array
from collections.abc import Iterator

MESSAGE = 1
"""The line is a message (or a block of one)."""
CARRIED = 2
"""The line answers a call: it belongs to the conversation once, whatever its parent."""
SPINE = 4
"""A line whose parent is missing may be attached to this one."""
LOOSE = 8
"""The line is outside the graph: it stays after the line before it."""
WORDS = 16
"""The message is by a person."""
ANSWER = 32
"""The message is by the model."""
LEADS = 64
"""The line belongs to its descendants: it starts their branch."""

NOBODY = -1


class RecordGraph:
    """Lines in the order of the file, each with its id, its parent's id and its flags.

    A line's parent is always in its own group (0 is the thread, others are sub-agents). The root
    of a group has a number after all lines: `len(graph) + group`.
    """

    def __init__(self) -> None:
        self._index: dict[str, int] = {}
        self._parents = array("i")
        self._late: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        """Map of the name of a turn or a call to a small number."""
        self.turns = array("i")
        self.answers = array("i")
        self.groups = array("i")
        self.flags = bytearray()
        self.group_count = 1
        self._beginnings = set[int]()

    def __len__(self) -> int:
        return len(self.flags)

    def __contains__(self, id_: str) -> bool:
        return id_ in self._index

    def find(self, id_: str) -> int:
        """The number of the line with this id; -1 if there is none."""
        return self._index.get(id_, NOBODY)

    def names(self) -> list[str]:
        """The id of each line; empty for lines without one."""
        found = [""] * len(self)
        for id_, number in self._index.items():
            found[number] = id_
        return found

    def add(
        self,
        id_: str = "",
        parent: str = "",
        flags: int = LOOSE,
        turn: str = "",
        answers: str = "",
        group: int = 0,
    ) -> None:
        """Append a line. Without an id it is loose.

        `turn` identifies the lines of one message; `answers` names the call of a result.
        """
        number = len(self.flags)
        self.flags.append(flags)
        numbers = self._numbers
        turns = numbers.setdefault(turn, len(numbers)) if turn else NOBODY
        answered = numbers.setdefault(answers, len(numbers)) if answers else NOBODY
        self.turns.append(turns)
        self.answers.append(answered)
        self.groups.append(group)
        if group >= self.group_count:
            self.group_count = group + 1
        found = self._index.get(parent, NOBODY) if parent else NOBODY
        self._parents.append(found)
        if parent and found == NOBODY:
            self._late[number] = parent
        if id_:
            self._index.setdefault(id_, number)

    def forget_names(self) -> None:
        """Free the names of turns and calls, once no more lines are added."""
        self._numbers.clear()

    def join_groups(self) -> None:
        """Move all lines to the thread, as the only group."""
        self.groups = array("i", bytes(4 * len(self)))
        self.group_count = 1

    def loosen(self, groups: set[int]) -> None:
        """Take the lines of these groups, except the thread, out of the graph."""
        if groups <= {0}:
            return
        for number, group in enumerate(self.groups):
            if group and group in groups:
                self.groups[number], self.flags[number] = 0, LOOSE

    def begin_at(self, number: int) -> None:
        """Restart the thread at this line: no later orphan is attached to a line before it."""
        self._beginnings.add(number)

    def root_of(self, number: int) -> int:
        """The topmost ancestor of a line; -1 if a parent on the way is missing."""
        for _ in range(len(self)):
            if (parent := self.parent(number)) == NOBODY:
                return NOBODY if number in self._late else number
            number = parent
        return NOBODY

    def parent(self, number: int) -> int:
        """The line that a line names as its parent; -1 if it isn't in the file."""
        if number in self._late:
            return self._index.get(self._late[number], NOBODY)
        return self._parents[number]

    def tree(self) -> "RecordTree":
        """The lines as a tree that has all lines and no cycle."""
        parents = array("i", self._parents)
        for number in self._late:
            parents[number] = self.parent(number)
        hung = []
        before: dict[int, int] = {}
        place = len(self)
        all_flags, groups = self.flags, self.groups
        for number, flags in enumerate(all_flags):
            if number in self._beginnings:
                before.pop(0, None)
            if flags & LOOSE:
                parents[number] = place
                continue
            group, parent = groups[number], parents[number]
            is_there = parent != NOBODY and parent != number
            if not is_there or all_flags[parent] & LOOSE or groups[parent] != group:
                parents[number] = before.get(group, len(self) + group)
                hung.append(number)
            if flags & SPINE:
                before[group] = number
            place = place if group else number
        self._cut_cycles(parents, hung)
        return RecordTree(parents, self.group_count)

    def _cut_cycles(self, parents: "array[int]", hung: list[int]) -> None:
        """Attach lines to the root that can't be reached from it, first the orphans in `hung`."""
        if is_ordered(parents):
            return
        tree = RecordTree(parents, self.group_count)
        reached = bytearray(len(self) + self.group_count)
        for group in range(self.group_count):
            tree.reach(len(self) + group, reached)
        for number in (*hung, *range(len(self))):
            if not reached[number] and not self.flags[number] & LOOSE:
                parents[number] = len(self) + self.groups[number]
                tree.reach(number, reached)


def is_ordered(parents: "array[int]") -> bool:
    """Whether every line comes after its parent, or has a root as parent: then no cycle exists."""
    size = len(parents)
    return all(parent < n or parent >= size for n, parent in enumerate(parents))


class RecordTree:
    """Children by parent, in the order of the file; roots are numbered after the lines."""

    def __init__(self, parents: "array[int]", roots: int = 1) -> None:
        self.size = len(parents)
        self.parents = parents
        empty = array("i", [NOBODY])
        self._first = empty * (self.size + roots)
        self._next = empty * (self.size + roots)
        for number in range(self.size - 1, -1, -1):
            self._next[number] = self._first[parents[number]]
            self._first[parents[number]] = number

    def only_child(self, number: int) -> int:
        """The child of a line that has exactly one; -1 for other lines."""
        child = self._first[number]
        return child if child != NOBODY and self._next[child] == NOBODY else NOBODY

    def children(self, number: int) -> Iterator[int]:
        """The children of a line."""
        child = self._first[number]
        while child != NOBODY:
            yield child
            child = self._next[child]

    def below(self, number: int) -> Iterator[int]:
        """A line and all its descendants, parents first."""
        waiting = [number]
        while waiting:
            number = waiting.pop()
            yield number
            waiting.extend(self.children(number))

    def reach(self, number: int, reached: bytearray) -> None:
        """Mark a line and all its descendants, skipping those that are already marked."""
        waiting = [number]
        while waiting:
            number = waiting.pop()
            if not reached[number]:
                reached[number] = True
                waiting.extend(self.children(number))
