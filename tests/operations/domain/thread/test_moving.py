"""From "move these behind that" to the order of a resequence."""

from collections.abc import Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from contextstudio.accounts.domain.errors import Invalid, NotFound
from operations.domain.log.entry import Entry
from operations.domain.log.log import fold
from operations.domain.log.operation import Resequence
from operations.domain.thread.moving import destination, moved_leaves, relocation
from operations.domain.thread.replay import replay
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key
from operations.domain.tree.leaf import Leaf
from tests.operations.support.builders import digest, insert, originals, thread
from tests.operations.support.strategies import sessions


def order(found: Thread, targets: Sequence[Key], after: Key | None) -> tuple[Key, ...]:
    return relocation(found, targets, after).order


def test_what_is_passed_is_listed_behind_what_moves_up() -> None:
    assert order(thread(6), ["m4"], "m1") == ("m4", "m2", "m3")


def test_what_is_passed_is_listed_before_what_moves_down() -> None:
    assert order(thread(6), ["m1", "m2"], "m4") == ("m3", "m4", "m1", "m2")


def test_no_anchor_is_the_top() -> None:
    assert order(thread(4), ["m2"], None) == ("m2", "m0", "m1")


def test_scattered_messages_come_together_in_the_order_of_the_thread() -> None:
    assert order(thread(6), ["m5", "m1"], "m2") == ("m2", "m1", "m5", "m3", "m4")


def test_a_fold_moves_with_all_its_leaves() -> None:
    assert order(thread(6, digest(1, 2)), ["o1"], "m3") == ("m3", "m1", "m2")


def test_a_fold_that_is_passed_is_passed_whole() -> None:
    assert order(thread(6, digest(1, 2)), ["m4"], "m0") == (
        "m4",
        "m1",
        "m2",
        "m3",
    )


def test_messages_of_an_opened_fold_move_inside_it() -> None:
    assert order(thread(6, digest(1, 4)), ["m4"], "m1") == ("m4", "m2", "m3")


def test_messages_inside_of_different_folds_take_their_folds_along() -> None:
    folded = thread(7, digest(1, 2), digest(4, 5))
    assert order(folded, ["m1"], "m5") == ("m3", "m4", "m5", "m1", "m2")
    assert order(folded, ["m2"], "m3") == ("m3", "m1", "m2")


def test_an_insert_goes_with_the_message_it_hangs_on() -> None:
    moved = order(thread(4, insert("m2", "x")), ["m2"], "m0")
    assert moved == ("m2", "o1.0", "m1")


def test_inserts_that_hang_on_inserts_go_along_too() -> None:
    moved = order(thread(4, insert("m2", "x"), insert("o1.0", "y")), ["m2"], None)
    assert moved == ("m2", "o1.0", "o2.0", "m0", "m1")


def test_a_message_does_not_move_behind_itself_or_to_where_it_stands() -> None:
    for targets, after in ((["m2"], "m2"), (["m2"], "m1"), (["m0"], None)):
        with pytest.raises(Invalid):
            order(thread(4), targets, after)


def test_a_move_inside_of_a_fold_tells_where_it_leads_there() -> None:
    folded = thread(6, digest(1, 4))
    inside = relocation(folded, ["m4"], "m1")
    assert destination(folded, *inside) == (("m4",), "m1", "o1")
    first = Resequence(order=("m2", "m1"), moved=("m2",))
    assert destination(folded, first.order, first.moved) == (("m2",), None, "o1")


def test_an_insert_that_goes_along_is_not_named_as_moved() -> None:
    found = thread(4, insert("m2", "x"))
    order, moved = relocation(found, ["m2"], "m0")
    assert moved == ("m2", "o1.0")
    assert destination(found, order, moved) == (("m2",), "m0", None)
    assert moved_leaves(found, ["m2"], "m1") == moved


def test_what_would_not_stand_together_or_is_gone_has_no_one_place_to_go() -> None:
    assert destination(thread(6), ("m5", "m2", "m1"), ("m5", "m1")) is None
    assert destination(thread(6), ("m8", "m9"), ("m9",)) is None


def test_keys_that_are_not_there_are_refused() -> None:
    with pytest.raises(NotFound):
        order(thread(4), ["m9"], None)


@given(sessions(), st.data())
def test_what_was_moved_stands_directly_behind_its_anchor(
    session: tuple[list[Leaf], list[Entry]], data: st.DataObject
) -> None:
    leaves, entries = session
    before = replay(leaves, fold(entries))
    keys = data.draw(
        st.lists(st.sampled_from(before.keys), min_size=1, max_size=4, unique=True)
    )
    after = data.draw(st.sampled_from([None, *before.keys]))
    try:
        order, named = relocation(before, keys, after)
    except Invalid:
        assume(False)
    found, unsaid = (
        replay(leaves, fold([*entries, Entry(len(entries) + 1, edit, "user:1")]))
        for edit in (Resequence(order=order, moved=named), Resequence(order=order))
    )
    now = found.keys
    assert unsaid.keys == now
    told = destination(before, order, named)
    assert told is not None
    assert told.within is None
    assert set(told.moved) <= set(keys)
    before_it = now.index(told.moved[0]) - 1
    assert told.after == (now[before_it] if before_it >= 0 else None)
    assert {found.moved_by(found.top_key(key)) for key in named} == {
        f"o{len(entries) + 1}"
    }
    start = now.index(after) + 1 if after else 0
    moved = [key for key in before.keys if key in keys]
    assert [key for key in now[start:] if key in keys] == moved
    assert now[start] == moved[0]
    rest = [key for key in now if key not in keys and not key.startswith("o")]
    assert rest == [
        key for key in before.keys if key not in keys and not key.startswith("o")
    ]


def test_messages_go_to_the_end_in_the_order_that_they_have() -> None:
    order, moved = relocation(thread(6), ["m5", "m1"], None, at_end=True)
    assert thread(6, Resequence(order=order, moved=moved)).keys == [
        "m0",
        "m2",
        "m3",
        "m4",
        "m1",
        "m5",
    ]
    with pytest.raises(Invalid, match="already there"):
        relocation(thread(6), ["m4", "m5"], None, at_end=True)


def test_a_long_way_is_listed_without_delay() -> None:
    many = replay(originals(5000), fold([]))
    assert len(order(many, ["m4999"], None)) == 5000


def test_of_two_that_change_places_the_one_that_was_taken_counts_as_moved() -> None:
    for target, after in (("m2", "m3"), ("m3", "m1")):
        order, moved = relocation(thread(6), [target], after)
        found = thread(6, Resequence(order=order, moved=moved))
        assert order == ("m3", "m2")
        assert [one.keys for one in found.moves] == [(target,)]


def test_what_is_said_to_move_counts_only_where_all_else_keeps_its_order() -> None:
    found = thread(6, Resequence(order=("m3", "m2", "m1"), moved=("m3",)))
    assert found.moved_by("m3") == "o1"
    assert len([key for one in found.moves for key in one.keys]) == 2
