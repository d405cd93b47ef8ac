"""From "move these behind that" to the order that a resequence lists.

A resequence lets the leaves that it lists take the places that they hold. So that the moved
nodes come to stand directly behind another one, the nodes that they pass are listed too,
each with all its leaves, and with a moved message the inserts that hang on it.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from contextstudio.accounts.domain.errors import Invalid
from operations.domain.log.operation import Insert
from operations.domain.tree.key import Key

from .node import FoldNode
from .thread import Thread


class Relocation(NamedTuple):
    """The leaves that a resequence lists, and those of them that are taken elsewhere."""

    order: tuple[Key, ...]
    moved: tuple[Key, ...]


def relocation(
    thread: Thread,
    targets: Sequence[Key],
    after: Key | None,
    *,
    at_end: bool = False,
) -> Relocation:
    """What to list so that `targets` stand directly behind `after`; None: at the top, or the end.

    Targets and anchor are keys of messages or folds. What stands in one fold is moved inside
    it where the anchor is in it too; else the outermost folds move. Raises NotFound for keys
    that are not in the thread, Invalid where nothing would move.
    """
    depth, nodes = _container(thread, [*targets, *([after] if after else [])], after)
    moved = _with_hanging(
        thread, nodes, {_holder(thread, key, depth) for key in targets}
    )
    rest = [node for node in nodes if node not in moved]
    place = len(rest) if at_end else 0
    at = "place" if after is None else "after"
    unmoved = Invalid("These messages are already there.", at=[at], code="unmoved")
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


def _leaves(thread: Thread, nodes: Iterable[Key]) -> tuple[Key, ...]:
    return tuple(leaf for node in nodes for leaf in thread.leaf_keys(node))


def _container(
    thread: Thread, keys: Iterable[Key], after: Key | None
) -> tuple[int, Sequence[Key]]:
    """How deep the lowest container lies that holds all keys, and its nodes."""
    paths = [thread.path(key) for key in keys]
    common: list[Key] = []
    if after is not None:
        for folds in zip(*paths, strict=False):
            if len(set(folds)) > 1:
                break
            common.append(folds[0])
    return len(common), thread.child_keys(common[-1]) if common else thread.keys


def _holder(thread: Thread, key: Key, depth: int) -> Key:
    """The node at a depth that holds a key, or is it."""
    path = thread.path(key)
    return path[depth] if depth < len(path) else thread.node(key).key


def _with_hanging(thread: Thread, nodes: Sequence[Key], moved: set[Key]) -> set[Key]:
    """The moved nodes, and the inserts directly behind them that hang on one of them."""
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
    """What an inserted message hangs on; None for anything else."""
    node = thread.node(key)
    if isinstance(node, FoldNode) or node.operation is None:
        return None
    recorded = thread.log.edit(node.operation)
    edit = recorded.edit if recorded else None
    return edit.after if isinstance(edit, Insert) else None


def _between(now: Sequence[Key], goal: Sequence[Key]) -> Sequence[Key]:
    """The stretch of `goal` that differs from what is now."""
    differing = [place for place, key in enumerate(goal) if key != now[place]]
    return goal[differing[0] : differing[-1] + 1] if differing else ()
