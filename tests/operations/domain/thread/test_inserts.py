"""insert: where messages come to stand."""

from operations.domain.log.operation import Amend, Digest, Insert, Snip, Toggle
from tests.operations.support.builders import (
    digest,
    insert,
    keys,
    new,
    resequence,
    shape,
    statuses,
    thread,
)


def test_an_insert_stands_directly_behind_its_anchor():
    assert shape(thread(3, insert("m1", "one", "two"))) == "m0 m1 o1.0 o1.1 m2"


def test_inserts_at_one_anchor_stand_in_the_order_they_were_made():
    assert shape(thread(2, insert("m0"), insert("m0"))) == "m0 o1.0 o2.0 m1"


def test_an_insert_behind_an_insert_keeps_those_that_hang_on_the_message_together():
    made = thread(2, insert("m0"), insert("o1.0"), insert("m0"), insert("o1.0"))
    assert shape(made) == "m0 o1.0 o2.0 o4.0 o3.0 m1"


def test_an_insert_at_the_top_stands_behind_those_that_hang_on_the_top():
    made = thread(2, insert(None), insert("m0"), insert("o1.0"), insert(None))
    assert shape(made) == "o1.0 o3.0 o4.0 m0 o2.0 m1"


def test_the_top_of_an_empty_session_holds_inserts():
    assert shape(thread(0, insert(None), insert(None))) == "o1.0 o2.0"


def test_where_the_anchor_is_folded_away_the_insert_stands_behind_the_fold():
    made = thread(6, digest(1, 3), insert("m2"))
    assert shape(made) == "m0 o1(m1 m2 m3) o2.0 m4 m5"


def test_a_fold_of_inserts_that_hang_on_the_anchor_counts_as_they_do():
    fold = Digest(targets=("o1.0", "o2.0"), messages=(new(),))
    made = thread(2, insert("m0"), insert("m0"), fold, insert("m0"))
    assert shape(made) == "m0 o3(o1.0 o2.0) o4.0 m1"


def test_a_fold_that_holds_an_original_ends_the_run():
    fold = Digest(targets=("o1.0", "m1"), messages=(new(),))
    made = thread(3, insert("m0"), fold, insert("m0"))
    assert shape(made) == "m0 o3.0 o2(o1.0 m1) m2"


def test_an_insert_may_stand_behind_a_fold_or_a_message_that_it_shows():
    made = thread(4, digest(1, 2), insert("o1"), insert("o1.0"))
    assert shape(made) == "m0 o1(m1 m2) o2.0 o3.0 m3"


def test_what_is_anchored_at_a_fold_is_void_without_it():
    off = Toggle(operations=("o1",), active=False)
    assert statuses(thread(4, digest(1, 2), insert("o1"), insert("o1.0"), off)) == [
        "off",
        "void",
        "void",
    ]


def test_an_insert_that_hung_elsewhere_ends_the_run():
    moved = resequence("o1.0", "m1")
    made = thread(3, insert("m1"), moved, insert("m0"))
    assert shape(made) == "m0 o3.0 o1.0 m1 m2"


def test_an_insert_that_hangs_through_one_that_was_moved_away_stays_in_the_run():
    away = resequence("o2.0", "m1", "o1.0")
    made = thread(3, insert("m0"), insert("o1.0"), away, insert("m0"))
    assert shape(made) == "m0 o2.0 o4.0 m1 o1.0 m2"


def test_messages_of_an_amended_insert_that_are_no_more_vanish():
    words = Insert(after="m0", messages=(new("only"),))
    gone = Snip(targets=("o1.1",))
    made = thread(
        2, insert("m0", "one", "two"), gone, Amend(operation="o1", edit=words)
    )
    assert shape(made) == "m0 o1.0 m1"
    assert statuses(made) == ["applied", "void"]


def test_many_inserts_at_one_place_never_use_up_the_order():
    operations = []
    for number in range(1, 120, 2):
        operations += [insert("m0"), resequence("m1", f"o{number}.0")]
    made = thread(2, *operations, Snip(targets=(*keys(0, 1), "o3.0")))
    assert len([key for key in made.keys for _ in made.leaf_keys(key)]) == 62


def test_an_insert_belongs_to_the_operation_that_made_it():
    node = thread(2, insert("m0", "words")).node("o1.0")
    assert (node.operation, node.index, node.group, node.message) == (
        "o1",
        None,
        None,
        new("words"),
    )
