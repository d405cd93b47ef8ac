"""The tree of a thread, by its nodes: originals are 1, 2, …, what was made is negative."""

from operations.domain.tree.tree import THREAD, ThreadTree


def test_originals_come_behind_what_was_ranked_anew():
    """Where inserts used up the room between two ranks, the last one is beyond its own place."""
    tree = ThreadTree(3).opened(3)
    for _ in range(60):
        tree.insert(1, after=1)
    grown = tree.closed().opened(5)
    found = list(grown.nodes(THREAD))
    assert found == [1, *range(-60, 0), 2, 3, 4, 5]
    assert sorted(found, key=grown.rank_of) == found


def test_originals_come_behind_what_was_inserted_last():
    tree = ThreadTree(2).opened(2)
    tree.insert(2, after=2)
    grown = tree.closed().opened(4)
    assert list(grown.nodes(THREAD)) == [1, 2, -1, -2, 3, 4]
    assert grown.previous_of(3) == -2
