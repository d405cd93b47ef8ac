"""Conversations that are trees: the chosen branch, and the branches that leave it."""

from array import array
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import NamedTuple

from threads.domain.transcript import Parent, Relation, Warning

Messages = Callable[[Sequence[int]], Sequence[object]]
"""Returns the messages on a branch, as any values that identify them."""

MAX_BRANCHES = 200
"""The most branches of one conversation; the nodes of others are left over."""
MAX_NODES = 500_000
"""The most nodes on all branches together: a branch repeats what it shares with its parent."""
MAX_ID_LENGTH = 255
BRANCHES_LEFT = "branches_left"
"""The code of the warning that there are more branches."""


class Path(NamedTuple):
    """A branch from the root to a leaf.

    `parent` is the number of the branch it leaves (None for the chosen one), `shared` the number
    of first nodes that it has in common with that branch.
    """

    nodes: tuple[int, ...]
    parent: int | None
    shared: int


class Paths(NamedTuple):
    """The branches of a tree and, for each branch beyond the limits, its own nodes."""

    within: list[Path]
    beyond: list[list[int]]


def paths(parents: Sequence[int], leaf: int) -> Paths:
    """The chosen branch, to `leaf`, and one for each other leaf, in the order of the leaves.

    `parents` holds each node's parent, or -1. A cycle is cut where it closes. Nodes that no leaf
    leads to (a cycle beside the branch), or that are beyond the limits, are on no path.
    """
    is_parent = bytearray(len(parents))
    for parent in parents:
        if parent >= 0:
            is_parent[parent] = 1
    others = (n for n in range(len(parents)) if not is_parent[n] and n != leaf)
    owner = [-1] * len(parents)
    position = [0] * len(parents)
    found: list[Path] = []
    beyond: list[list[int]] = []
    total = 0
    for end in (leaf, *others):
        own, joint = _own_nodes(parents, owner, end, len(found) + len(beyond))
        if beyond:
            beyond.append(own)
            continue
        left = owner[joint] if joint >= 0 else 0
        prefix = found[left].nodes[: position[joint] + 1] if joint >= 0 else ()
        total += len(prefix) + len(own)
        if len(found) > MAX_BRANCHES or (found and total > MAX_NODES):
            beyond.append(own)
            continue
        for place, node in enumerate(own, len(prefix)):
            position[node] = place
        parent_path = left if found else None
        found.append(Path((*prefix, *own), parent_path, len(prefix)))
    return Paths(found, beyond)


def _own_nodes(
    parents: Sequence[int], owner: list[int], end: int, number: int
) -> tuple[list[int], int]:
    """A leaf's ancestors that are on no branch yet, from the top, and the node they branch off."""
    own: list[int] = []
    node = end
    while node >= 0 and owner[node] < 0:
        owner[node] = number
        own.append(node)
        node = parents[node]
    closes = node >= 0 and owner[node] == number
    return own[::-1], -1 if closes else node


class Branch(NamedTuple):
    """A branch that has a message of its own: a conversation.

    `number` counts from 0, the chosen one. `origin` is the number of the branch it leaves, `at` the
    number of messages in common with that, `own` its first own node. `left` are the nodes on no
    branch at all (they are given with the chosen one), and `beyond` is the number of further
    branches, beyond the limits.
    """

    number: int
    nodes: Sequence[int]
    own: int
    origin: int
    at: int
    left: Sequence[int] = ()
    beyond: int = 0

    def title(self, title: str) -> str:
        """The conversation's title, with the branch's number unless it is the chosen one."""
        return f"{title} (branch {self.number})" if self.number else title

    def external_id(self, id_: str, ids: Sequence[str]) -> str | None:
        """The conversation's id; for a branch, followed by the id of its first own node."""
        if not id_:
            return None
        return (f"{id_}/{ids[self.own]}" if self.number else id_)[:MAX_ID_LENGTH]

    def parent(
        self, id_: str, ids: Sequence[str], all_: "list[Branch]"
    ) -> Parent | None:
        """The parent of a branch; None for the chosen branch, or if nothing has an id."""
        origin = all_[self.origin].external_id(id_, ids)
        if not self.number or origin is None:
            return None
        return Parent(external_id=origin, relation=Relation.BRANCH, at=self.at)


def branches(parents: Sequence[int], leaf: int, messages: Messages) -> list[Branch]:
    """The conversations in a tree; `messages` returns the messages on a branch.

    A branch that adds no message to the one it leaves is dropped: its nodes are left over.
    """
    kept: list[Branch] = []
    said: list[Sequence[object]] = []
    place: dict[int | None, int] = {None: 0}  # the conversation of each path
    told, beyond = paths(parents, leaf)
    for number, path in enumerate(told):
        origin = place[path.parent]
        words = messages(path.nodes)
        both = zip(words, said[origin], strict=False) if said else ()
        at = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], both))
        if len(words) == at:
            place[number] = origin
            continue
        place[number] = len(kept)
        own = path.nodes[min(path.shared, len(path.nodes) - 1)]
        kept.append(Branch(len(kept), array("Q", path.nodes), own, origin, at))
        said.append(words)
    if kept:
        rest = set(range(len(parents))).difference(*(branch.nodes for branch in kept))
        more = sum(bool(messages(own)) for own in beyond)
        kept[0] = kept[0]._replace(left=array("Q", sorted(rest)), beyond=more)
    return kept


def branches_left_warning(count: int) -> list[Warning]:
    """The warning for branches with messages of their own beyond the limits of a file."""
    if not count:
        return []
    words = f"Not all branches became sessions: the messages of {count:,} more are kept as events."
    return [Warning(BRANCHES_LEFT, words)]
