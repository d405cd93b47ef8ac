"""The nodes and inserts between two nodes of a draft. Node numbers are those of its tree."""

from operations.domain.tree.draft import ThreadDraft
from operations.domain.tree.tree import ThreadTree


def nodes_between(tree: ThreadTree, one: int, other: int) -> list[int]:
    """The nodes from one to another, in the lowest container that holds both."""
    _, ends = tree.common_container([one, other])
    first, last = sorted(ends, key=tree.rank_of)
    nodes = [first]
    while nodes[-1] != last:
        nodes.append(tree.next_of(nodes[-1]))
    return nodes


def inserted_between(draft: ThreadDraft, first: int, last: int) -> list[int]:
    """The inserted leaves whose nearest originals before and after are both in this range.

    In the order of the thread, with every fold open.
    """
    if not draft.inserted:
        return []
    tree = draft.tree
    found: list[tuple[int, list[int]]] = []
    for original in range(first, last + 1):
        run: list[int] = []
        leaf = tree.leaf_after(original)
        while leaf < 0:
            run.append(leaf)
            leaf = tree.leaf_after(leaf)
        if run and first <= leaf <= last:
            found.append((original, run))
    found.sort(key=lambda one: tree.sort_key(one[0]))
    return [leaf for _, run in found for leaf in run]
