"""resequence: leaves take, in the order listed, the places that they hold."""

from operations.domain.thread.node import MovedNodes
from tests.operations.support.builders import (
    digest,
    insert,
    keys,
    resequence,
    shape,
    statuses,
    thread,
)


def test_listed_messages_take_the_places_that_they_held():
    assert shape(thread(6, resequence("m4", "m1", "m2"))) == "m0 m4 m1 m3 m2 m5"


def test_neighbours_change_places():
    assert shape(thread(4, resequence(*reversed(keys(0, 3))))) == "m3 m2 m1 m0"


def test_a_fold_moves_by_the_first_mention_of_what_it_holds():
    made = thread(6, digest(1, 2), resequence("m4", "m2", "m1"))
    assert shape(made) == "m0 m4 m3 o1(m1 m2) m5"


def test_messages_inside_one_fold_are_reordered_inside_it():
    made = thread(6, digest(1, 4), resequence("m4", "m1"))
    assert shape(made) == "m0 o1(m4 m2 m3 m1) m5"
    assert made.moves[0].within == "o1"
    assert made.report(2).hidden_by == "o1"


def test_the_lowest_container_that_holds_all_is_taken():
    made = thread(8, digest(1, 6), digest(2, 3), resequence("m5", "m2"))
    assert shape(made) == "m0 o1(m1 m5 m4 o2(m2 m3) m6) m7"


def test_an_insert_stays_behind_when_its_anchor_moves():
    made = thread(4, insert("m1"), resequence("m3", "m1"))
    assert shape(made) == "m0 m3 o1.0 m2 m1"


def test_leaves_that_are_not_there_are_passed_over():
    assert shape(thread(3, resequence("m2", "m9", "m0"))) == "m2 m1 m0"
    assert statuses(thread(3, resequence("m9"))) == ["void"]


def test_only_what_left_its_neighbours_counts_as_moved():
    made = thread(8, resequence("m6", "m7", *keys(1, 5)))
    assert shape(made) == "m0 m6 m7 m1 m2 m3 m4 m5"
    assert made.moves == [
        MovedNodes(operation="o1", keys=("m6", "m7"), after="m5", within=None)
    ]
    assert [node.key for node in made.window() if node.moved_by] == ["m6", "m7"]
    assert (made.moved_by("m6"), made.moved_by("m1")) == ("o1", None)


def test_what_left_the_first_place_stood_behind_nothing():
    made = thread(4, resequence("m1", "m2", "m0"))
    assert made.moves == [
        MovedNodes(operation="o1", keys=("m0",), after=None, within=None)
    ]


def test_separate_runs_leave_separate_stubs():
    made = thread(8, resequence("m2", "m3", "m7", "m4", "m1", "m6"))
    assert shape(made) == "m0 m2 m3 m7 m4 m5 m1 m6"
    assert [(moved.keys, moved.after) for moved in made.moves] == [
        (("m1",), "m0"),
        (("m7",), "m6"),
    ]


def test_what_is_moved_again_was_moved_by_the_last():
    first = resequence("m4", "m5", "m1", "m2", "m3")
    made = thread(6, first, resequence("m5", "m4"))
    assert shape(made) == "m0 m5 m4 m1 m2 m3"
    assert (made.moved_by("m4"), made.moved_by("m5")) == ("o1", "o2")
    assert [(moved.operation, moved.keys) for moved in made.moves] == [
        ("o1", ("m4",)),
        ("o2", ("m5",)),
    ]
