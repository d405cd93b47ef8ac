"""Converts "move these after that" into the order that a resequence lists.

A resequence lets the leaves that it lists take the places that they hold. So that the moved nodes
end up directly after another, the nodes that they pass are listed too, each with all its leaves,
and a moved message is listed with the inserts that hang on it.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from contextstudio.accounts.domain.errors import Invalid
from operations.domain.log.operation import Insert
from operations.domain.tree.key import Key

from .node import FoldNode
from .thread import Thread

UNMOVED = "unmoved"
"""The code of the refusal to move messages to where they already are."""


class Destination(NamedTuple):
    """Where a resequence would put the nodes that it moves.

    `moved` excludes the inserts that go along. `after` is the node before them, None at the
    first place. `within` is the fold that holds them, None at the top.
    """

    moved: tuple[Key, ...]
    after: Key | None
    within: Key | None


class Relocation(NamedTuple):
    """The leaves that a resequence lists, and those of them that are moved."""

    order: tuple[Key, ...]
    moved: tuple[Key, ...]


def relocation(
    thread: Thread,
    targets: Sequence[Key],
    after: Key | None,
    *,
    at_end: bool = False,
) -> Relocation:
    """What to list so that `targets` stand directly after `after`.

    If `after` is None, they go to the top or, with `at_end`, to the end. Targets and anchor are
    keys of messages or folds. Targets in one fold are moved inside it if the anchor is in it too;
    otherwise the outermost folds move. Raises NotFound for keys that are not in the thread, and
    Invalid if nothing would move.
    """
    depth, nodes, moved = _moving_nodes(thread, targets, after)
    rest = [node for node in nodes if node not in moved]
    place = len(rest) if at_end else 0
    at = "place" if after is None else "after"
    unmoved = Invalid("These messages are already there.", at=[at], code=UNMOVED)
    if after is not None:
        anchor = _holder(thread, after, depth)
        if anchor in moved:
            raise unmoved
        place = rest.index(anchor) + 1
    goal = [*rest[:place], *(node for node in nodes if node in moved), *rest[place:]]
    listed = _between(nodes, goal)
    if not listed:
        raise unmoved
    return Relocation(
        _leaves(thread, listed),
        _leaves(thread, (node for node in listed if node in moved)),
    )


def moved_leaves(
    thread: Thread, targets: Sequence[Key], after: Key | None
) -> tuple[Key, ...]:
    """The leaves that `relocation` moves after `after`, including any that are already there."""
    _, nodes, moved = _moving_nodes(thread, targets, after)
    return _leaves(thread, (node for node in nodes if node in moved))


def destination(
    thread: Thread, order: Iterable[Key], moved: Iterable[Key]
) -> Destination | None:
    """Where a resequence that lists `order` would put the leaves `moved` in this thread.

    None if they are gone, or would not stand together.
    """
    listed = [key for key in order if thread.holds(key)]
    around = _common_folds(thread, listed)
    nodes = thread.child_keys(around[-1]) if around else thread.keys
    holders = dict.fromkeys(_holder(thread, key, len(around)) for key in listed)
    places = {node: place for place, node in enumerate(nodes)}
    slots = sorted(places[node] for node in holders)
    goal = dict(zip(slots, holders, strict=True))
    named = set(moved).intersection(listed)
    taken = {_holder(thread, key, len(around)) for key in named}
    there = [slot for slot, node in goal.items() if node in taken]
    if not there or there[-1] - there[0] >= len(there):
        return None
    first = there[0]
    after = goal.get(first - 1, nodes[first - 1]) if first else None
    nodes_there = [goal[slot] for slot in there]
    held = {leaf for node in nodes_there for leaf in (node, *thread.leaf_keys(node))}
    alone = (node for node in nodes_there if _anchor(thread, node) not in held)
    return Destination(tuple(alone), after, around[-1] if around else None)


def _leaves(thread: Thread, nodes: Iterable[Key]) -> tuple[Key, ...]:
    return tuple(leaf for node in nodes for leaf in thread.leaf_keys(node))


def _container(
    thread: Thread, keys: Iterable[Key], after: Key | None
) -> tuple[int, Sequence[Key]]:
    """The depth of the lowest container that holds all keys, and its nodes."""
    common = _common_folds(thread, keys) if after is not None else []
    return len(common), thread.child_keys(common[-1]) if common else thread.keys


def _common_folds(thread: Thread, keys: Iterable[Key]) -> list[Key]:
    """The folds that hold all keys, from the outermost inwards."""
    common: list[Key] = []
    for folds in zip(*(thread.path(key) for key in keys), strict=False):
        if len(set(folds)) > 1:
            break
        common.append(folds[0])
    return common


def _moving_nodes(
    thread: Thread, targets: Sequence[Key], after: Key | None
) -> tuple[int, Sequence[Key], set[Key]]:
    """The container in which targets move, as in `_container`, and the nodes that move."""
    depth, nodes = _container(thread, [*targets, *([after] if after else [])], after)
    holders = {_holder(thread, key, depth) for key in targets}
    return depth, nodes, _with_hanging(thread, nodes, holders)


def _holder(thread: Thread, key: Key, depth: int) -> Key:
    """The node at a depth that holds a key, or the key's own node."""
    path = thread.path(key)
    return path[depth] if depth < len(path) else thread.node(key).key


def _with_hanging(thread: Thread, nodes: Sequence[Key], moved: set[Key]) -> set[Key]:
    """The moved nodes, plus the inserts directly after them that hang on one of them."""
    found = set(moved)
    held: set[Key] = set()
    for node in nodes:
        if node in moved:
            held = {node, *thread.leaf_keys(node)}
        elif held and _anchor(thread, node) in held:
            found.add(node)
            held.add(node)
        else:
            held = set()
    return found


def _anchor(thread: Thread, key: Key) -> Key | None:
    """The anchor of an inserted message; None for anything else."""
    node = thread.node(key)
    if isinstance(node, FoldNode) or node.operation is None:
        return None
    recorded = thread.log.edit(node.operation)
    edit = recorded.edit if recorded else None
    return edit.after if isinstance(edit, Insert) else None


def _between(now: Sequence[Key], goal: Sequence[Key]) -> Sequence[Key]:
    """The part of `goal` from the first to the last difference."""
    differing = [place for place, key in enumerate(goal) if key != now[place]]
    return goal[differing[0] : differing[-1] + 1] if differing else ()
