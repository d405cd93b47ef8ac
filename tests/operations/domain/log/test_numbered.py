"""What a log keeps by number, and who recorded what."""

from operations.domain.log.entry import Entry
from operations.domain.log.log import Log
from operations.domain.log.numbered import Numbered, NumberedSequence
from operations.domain.tree.map import Map
from tests.operations.support.builders import AUTHOR, digest


def test_numbered_values_stand_in_the_order_of_the_log() -> None:
    found = Numbered(Map({7: "g", 2: "b"}), last=7)
    assert [*found] == [2, 7] and [*reversed(found)] == [7, 2]
    assert (found[7], len(found), 3 in found) == ("g", 2, False)
    assert [*found.after(2)] == [7]


def test_values_in_a_row_are_a_sequence() -> None:
    row = NumberedSequence(Map({1: "a", 2: "b", 3: "c"}))
    assert (row[0], row[-1], row[1:]) == ("a", "c", ["b", "c"])
    assert [*row] == ["a", "b", "c"] and [*reversed(row)] == ["c", "b", "a"]


def test_a_log_knows_the_entries_of_each_actor_and_bundle() -> None:
    log = Log().extended(
        [
            Entry(1, digest(0, 1), AUTHOR, bundle="b"),
            Entry(2, digest(2, 3), AUTHOR, bundle="b"),
            Entry(3, digest(4, 5), "key:7"),
        ]
    )
    assert [entry.number for entry in log.entries_by(AUTHOR)] == [2, 1]
    assert [*log.entries_by("nobody")] == []
    assert {a: e.number for a, e in log.newest_by_actor().items()} == {
        AUTHOR: 2,
        "key:7": 3,
    }
    assert [entry.number for entry in log.bundle("b")] == [1, 2]


def test_the_edits_that_name_a_message_are_found() -> None:
    log = Log().extended([Entry(1, digest(0, 1), AUTHOR)])
    assert log.edits_naming(["o9.0"]) == []
