"""The tree of a thread while a log is replayed over it: a forest of numbered nodes.

0 is the thread, i + 1 the original with index i; inserted messages and folds are -1, -2, … in the
order in which they were made. The thread and folds are containers. The nodes of a container form
a linked list, in which 0 means none. Ranks order the nodes of one container, so that they can be
sorted without walking it. What a change costs grows with the nodes it names and passes, never
with the size of the thread; only when the ranks between two neighbours are used up is the whole
thread ranked again.

Only differences from a thread of untouched originals are stored, in maps that versions of a tree
share: a version costs what was changed in it, and further originals cost nothing.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat

from .persistent_map import PersistentMap, PlainMap, persistent_map

THREAD = 0
_STEP = 1 << 40
_NEAR = 1 << 20


_KEPT = (
    *("size", "originals", "_parent", "_previous", "_next", "_rank"),
    *("_first", "_last", "_above"),
)


class ThreadTree:
    """Leaves and folds; every leaf is in the tree exactly once."""

    __slots__ = (*_KEPT, *("count", "made", "_near"))

    def __init__(self, count: int = 0) -> None:
        """A closed tree of `count` originals, without folds."""
        self.count = count
        self.made = 0
        """How many nodes exist besides the originals."""
        self.size: PersistentMap[int, int] = persistent_map()
        """How many leaves each fold holds."""
        self.originals: PersistentMap[int, int] = persistent_map()
        """How many originals each fold holds."""
        self._parent: PersistentMap[int, int] = persistent_map()
        self._previous: PersistentMap[int, int] = persistent_map()
        self._next: PersistentMap[int, int] = persistent_map()
        self._rank: PersistentMap[int, int] = persistent_map()
        self._first: PersistentMap[int, int] = persistent_map(
            [(THREAD, 1 if count else 0)]
        )
        self._last: PersistentMap[int, int] = persistent_map([(THREAD, count)])
        self._above: PersistentMap[int, int] = persistent_map()
        self._near: dict[int, int] | PersistentMap[int, int] = {}

    def opened(self, count: int, *, plain: bool = False) -> "ThreadTree":
        """An open version, possibly with further originals; `plain` is faster for many changes."""
        tree = ThreadTree()
        tree.count, tree.made = self.count, self.made
        for name in _KEPT:
            known = getattr(self, name)
            setattr(tree, name, PlainMap(known) if plain else known.mutate())
        tree._near = tree._above
        if count > self.count:
            tree._grow(count)
        return tree

    def closed(self) -> "ThreadTree":
        """A closed version, after which this one can no longer be changed."""
        tree = ThreadTree()
        tree.count, tree.made = self.count, self.made
        for name in _KEPT:
            setattr(tree, name, getattr(self, name).finish())
        return tree

    def is_original(self, node: int) -> bool:
        """Whether a node is an original message."""
        return node > 0

    def parent_of(self, node: int) -> int:
        """The container of a node."""
        return self._parent.get(node, THREAD)

    def containers_of(self, nodes: Iterable[int]) -> set[int]:
        """The containers of nodes."""
        return set(map(self._parent.get, nodes, repeat(THREAD)))

    def next_of(self, node: int) -> int:
        """The next node in the container; 0 after the last."""
        following = self._next.get(node)
        if following is None:
            return node + 1 if 0 < node < self.count else 0
        return following

    def previous_of(self, node: int) -> int:
        """The previous node in the container; 0 before the first."""
        before = self._previous.get(node)
        if before is None:
            return node - 1 if node > 0 else 0
        return before

    def rank_of(self, node: int) -> int:
        """The rank that orders nodes within one container."""
        rank = self._rank.get(node)
        return node * _STEP if rank is None else rank

    def first_of(self, container: int) -> int:
        """The first node of a container; 0 if it is empty."""
        return self._first[container]

    def nodes(self, container: int) -> Iterator[int]:
        """The nodes of the thread or of a fold, in order."""
        node = self._first[container]
        known, count = self._next.get, self.count
        while node:
            yield node
            following = known(node)
            if following is None:
                following = node + 1 if 0 < node < count else 0
            node = following

    def leaves(self, node: int) -> Iterator[int]:
        """The leaves that a node holds, in order; a leaf holds itself."""
        size = self.size
        if node != THREAD and node not in size:
            yield node
            return
        walked = [self.nodes(node)]
        while walked:
            for inner in walked[-1]:
                if inner < 0 and inner in size:
                    walked.append(self.nodes(inner))
                    break
                yield inner
            else:
                walked.pop()

    def leaf_after(self, node: int) -> int:
        """The leaf that follows a node if every fold is open; 0 after the last."""
        while node and not (following := self.next_of(node)):
            node = self.parent_of(node)
        if not node:
            return 0
        while following in self.size:
            following = self._first[following]
        return following

    def sort_key(self, node: int) -> tuple[int, ...]:
        """A sort key for leaves of the whole thread: ranks of their containers, then their own."""
        ranks = []
        while node:
            ranks.append(self.rank_of(node))
            node = self.parent_of(node)
        return tuple(reversed(ranks))

    def outermost(self, node: int) -> int:
        """The node at the top of the thread that holds a node, or the node itself.

        Folds only ever wrap nodes, so an ancestor of a node stays its ancestor and paths can be
        shortened: a union-find.
        """
        passed = []
        near, above, parent = self._near, self._above, self._parent
        while container := parent.get(node):
            passed.append(node)
            node = near.get(node) or above.get(node) or container
        for below in passed:
            near[below] = node
        return node

    def maximal_nodes(self, leaves: Iterable[int]) -> list[int]:
        """The largest nodes whose leaves are all among these distinct leaves."""
        parent, size = self._parent.get, self.size
        full = list(leaves)
        if not any(map(parent, full)):
            return full
        covered: dict[int, int] = {}
        for node in full:  # grows while it is iterated
            if container := parent(node):
                covered[container] = covered.get(container, 0) + size.get(node, 1)
                if covered[container] == size[container]:
                    full.append(container)
        return [
            node
            for node in full
            if not (container := parent(node)) or covered[container] < size[container]
        ]

    def wrap(self, nodes: list[int]) -> int:
        """Put nodes of one container into a new fold, in the place of the first of them."""
        size = originals = len(nodes)
        if not self._are_consecutive(nodes):
            nodes.sort(key=self.rank_of)
            self._gather(nodes)
            for node in nodes:
                if node < 0:
                    size += self.size.get(node, 1) - 1
                    originals += self.originals.get(node, 0) - 1
        first, last = nodes[0], nodes[-1]
        fold, container = self._add(self.rank_of(first)), self.parent_of(first)
        self._link_between(fold, self.previous_of(first), self.next_of(last), container)
        if container:
            self._parent[fold] = container
        self._parent.update(dict.fromkeys(nodes, fold))
        self._previous[first] = self._next[last] = 0
        self._first[fold], self._last[fold] = first, last
        self.size[fold], self.originals[fold] = size, originals
        return fold

    def _are_consecutive(self, nodes: Sequence[int]) -> bool:
        """Whether nodes are consecutive originals that are still in their original order."""
        first = nodes[0]
        return (
            first > 0
            and nodes == [*range(first, first + len(nodes))]
            and not any(map(self._next.__contains__, nodes[:-1]))
        )

    def _gather(self, nodes: Sequence[int]) -> None:
        """Close the gaps in the linked list between nodes, which are in its order."""
        after = nodes[0]
        for node in nodes[1:]:
            if self.next_of(after) != node:
                self._detach(node)
                self._link(node, after=after, container=self.parent_of(node))
            after = node

    def insert(self, count: int, *, after: int) -> range:
        """Insert new leaves after a node at the top of the thread; with `after` 0, before all."""
        if self._gap(after) <= count:
            for place, node in enumerate(self.nodes(THREAD)):
                self._rank[node] = place * _STEP
        step = max(1, min(self._gap(after) // (count + 1), _NEAR))
        first = self._first[THREAD]
        top = self.rank_of(first) if first else _STEP
        rank = self.rank_of(after) if after else top - _STEP
        made = range(-self.made - 1, -self.made - 1 - count, -1)
        for _ in range(count):
            rank += step
            leaf = self._add(rank)
            self._link(leaf, after=after, container=THREAD)
            after = leaf
        return made

    def common_container(self, leaves: Sequence[int]) -> tuple[int, list[int]]:
        """The lowest container that holds all leaves, and for each leaf its node in there."""
        containers = self.containers_of(leaves)
        if len(containers) == 1:
            return containers.pop(), list(leaves)
        container, parent = self._lowest_common(leaves), self.parent_of
        child: dict[int, int] = {}
        for leaf in leaves:
            passed, node = [], leaf
            while node not in child and parent(node) != container:
                passed.append(node)
                node = parent(node)
            found = child.setdefault(node, node)
            child.update((below, found) for below in passed)
        return container, [child[leaf] for leaf in leaves]

    def permute(self, before: Sequence[int], nodes: Sequence[int]) -> None:
        """Rearrange nodes of one container from the order `before` to the order `nodes`."""
        container = self.parent_of(nodes[0])
        instead = dict(zip(before, nodes, strict=True))
        places = [
            (self.rank_of(n), self.previous_of(n), self.next_of(n)) for n in before
        ]
        for node, (rank, after, follower) in zip(nodes, places, strict=True):
            after = instead.get(after, after)
            follower = instead.get(follower, follower)
            self._rank[node] = rank
            self._link_between(node, after, follower, container)

    def _lowest_common(self, leaves: Sequence[int]) -> int:
        path: list[int] = []
        node = leaves[0]
        while node != THREAD:
            node = self.parent_of(node)
            path.append(node)
        height = {node: place for place, node in enumerate(path)}
        highest = 0
        for leaf in leaves:
            passed, node = [], self.parent_of(leaf)
            while node not in height:
                passed.append(node)
                node = self.parent_of(node)
            height.update((below, height[node]) for below in passed)
            highest = max(highest, height[node])
        return path[highest]

    def _grow(self, count: int) -> None:
        """Append further originals. No entry of the log is affected."""
        last, fresh = self._last[THREAD], self.count + 1
        self.count = count
        if not last:
            self._first[THREAD] = fresh
        elif last != fresh - 1 or last in self._next:
            self._next[last], self._previous[fresh] = fresh, last
        self._last[THREAD] = count
        if last and self.rank_of(last) >= fresh * _STEP:  # ranked anew, or many inserts
            highest = self.rank_of(last)
            for place, node in enumerate(range(fresh, count + 1), start=1):
                self._rank[node] = highest + place * _STEP

    def _add(self, rank: int) -> int:
        self.made += 1
        self._rank[-self.made] = rank
        return -self.made

    def _link(self, node: int, *, after: int, container: int) -> None:
        follower = self.next_of(after) if after else self._first[container]
        if container or node in self._parent:
            self._parent[node] = container
        self._link_between(node, after, follower, container)

    def _link_between(
        self, node: int, after: int, follower: int, container: int
    ) -> None:
        """Put a node between two others of a container; 0 stands for none."""
        self._previous[node], self._next[node] = after, follower
        if after:
            self._next[after] = node
        else:
            self._first[container] = node
        if follower:
            self._previous[follower] = node
        else:
            self._last[container] = node

    def _detach(self, node: int) -> None:
        """Remove a node that isn't the first from the linked list."""
        before, follower = self.previous_of(node), self.next_of(node)
        self._next[before] = follower
        if follower:
            self._previous[follower] = before
        else:
            self._last[self.parent_of(node)] = before

    def _gap(self, after: int) -> int:
        follower = self.next_of(after) if after else 0
        if not follower:
            return _STEP
        return self.rank_of(follower) - self.rank_of(after)


def longest_increasing_subsequence(values: Sequence[int]) -> list[int]:
    """The places of a longest strictly ascending subsequence of distinct values, in order.

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
