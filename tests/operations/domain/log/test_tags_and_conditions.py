"""tag, and the conditions under which operations apply."""

import pytest

from operations.domain.log.operation import (
    ActivateTags,
    Condition,
    Purge,
    Tag,
    Toggle,
    Undo,
)
from operations.domain.thread.replay import replay
from tests.operations.support.builders import (
    digest,
    insert,
    keys,
    log,
    originals,
    resequence,
    shape,
    statuses,
    thread,
)


def test_tags_are_given_once_in_the_order_of_the_log():
    made = thread(
        3,
        Tag(targets=("m0", "m1"), tags=("b", "a")),
        Tag(targets=("m1", "m9"), tags=("a", "c")),
    )
    assert [node.tags for node in made.window()] == [("b", "a"), ("b", "a", "c"), ()]
    assert made.tags("m1") == ("b", "a", "c")


def test_a_tag_that_is_off_gives_nothing():
    made = thread(
        2, Tag(targets=("m0",), tags=("a",)), Toggle(operations=("o1",), active=False)
    )
    assert made.tags("m0") == ()


def test_a_tag_of_what_is_not_there_is_void():
    assert statuses(thread(1, Tag(targets=("o9.0",), tags=("a",)))) == ["void"]


@pytest.mark.parametrize(
    ("match", "active", "holds"),
    [
        ("all", {"a", "b"}, True),
        ("all", {"a"}, False),
        ("any", {"b"}, True),
        ("any", {"c"}, False),
        ("none", {"c"}, True),
        ("none", {"a"}, False),
    ],
)
def test_a_condition_holds_as_its_match_says(match, active, holds):
    assert Condition(tags=("a", "b"), match=match).holds(active) is holds


@pytest.mark.parametrize("match", ["all", "any", "none"])
def test_a_condition_that_names_nothing_holds(match):
    assert Condition(match=match).holds(frozenset())


def test_an_objective_counts_as_a_tag():
    condition = Condition(objectives=("ship",))
    operation = log(digest(1, 2, condition=condition))
    assert statuses(replay(originals(4), operation)) == ["unmet"]
    assert statuses(replay(originals(4), operation, objective="ship")) == ["applied"]
    assert statuses(replay(originals(4), operation, {"objective:ship"})) == ["applied"]


def test_a_request_brings_its_own_tags_or_none_at_all():
    condition = Condition(tags=("a",))
    active = log(digest(1, 2, condition=condition), ActivateTags(tags=("a",)))
    assert statuses(replay(originals(4), active)) == ["applied"]
    assert statuses(replay(originals(4), active, frozenset())) == ["unmet"]
    assert (
        replay(originals(4), active, frozenset(), objective="x").active_tags
        == frozenset()
    )


def test_the_last_active_tags_count_and_undo_brings_back_the_ones_before():
    activated = [ActivateTags(tags=("a",)), ActivateTags(tags=("b",))]
    assert log(*activated).active_tags == {"b"}
    assert log(*activated, Undo(entries=(2,))).active_tags == {"a"}
    assert log(*activated, Undo(entries=(2,)), Undo(entries=(1,))).active_tags == set()


@pytest.mark.parametrize(
    ("match", "reason"),
    [
        ("all", 'Not active: b, objective "ship".'),
        ("any", 'None of these is active: a, b, objective "ship".'),
        ("none", "It applies only while these are not active: a."),
    ],
)
def test_an_unmet_operation_names_what_is_unmet(match, reason):
    active = {"c"} if match == "any" else {"a", "c"}
    condition = Condition(tags=("a", "b"), objectives=("ship",), match=match)
    made = replay(originals(4), log(digest(1, 2, condition=condition)), active)
    assert (made.report(1).status, made.report(1).reason) == ("unmet", reason)


def test_edits_that_are_not_in_the_tree_are_marked_at_their_place():
    made = thread(
        8,
        digest(2, 3),
        digest(5, 6),
        insert("m6"),
        insert(None),
        insert("m0"),
        resequence("m4", "m3"),
        Toggle(operations=("o2", "o3", "o4", "o5", "o6"), active=False),
    )
    assert {
        key: [(m.operation, m.is_after) for m in marks]
        for key, marks in made.marks.items()
    } == {
        "m0": [("o4", False), ("o5", True)],
        "o1": [("o6", False)],
        "m5": [("o2", False)],
        "m6": [("o3", True)],
    }


def test_a_mark_has_no_place_where_nothing_of_its_edit_is_there():
    off = Toggle(operations=("o1", "o2"), active=False)
    assert thread(2, insert("m0"), Tag(targets=("o1.0",), tags=("a",)), off).marks == {
        "m0": thread(2, insert("m0"), off).marks["m0"]
    }
    nothing = thread(0, insert(None), Toggle(operations=("o1",), active=False))
    assert (nothing.marks, nothing.total) == ({}, 0)


def test_a_purge_is_kept_with_the_log():
    made = thread(3, Purge(targets=("m1",)), Purge(targets=("m1", "m2")))
    assert made.log.purged == {"m1", "m2"}
    assert shape(made) == " ".join(keys(0, 2))
