"""What a thread answers."""

import pytest

from contextstudio.accounts.domain.errors import Invalid, NotFound
from operations.domain.log.log import fold
from operations.domain.log.operation import Tag, Toggle
from operations.domain.thread.node import MessageNode, Tokens
from operations.domain.thread.replay import replay
from operations.domain.tree.leaf import Leaf
from operations.domain.tree.status import Status
from tests.operations.support.builders import (
    digest,
    insert,
    keys,
    new,
    proposal,
    resequence,
    revise,
    shape,
    snip,
    statuses,
    thread,
)


def test_an_original_stands_as_it_came():
    made = replay([Leaf("tool", 7, 3)], fold([]))
    assert made.window() == [
        MessageNode(
            key="m0",
            index=0,
            role="tool",
            tokens=7,
            saved=0,
            group=3,
            operation=None,
            message=None,
            moved_by=None,
            tags=(),
            changed=False,
            depth=0,
        )
    ]


def test_a_window_counts_nodes_at_the_top():
    made = thread(300, digest(10, 19), snip(100, 149))
    assert made.total == 300 - 10 + 1 - 50 + 1
    assert [node.key for node in made.window(9, 4)] == ["m9", "o1", "m20", "m21"]
    assert made.window(made.total) == []
    assert [made.position(key) for key in ("m9", "m15", "o1", "o1.0", "m20")] == [
        *(9, 10, 10, 10, 11)
    ]


def test_children_are_windowed_too():
    made = thread(30, digest(5, 20))
    assert [node.key for node in made.children("o1", 3, 2)] == ["m8", "m9"]
    assert len(made.children("o1")) == 16
    assert made.leaf_keys("o1") == [*keys(5, 20)]


@pytest.mark.parametrize("key", ["m9", "o1", "o1.0", "", "m-1"])
def test_what_is_not_in_the_thread_is_not_found(key):
    made = thread(3)
    for question in (
        made.node,
        made.position,
        made.path,
        made.tags,
        made.children,
        made.top_key,
    ):
        with pytest.raises(NotFound):
            question(key)
    assert not made.holds(key)


def test_a_message_has_no_children():
    with pytest.raises(NotFound, match="m1 is not a fold"):
        thread(3).children("m1")


def test_keys_between_two_nodes_are_those_of_the_container_that_holds_both():
    made = thread(12, revise(4, 5), digest(3, 8))
    assert made.keys_between("m10", "m1") == ["m1", "m2", "o2", "m9", "m10"]
    assert made.keys_between("m5", "m10") == ["o2", "m9", "m10"]
    assert made.keys_between("m7", "m3") == ["m3", "o1", "m6", "m7"]
    assert made.keys_between("m4", "m8") == ["o1", "m6", "m7", "m8"]
    assert made.keys_between("m1", "m1") == ["m1"]


def test_a_range_means_its_originals_and_what_stands_between_them():
    made = thread(6, insert("m1"), insert("m3"), insert(None), insert("m5"))
    assert made.resolve_range(1, 3) == ["m1", "m2", "m3", "o1.0"]
    assert made.resolve_range(0, 5) == [*keys(0, 5), "o1.0", "o2.0"]


@pytest.mark.parametrize(("first", "last"), [(-1, 2), (3, 2), (0, 3)])
def test_a_range_outside_the_session_is_refused(first, last):
    with pytest.raises(Invalid, match="3 messages"):
        thread(3).resolve_range(first, last)


def test_tokens_are_split_by_role_and_folds():
    made = thread(6, digest(1, 2), insert("m4"), insert("m1"))
    assert made.tokens == Tokens(60, 49, {"user": 20, "assistant": 20, "system": 6}, 3)
    inside = thread(6, insert("m1"), digest(1, 2), insert("m1"), digest(0, 5))
    assert (inside.tokens.effective, inside.tokens.folds) == (9, 3)


def test_what_a_later_fold_swallows_is_hidden_by_it():
    made = thread(
        8, revise(3, 4), insert("m4"), Tag(targets=("m3",), tags=("a",)), digest(2, 5)
    )
    assert [report.hidden_by for report in made.reports] == ["o4", None, "o4", None]
    both = thread(8, Tag(targets=("m1", "m6"), tags=("a",)), digest(1, 2), digest(5, 6))
    assert both.report(1).hidden_by is None


def test_an_insert_between_swallowed_messages_is_hidden():
    swallow = thread(6, insert("m2")).resolve_range(1, 4)
    made = thread(6, insert("m2"), type(snip(0, 0))(targets=tuple(swallow)))
    assert shape(made) == "m0 o2(m1 m2 o1.0 m3 m4) m5"
    assert made.report(1).hidden_by == "o2"


def test_the_words_and_roles_of_made_messages():
    off = Toggle(operations=("o1",), active=False)
    made = thread(4, insert("m0", "words"), digest(2, 3), off)
    assert made.made_message("o1.0") == new("words")
    assert (
        made.made_message("o1.1"),
        made.made_message("o9.0"),
        made.made_message("o1"),
    ) == (None, None, None)
    assert (made.role("m1"), made.role("o2.0")) == ("assistant", "system")
    for key in ("m4", "o1.1", "x"):
        with pytest.raises(Invalid):
            made.role(key)


def test_every_edit_says_why_it_does_not_apply():
    off = Toggle(operations=("o1",), active=False)
    made = thread(4, digest(0, 1), off)
    assert (statuses(made), made.report(1).reason) == (["off"], "It is switched off.")
    assert (made.head, made.message_count) == (2, 4)


def test_what_is_staged_says_that_it_waits_for_its_author():
    waits = proposal(snip(0, 1))
    ours, staged = thread(6, waits, waits._replace(staged=True)).reports
    assert ours.status is staged.status is Status.PROPOSED
    assert staged.reason == "Its author has not committed it yet." != ours.reason


def test_reordered_messages_are_shown_to_the_model_in_their_order():
    made = thread(3, resequence("m2", "m0"))
    assert [message.index for message in made.effective()] == [2, 1, 0]


def test_inserted_messages_are_told_by_their_role_and_tokens():
    made = thread(3, insert("m0", "a", "b"), digest(1, 2), insert("m2", "c"))
    assert made.inserted_sizes == dict.fromkeys(("o1.0", "o1.1", "o3.0"), ("system", 3))
    assert {*made.inserted_keys} == {*made.inserted_sizes}


def test_outcomes_say_how_each_edit_fared_without_what_hides_it():
    made = thread(6, snip(1, 2), digest(0, 4))
    outcomes = {number: one.status for number, one in made.outcomes.items()}
    assert outcomes == {1: Status.APPLIED, 2: Status.APPLIED}
    assert [report.hidden_by for report in made.reports] == ["o2", None]
