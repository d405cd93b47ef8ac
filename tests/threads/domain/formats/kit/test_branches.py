"""The branches through a tree: every node once as a way's own, the chosen one first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threads.domain.formats.kit.graph import branches
from threads.domain.formats.kit.graph.branches import Path, paths


def test_the_chosen_way_comes_first_and_others_know_where_they_left() -> None:
    #   0 - 1 - 2 - 3        the leaf chosen is 5
    #        \- 4 - 5
    #            \- 6
    assert paths([-1, 0, 1, 2, 1, 4, 4], 5).within == [
        Path((0, 1, 4, 5), None, 0),
        Path((0, 1, 2, 3), 0, 2),
        Path((0, 1, 4, 6), 0, 3),
    ]


def test_a_second_root_shares_nothing() -> None:
    assert paths([-1, -1], 0).within == [Path((0,), None, 0), Path((1,), 0, 0)]


def test_the_chosen_node_may_have_children() -> None:
    assert paths([-1, 0, 1], 1).within == [
        Path((0, 1), None, 0),
        Path((0, 1, 2), 0, 2),
    ]


def test_a_cycle_is_cut_where_it_closes() -> None:
    assert paths([1, 0, 0], 0).within == [
        Path((1, 0), None, 0),
        Path((1, 0, 2), 0, 2),
    ]
    assert paths([0], 0).within == [Path((0,), None, 0)]


def test_branches_beyond_the_limits_are_on_no_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(branches, "MAX_BRANCHES", 1)
    told, beyond = paths([-1, 0, 0, 0, 3], 1)
    assert (len(told), beyond) == (2, [[3, 4]])

    monkeypatch.setattr(branches, "MAX_NODES", 3)
    assert len(paths([-1, 0, 1, 2, 2], 3).within) == 1


@given(st.lists(st.integers(-1, 12), min_size=1, max_size=12), st.data())
def test_a_node_is_on_one_way_as_its_own(
    parents: list[int], data: st.DataObject
) -> None:
    nodes = [min(parent, len(parents) - 1) for parent in parents]
    found = paths(nodes, data.draw(st.integers(0, len(nodes) - 1))).within

    own = [node for path in found for node in path.nodes[path.shared :]]
    assert len(own) == len(set(own))
    for path in found:
        assert len(path.nodes) == len(set(path.nodes))
        if path.parent is not None:
            assert path.nodes[: path.shared] == found[path.parent].nodes[: path.shared]
