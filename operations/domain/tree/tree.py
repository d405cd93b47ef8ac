"""The tree of a thread while a log is replayed over it: a forest in arrays.

Nodes are numbers: 0 is the thread, i + 1 the original with index i, higher ones are inserted
messages and folds in the order in which they were made. The thread and folds are containers;
the nodes of a container are a chain of `previous` and `next`, in which 0 means none. `rank`
orders the nodes of one container, so that they can be sorted without walking it. What a
change costs grows with the nodes it names and passes, never with the size of the thread;
only when the ranks between two neighbours are used up is the thread ranked anew.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

THREAD = 0
_STEP = 1 << 40
_NEAR = 1 << 20


class ThreadTree:
    """Leaves and folds; every leaf stands in it exactly once."""

    def __init__(self, count: int) -> None:
        """A tree of `count` originals, without folds."""
        self.count = count
        self.parent = [THREAD] * (count + 1)
        self.previous = list(range(-1, count))
        self.next = [*range(1, count + 1), 0]
        self.rank = list(range(0, (count + 1) * _STEP, _STEP))
        self.first = {THREAD: 1 if count else 0}
        self.last = {THREAD: count}
        self.size: dict[int, int] = {}
        """How many leaves each fold holds."""
        self.originals: dict[int, int] = {}
        """How many originals each fold holds."""
        self._above: dict[int, int] = {}

    def is_original(self, node: int) -> bool:
        """Whether a node is an original message."""
        return node <= self.count

    def nodes(self, container: int) -> Iterator[int]:
        """The nodes of the thread or of a fold, in their order."""
        node = self.first[container]
        while node:
            yield node
            node = self.next[node]

    def leaves(self, node: int) -> Iterator[int]:
        """The leaves that a node holds, in their order; a leaf holds itself."""
        waiting = [node]
        while waiting:
            node = waiting.pop()
            if node in self.size or node == THREAD:
                waiting.extend(reversed(list(self.nodes(node))))
            else:
                yield node

    def outermost(self, node: int) -> int:
        """The node of the thread that holds a node, or is it.

        Folds only ever wrap nodes, so what was once above a node stays above it and paths
        can be shortened: a union-find.
        """
        passed = []
        while self.parent[node]:
            passed.append(node)
            node = self._above.get(node) or self.parent[node]
        for below in passed:
            self._above[below] = node
        return node

    def summits(self, leaves: Iterable[int]) -> list[int]:
        """The largest nodes whose leaves all are among these distinct leaves."""
        parent, size = self.parent, self.size
        full = list(leaves)
        if not any(map(parent.__getitem__, full)):
            return full
        covered: dict[int, int] = {}
        for node in full:  # grows while it is walked
            container = parent[node]
            if container:
                covered[container] = covered.get(container, 0) + size.get(node, 1)
                if covered[container] == size[container]:
                    full.append(container)
        return [
            node
            for node in full
            if not parent[node] or covered[parent[node]] < size[parent[node]]
        ]

    def wrap(self, nodes: list[int]) -> int:
        """Put nodes of one container into a new fold, where the first of them stood."""
        nodes.sort(key=self.rank.__getitem__)
        first, last = nodes[0], nodes[-1]
        container, before = self.parent[first], self.previous[first]
        fold = self._add(self.rank[first])
        self._gather(nodes)
        self._detach(first, last)
        self._link(fold, behind=before, container=container)
        size = originals = len(nodes)
        for node in nodes:
            self.parent[node] = fold
            if node > self.count:
                size += self.size.get(node, 1) - 1
                originals += self.originals.get(node, 0) - 1
        self.first[fold], self.last[fold] = first, last
        self.size[fold], self.originals[fold] = size, originals
        return fold

    def _gather(self, nodes: Sequence[int]) -> None:
        """Close the gaps in the chain between nodes that are in its order."""
        following = self.next
        behind = nodes[0]
        for node in nodes[1:]:
            if following[behind] != node:
                self._detach(node, node)
                self._link(node, behind=behind, container=self.parent[node])
            behind = node

    def insert(self, count: int, *, behind: int) -> range:
        """New leaves in the thread behind one of its nodes; behind 0: at its top."""
        if self._gap(behind) <= count:
            for place, node in enumerate(self.nodes(THREAD)):
                self.rank[node] = place * _STEP
        step = max(1, min(self._gap(behind) // (count + 1), _NEAR))
        first = self.first[THREAD]
        top = self.rank[first] if first else _STEP
        rank = self.rank[behind] if behind else top - _STEP
        made = range(len(self.parent), len(self.parent) + count)
        for _ in range(count):
            rank += step
            leaf = self._add(rank)
            self._link(leaf, behind=behind, container=THREAD)
            behind = leaf
        return made

    def meeting(self, leaves: Sequence[int]) -> tuple[int, list[int]]:
        """The lowest container that holds all leaves, and for each the node of it that does."""
        parent = self.parent
        container = parent[leaves[0]]
        if {parent[leaf] for leaf in leaves} == {container}:
            return container, list(leaves)
        container = self._lowest_common(leaves)
        child: dict[int, int] = {}
        for leaf in leaves:
            passed, node = [], leaf
            while node not in child and parent[node] != container:
                passed.append(node)
                node = parent[node]
            found = child.setdefault(node, node)
            child.update((below, found) for below in passed)
        return container, [child[leaf] for leaf in leaves]

    def permute(self, before: Sequence[int], nodes: Sequence[int]) -> None:
        """Let nodes of one container, which stand as in `before`, stand in another order."""
        container = self.parent[nodes[0]]
        ranks = [self.rank[node] for node in before]
        behind = []
        for node in before:
            behind.append(self.previous[node])
            self._detach(node, node)
        for place, node in enumerate(nodes):
            # All are out of the chain now, so places without a gap have one node before them.
            joined = place > 0 and behind[place] == behind[place - 1]
            self.rank[node] = ranks[place]
            self._link(
                node,
                behind=nodes[place - 1] if joined else behind[place],
                container=container,
            )

    def _lowest_common(self, leaves: Sequence[int]) -> int:
        path: list[int] = []
        node = leaves[0]
        while node != THREAD:
            node = self.parent[node]
            path.append(node)
        height = {node: place for place, node in enumerate(path)}
        highest = 0
        for leaf in leaves:
            passed, node = [], self.parent[leaf]
            while node not in height:
                passed.append(node)
                node = self.parent[node]
            height.update((below, height[node]) for below in passed)
            highest = max(highest, height[node])
        return path[highest]

    def _add(self, rank: int) -> int:
        self.parent.append(THREAD)
        self.previous.append(0)
        self.next.append(0)
        self.rank.append(rank)
        return len(self.parent) - 1

    def _link(self, node: int, *, behind: int, container: int) -> None:
        follower = self.next[behind] if behind else self.first[container]
        self.parent[node] = container
        self.previous[node], self.next[node] = behind, follower
        if behind:
            self.next[behind] = node
        else:
            self.first[container] = node
        if follower:
            self.previous[follower] = node
        else:
            self.last[container] = node

    def _detach(self, first: int, last: int) -> None:
        """Take a stretch of the chain out of it: from one node to another, or one alone."""
        before, follower = self.previous[first], self.next[last]
        container = self.parent[first]
        if before:
            self.next[before] = follower
        else:
            self.first[container] = follower
        if follower:
            self.previous[follower] = before
        else:
            self.last[container] = before
        self.previous[first] = self.next[last] = 0

    def _gap(self, behind: int) -> int:
        follower = self.next[behind] if behind else 0
        if not follower:
            return _STEP
        return self.rank[follower] - self.rank[behind]


def longest_ascent(values: Sequence[int]) -> list[int]:
    """Places of a longest strictly ascending subsequence of distinct values, in order.

    Patience sorting: O(n log n).
    """
    tails: list[int] = []
    tail_places: list[int] = []
    before: list[int] = []
    for place, value in enumerate(values):
        pile = bisect_left(tails, value)
        before.append(tail_places[pile - 1] if pile else -1)
        if pile == len(tails):
            tails.append(value)
            tail_places.append(place)
        else:
            tails[pile] = value
            tail_places[pile] = place
    ascent: list[int] = []
    place = tail_places[-1] if tail_places else -1
    while place >= 0:
        ascent.append(place)
        place = before[place]
    return ascent[::-1]
