"""What changed between two threads of one session."""

from hypothesis import given
from hypothesis import strategies as st

from operations.domain.log.log import fold
from operations.domain.log.operation import Amend, Purge, Tag, Toggle
from operations.domain.thread.difference import (
    Difference,
    InsertedRun,
    difference,
    status_changes,
)
from operations.domain.thread.replay import replay
from operations.domain.tree.tree import longest_increasing_subsequence
from tests.operations.support.builders import (
    digest,
    insert,
    resequence,
    revise,
    snip,
    thread,
)
from tests.operations.support.strategies import active_tags, sessions


def patched(before: list[str], change: Difference) -> list[str]:
    """What a page does with a difference."""
    now = [key for key in before if key not in change.removed]
    for after, keys in change.inserted:
        place = 0 if after is None else now.index(after) + 1
        now[place:place] = keys
    return now


@given(sessions(malformed=True), active_tags, active_tags, st.data())
def test_the_difference_of_two_threads_leads_from_one_to_the_other(
    session, one, other, data
):
    leaves, entries = session
    fewer = data.draw(st.integers(0, len(leaves)))
    earlier = data.draw(st.integers(0, len(entries)))
    old = replay(leaves[:fewer], fold(entries[:earlier]), one)
    new = replay(leaves, fold(entries), other)
    change = difference(old, new)
    assert patched(old.keys, change) == new.keys
    stays = [key for key in old.keys if key in new.keys and key not in change.removed]
    assert set(change.changed) <= set(stays)
    for key in stays:
        if old.node(key) != new.node(key):
            assert key in change.changed


@given(sessions(malformed=True), active_tags)
def test_a_thread_does_not_differ_from_itself(session, tags):
    leaves, entries = session
    old, new = (replay(leaves, fold(entries), tags) for _ in range(2))
    assert difference(old, new) == Difference(removed=(), inserted=(), changed=())


def test_a_fold_takes_the_place_of_what_it_holds():
    assert difference(thread(6), thread(6, digest(2, 3))) == Difference(
        removed=("m2", "m3"), inserted=(InsertedRun("m1", ("o1",)),), changed=()
    )


def test_an_insert_with_other_words_looks_otherwise():
    amend = Amend(operation="o1", edit=insert("m1", "other"))
    change = difference(
        thread(3, insert("m1", "one")), thread(3, insert("m1", "one"), amend)
    )
    assert change == Difference(removed=(), inserted=(), changed=("o1.0",))


def test_a_few_that_move_far_are_a_few_that_move():
    order = ["m50", "m51", *(f"m{index}" for index in range(2, 50))]
    assert difference(thread(60), thread(60, resequence(*order))) == Difference(
        removed=("m50", "m51"),
        inserted=(InsertedRun("m1", ("m50", "m51")),),
        changed=("m49",),
    )


def test_what_comes_first_stands_at_the_top():
    change = difference(thread(2), thread(2, insert(None, "a", "b"), insert("m1")))
    assert change.inserted == (
        InsertedRun(None, ("o1.0", "o1.1")),
        InsertedRun("m1", ("o2.0",)),
    )


def test_a_node_that_looks_otherwise_has_changed():
    tagged = thread(4, Tag(targets=("m2",), tags=("a",)))
    assert difference(thread(4), tagged).changed == ("m2",)
    assert difference(thread(4), thread(4, Purge(targets=("m1",)))).changed == ("m1",)


def test_a_fold_has_changed_when_something_in_it_has():
    folded = thread(8, digest(2, 5))
    assert difference(folded, thread(8, digest(2, 5), snip(3, 4))).changed == ("o1",)
    tagged = thread(8, digest(2, 5), Tag(targets=("m3",), tags=("a",)))
    assert difference(folded, tagged).changed == ("o1",)
    moved = thread(8, digest(2, 5), resequence("m4", "m3"))
    assert difference(folded, moved).changed == ("o1",)


def test_a_node_has_changed_when_a_mark_comes_before_it():
    off = Toggle(operations=("o1",), active=False)
    assert difference(
        thread(8, revise(2, 3)), thread(8, revise(2, 3), off)
    ) == Difference(
        removed=("o1",), inserted=(InsertedRun("m1", ("m2", "m3")),), changed=()
    )
    gone = thread(8, revise(2, 3), Toggle(operations=("o1",), active=False))
    assert difference(thread(8), gone).changed == ("m2",)


def test_edits_whose_status_turned_are_listed():
    off = Toggle(operations=("o1",), active=False)
    on = Toggle(operations=("o1",), active=True)
    log = [digest(3, 8), off, revise(5, 10)]
    changes = status_changes(thread(12, *log), thread(12, *log, on))
    assert [(one.report.key, one.before, one.report.status) for one in changes] == [
        ("o1", "off", "applied"),
        ("o3", "applied", "conflict"),
    ]


@given(st.lists(st.integers(0, 30), unique=True, max_size=9))
def test_the_longest_ascent_ascends_and_none_is_longer(values):
    places = longest_increasing_subsequence(values)
    chosen = [values[place] for place in places]
    assert places == sorted(places)
    assert chosen == sorted(chosen)
    assert len(chosen) == longest_by_trying(values)


def longest_by_trying(values: list[int]) -> int:
    best: list[int] = []
    for place, value in enumerate(values):
        before = [best[i] for i in range(place) if values[i] < value]
        best.append(1 + max(before, default=0))
    return max(best, default=0)
