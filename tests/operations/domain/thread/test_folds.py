"""digest, revise, snip and condense: what becomes of a set of targets."""

from operations.domain.log.operation import Condense, Digest, Toggle
from tests.operations.support.builders import (
    digest,
    insert,
    keys,
    new,
    resequence,
    revise,
    shape,
    snip,
    statuses,
    thread,
)


def test_a_digest_shows_its_summary_where_the_first_of_its_messages_stood():
    made = thread(6, digest(2, 4))
    assert shape(made) == "m0 m1 o1(m2 m3 m4) m5"
    assert [message.key for message in made.effective()] == ["m0", "m1", "o1.0", "m5"]
    assert [message.role for message in made.effective()][2] == "system"


def test_a_snip_shows_nothing():
    made = thread(4, snip(1, 2))
    assert shape(made) == "m0 o1(m1 m2) m3"
    assert [message.key for message in made.effective()] == ["m0", "m3"]


def test_a_condense_folds_one_message():
    made = thread(3, Condense(targets=("m1",), messages=(new(role="assistant"),)))
    assert shape(made) == "m0 o1(m1) m2"


def test_a_digest_over_a_revise_nests_it_in_either_order():
    one = thread(10, revise(5, 6), digest(3, 8))
    other = thread(10, digest(3, 8), revise(5, 6))
    assert shape(one) == "m0 m1 m2 o2(m3 m4 o1(m5 m6) m7 m8) m9"
    assert shape(other) == "m0 m1 m2 o1(m3 m4 o2(m5 m6) m7 m8) m9"


def test_what_folds_at_the_top_hold_is_told_without_their_nodes():
    around = Digest(targets=("m3", "m4", "o1.0", "o1.1"), messages=(new(),))
    operations = insert("m4", "a", "b"), around, revise(5, 6), digest(5, 8)
    made = thread(12, *operations, snip(10, 11))
    told = [(fold.key, fold.kind, fold.tokens_before) for fold in made.folds_at_top]
    assert made.tokens_held == told
    assert [key for key, _, _ in told] == ["o2", "o4", "o5"]


def test_switching_the_digest_off_shows_the_revise():
    made = thread(
        10, digest(3, 8), revise(5, 6), Toggle(operations=("o1",), active=False)
    )
    assert shape(made) == "m0 m1 m2 m3 m4 o2(m5 m6) m7 m8 m9"


def test_a_fold_of_scattered_messages_stands_where_the_first_stood():
    scattered = Digest(targets=("m5", "m1", "m3"), messages=(new(),))
    assert shape(thread(7, scattered)) == "m0 o1(m1 m3 m5) m2 m4 m6"


def test_what_cuts_through_a_fold_is_set_aside_with_what_is_in_its_way():
    made = thread(12, digest(3, 8), revise(5, 10))
    assert statuses(made) == ["applied", "conflict"]
    assert made.report(2).operations == ("o1",)
    assert shape(made) == "m0 m1 m2 o1(m3 m4 m5 m6 m7 m8) m9 m10 m11"


def test_a_fold_inside_the_digest_is_in_the_way_too():
    made = thread(12, revise(4, 5), digest(3, 8), snip(5, 10))
    assert made.report(3).operations == ("o1", "o2")


def test_switching_an_early_fold_on_again_may_set_a_later_one_aside():
    off = Toggle(operations=("o1",), active=False)
    on = Toggle(operations=("o1",), active=True)
    assert statuses(thread(12, digest(3, 8), off, revise(5, 10))) == ["off", "applied"]
    assert statuses(thread(12, digest(3, 8), off, revise(5, 10), on)) == [
        "applied",
        "conflict",
    ]


def test_a_second_digest_of_the_same_messages_wraps_the_first():
    assert shape(thread(4, digest(1, 2), digest(1, 2))) == "m0 o2(o1(m1 m2)) m3"


def test_a_fold_may_be_made_inside_a_fold_that_was_made_before():
    made = thread(8, digest(1, 6), digest(2, 5), digest(3, 4))
    assert shape(made) == "m0 o1(m1 o2(m2 o3(m3 m4) m5) m6) m7"
    assert [made.node(key).depth for key in ("o1", "o2", "o3", "m3")] == [0, 1, 2, 3]
    assert made.path("m4") == ["o1", "o2", "o3"]


def test_targets_that_are_no_longer_there_are_passed_over():
    inserted = insert("m1", "one", "two")
    gone = Toggle(operations=("o1",), active=False)
    both = Digest(targets=("m1", "o1.0"), messages=(new(),))
    assert shape(thread(3, inserted, both)) == "m0 o2(m1 o1.0) o1.1 m2"
    assert shape(thread(3, inserted, both, gone)) == "m0 o2(m1) m2"


def test_a_fold_without_any_target_is_void():
    alone = Digest(targets=("o1.0",), messages=(new(),))
    off = Toggle(operations=("o1",), active=False)
    made = thread(3, insert("m1"), alone, off)
    assert statuses(made) == ["off", "void"]
    assert made.report(2).reason == "None of its messages is in the thread."


def test_a_fold_says_what_it_holds():
    made = thread(8, insert("m2"), revise(3, 4), digest(1, 5), resequence("m6", "m5"))
    node = made.node("o3")
    assert (node.first, node.last, node.count, node.leaves) == (1, 5, 5, 5)
    assert (node.children, node.folds) == (4, 1)
    assert (node.tokens_before, node.tokens_after) == (50, 3)
    assert node.messages == (new("summary"),)


def test_folding_moved_messages_keeps_the_order_in_which_they_stand():
    made = thread(
        6, resequence("m4", "m1"), Digest(targets=keys(1, 4), messages=(new(),))
    )
    assert shape(made) == "m0 o2(m4 m2 m3 m1) m5"
    assert made.node("o2").first == 1
