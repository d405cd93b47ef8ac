"""What undo and redo take, and what a control comes to before it is recorded."""

import pytest

from contextstudio.accounts.domain.errors import Conflict, NotFound
from operations.domain.log.history import (
    bundle_control,
    count_staged,
    effective_control,
    redo,
    redoable,
    staged,
    staged_by_others,
    undo,
    undoable,
    waiting_moves,
)
from operations.domain.log.operation import (
    Accept,
    ActivateTags,
    Amend,
    Purge,
    Redo,
    Reject,
    Replace,
    Resequence,
    Revert,
    Tag,
    Toggle,
    Undo,
)
from tests.operations.support.builders import (
    AUTHOR,
    OTHER,
    by,
    digest,
    insert,
    log,
    new,
    proposal,
    revise,
    snip,
    span,
)


def refused(action, *arguments):
    with pytest.raises(Conflict) as refusal:
        action(*arguments)
    return refusal.value.code, refusal.value.facts.get("operations")


def test_undo_takes_the_newest_entry_of_the_caller():
    folded = log(
        digest(0, 1), by(OTHER, digest(2, 3)), snip(4, 5), by(OTHER, snip(6, 7))
    )
    assert undo(folded, AUTHOR) == Undo(entries=(3,))
    assert undo(folded, OTHER) == Undo(entries=(4,))


def test_undo_goes_back_entry_by_entry():
    folded = log(digest(0, 1), snip(4, 5), Undo(entries=(2,)))
    assert undoable(folded, AUTHOR) == (1,)
    folded = log(digest(0, 1), snip(4, 5), Undo(entries=(2,)), Undo(entries=(1,)))
    assert refused(undo, folded, AUTHOR) == ("nothing_to_undo", None)


def test_undo_takes_a_bundle_whole():
    folded = log(
        digest(0, 1),
        by(AUTHOR, snip(2, 3), bundle="b"),
        by(AUTHOR, snip(4, 5), bundle="b"),
        by(OTHER, snip(6, 7), bundle="b"),
    )
    assert undoable(folded, AUTHOR) == (2, 3)


def test_undo_takes_back_a_control_of_a_bundle_alone():
    off = Toggle(operations=("o1", "o2"), active=False)
    bundle = [by(AUTHOR, snip(place, place), bundle="b") for place in (1, 3)]
    assert undoable(log(*bundle, off), AUTHOR) == (3,)


def test_undo_passes_over_what_is_taken_back_and_what_cannot_be():
    folded = log(digest(0, 1), snip(4, 5), by(OTHER, Revert(operations=("o2",))))
    assert undoable(folded, AUTHOR) == (1,)
    assert undoable(log(digest(0, 1), Purge(targets=("m5",))), AUTHOR) == (1,)


def test_an_edit_that_was_undone_and_restored_by_another_can_be_undone_again():
    on = by(OTHER, Toggle(operations=("o1",), active=True))
    assert undoable(log(digest(0, 1), Undo(entries=(1,)), on), AUTHOR) == (1,)


def test_redo_brings_back_what_was_undone_newest_first():
    folded = log(digest(0, 1), snip(4, 5), Undo(entries=(2,)), Undo(entries=(1,)))
    assert redo(folded, AUTHOR) == Redo(entries=(1,))
    folded = log(
        digest(0, 1),
        snip(4, 5),
        Undo(entries=(2,)),
        Undo(entries=(1,)),
        Redo(entries=(1,)),
    )
    assert redo(folded, AUTHOR) == Redo(entries=(2,))
    assert redoable(folded, OTHER) == ()


def test_redo_ends_where_the_caller_recorded_something_else():
    folded = log(digest(0, 1), Undo(entries=(1,)), snip(2, 3))
    assert refused(redo, folded, AUTHOR) == ("nothing_to_redo", None)
    other = log(digest(0, 1), Undo(entries=(1,)), by(OTHER, snip(2, 3)))
    assert redoable(other, AUTHOR) == (1,)


def test_undo_of_what_another_needs_is_refused_and_lists_it():
    tagged = by(OTHER, Tag(targets=("m0", "o1.0"), tags=("a",)))
    behind = by(OTHER, insert("o1.0"))
    folded = log(insert("m0"), tagged, behind)
    assert refused(undo, folded, AUTHOR) == ("needed", ["o2", "o3"])


@pytest.mark.parametrize(
    "dependent",
    [
        insert("o1"),
        insert("o1.0"),
        Replace(spans=(span("o1.0", 0, 1, "s"),)),
    ],
)
def test_what_hangs_on_a_fold_needs_it(dependent):
    assert refused(undo, log(digest(0, 1), by(OTHER, dependent)), AUTHOR) == (
        "needed",
        ["o2"],
    )


def test_undo_is_not_refused_for_what_is_ones_own_or_taken_back():
    assert undoable(log(insert("m0"), insert("o1.0")), AUTHOR) == (2,)
    folded = log(
        insert("m0"), by(OTHER, insert("o1.0")), by(OTHER, Revert(operations=("o2",)))
    )
    assert undo(folded, AUTHOR) == Undo(entries=(1,))


def test_undo_of_an_amendment_is_refused_where_another_needs_the_words():
    words = Amend(operation="o1", edit=insert("m0", "one", "two"))
    folded = log(insert("m0"), words, by(OTHER, insert("o1.1")))
    assert refused(undo, folded, AUTHOR) == ("needed", ["o3"])


def test_undo_of_a_restoring_is_refused_where_another_needs_it():
    folded = log(
        by(OTHER, insert("m0")),
        by(OTHER, Revert(operations=("o1",))),
        Toggle(operations=("o1",), active=True),
        by(OTHER, insert("o1.0")),
    )
    assert refused(undo, folded, AUTHOR) == ("needed", ["o4"])


def first_and_second_change():
    return [
        Replace(spans=(span("m0", 0, 4),)),
        Revert(operations=("o1",)),
        by(OTHER, Replace(spans=(span("m0", 2, 6),))),
    ]


def test_restoring_a_change_of_text_that_another_changes_is_refused():
    folded = log(*first_and_second_change())
    on = Toggle(operations=("o1",), active=True)
    assert refused(effective_control, folded, on) == ("overlap", ["o3"])
    assert refused(undo, folded, AUTHOR) == ("overlap", ["o3"])


def test_a_change_of_text_that_was_taken_back_is_in_nobody_s_way():
    gone = by(OTHER, Revert(operations=("o3",)))
    folded = log(*first_and_second_change(), gone)
    on = Toggle(operations=("o1",), active=True)
    assert effective_control(folded, on) == on


def test_redoing_a_change_of_text_that_another_changes_is_refused():
    first, _, second = first_and_second_change()
    folded = log(first, Undo(entries=(1,)), second)
    assert refused(redo, folded, AUTHOR) == ("overlap", ["o3"])


def test_a_control_is_recorded_with_what_it_changes():
    folded = log(digest(0, 1), snip(2, 3), Toggle(operations=("o2",), active=False))
    off = Toggle(operations=("o1", "o2", "o1"), active=False)
    assert effective_control(folded, off) == Toggle(operations=("o1",), active=False)
    assert effective_control(folded, Toggle(operations=("o2",), active=False)) is None
    assert effective_control(folded, Revert(operations=("o2", "o1"))) == Revert(
        operations=("o2", "o1")
    )


def test_a_second_revert_and_switching_off_what_is_reverted_need_no_entry():
    folded = log(digest(0, 1), Revert(operations=("o1",)))
    assert effective_control(folded, Revert(operations=("o1",))) is None
    assert effective_control(folded, Toggle(operations=("o1",), active=False)) is None
    on = Toggle(operations=("o1",), active=True)
    assert effective_control(folded, on) == on


@pytest.mark.parametrize("active", [True, False])
def test_a_proposal_is_not_switched(active):
    toggle = Toggle(operations=("o1",), active=active)
    assert refused(effective_control, log(proposal(digest(0, 1))), toggle) == (
        "is_proposed",
        ["o1"],
    )
    rejected = log(proposal(digest(0, 1)), Reject(operations=("o1",)))
    assert refused(effective_control, rejected, toggle) == ("is_rejected", ["o1"])


@pytest.mark.parametrize(
    ("since", "state", "way"),
    [
        ([], "on", "switch it off or revert it"),
        ([Toggle(operations=("o1",), active=False)], "off", "revert it"),
    ],
)
def test_a_late_rejection_says_what_those_who_may_edit_can_still_do(since, state, way):
    accept, reject = Accept(operations=("o1",)), Reject(operations=("o1",))
    accepted = log(proposal(digest(0, 1)), accept, *since)
    with pytest.raises(Conflict) as refusal:
        effective_control(accepted, reject)
    told = f"o1 is {state}: it can't be rejected, but whoever may edit can {way}."
    assert refusal.value.message == told


def test_reviewing():
    accept, reject = Accept(operations=("o1",)), Reject(operations=("o1",))
    waiting = log(proposal(digest(0, 1)))
    assert (effective_control(waiting, accept), effective_control(waiting, reject)) == (
        accept,
        reject,
    )
    accepted = log(proposal(digest(0, 1)), accept)
    assert effective_control(accepted, accept) is None
    assert refused(effective_control, accepted, reject) == ("is_on", ["o1"])
    rejected = log(proposal(digest(0, 1)), reject)
    assert (
        effective_control(rejected, accept),
        effective_control(rejected, reject),
    ) == (accept, None)
    reverted = log(proposal(digest(0, 1)), Revert(operations=("o1",)))
    assert refused(effective_control, reverted, accept) == ("is_reverted", ["o1"])
    assert refused(effective_control, reverted, reject) == ("is_reverted", ["o1"])


@pytest.mark.parametrize(
    "control",
    [
        Revert(operations=("o7",)),
        Toggle(operations=("o1", "m0"), active=True),
        Amend(operation="o7", edit=digest(0, 1)),
    ],
)
def test_a_control_of_what_is_not_in_the_log_is_not_found(control):
    with pytest.raises(NotFound):
        effective_control(log(digest(0, 1)), control)


def test_amending():
    folded = log(revise(0, 1))
    words = Amend(operation="o1", edit=revise(0, 1, "better"))
    assert effective_control(folded, words) == words
    assert effective_control(folded, Amend(operation="o1", edit=revise(0, 1))) is None
    assert (
        refused(effective_control, folded, Amend(operation="o1", edit=revise(0, 2)))[0]
        == "retargets"
    )
    gone = log(revise(0, 1), Revert(operations=("o1",)))
    assert refused(effective_control, gone, words) == ("is_reverted", ["o1"])
    spans = Replace(spans=(span("m0", 0, 2),))
    others = Amend(operation="o1", edit=Replace(spans=(span("m0", 0, 3),)))
    assert refused(effective_control, log(spans), others)[0] == "retargets"


def test_settling_tags_purges_and_undos():
    folded = log(ActivateTags(tags=("a",)), Purge(targets=("m0",)))
    assert effective_control(folded, ActivateTags(tags=("a", "a"))) is None
    assert effective_control(folded, ActivateTags(tags=())) == ActivateTags(tags=())
    assert effective_control(folded, Purge(targets=("m0",))) is None
    assert effective_control(folded, Purge(targets=("m0", "m1", "m1"))) == Purge(
        targets=("m1",)
    )
    assert effective_control(folded, Undo(entries=(1,))) == Undo(entries=(1,))


def test_a_made_message_is_named_by_its_operation():
    assert log(insert("m0", "words")).edits[1].edit.messages == (new("words"),)


def test_what_is_staged_is_named_by_who_staged_it():
    mine = proposal(snip(0, 1))._replace(staged=True)
    theirs = proposal(snip(2, 3), OTHER)._replace(staged=True)
    made = log(mine, theirs, proposal(snip(4, 5)))
    assert staged(made, AUTHOR) == (1,)
    assert staged(made, OTHER) == (2,)


def staged_one(edit, actor=AUTHOR):
    return proposal(edit, actor)._replace(staged=True, bundle="drafts")


def test_others_are_told_apart_from_who_staged_and_what_waits_from_what_is_staged():
    made = log(
        staged_one(snip(0, 1)), staged_one(snip(2, 3), OTHER), proposal(snip(4, 5))
    )
    assert staged_by_others(made, ["o1", "o2", "o3", "o9"], AUTHOR) == (2,)
    assert staged_by_others(made, ["o1", "o2", "o3"], OTHER) == (1,)
    assert count_staged(made) == 2


MOVE = Resequence(order=("m2", "m0", "m1"), moved=("m2",))


def test_a_move_that_waits_is_found_by_all_that_it_moves():
    made = log(
        staged_one(MOVE),
        staged_one(MOVE, OTHER),
        staged_one(snip(3, 4)),
        proposal(MOVE),
    )
    assert waiting_moves(made, AUTHOR, ["m2", "m5"], is_staged=True) == (1,)
    assert waiting_moves(made, AUTHOR, ["m2", "m5"], is_staged=False) == (4,)
    assert waiting_moves(made, AUTHOR, ["m0"], is_staged=True) == ()


def test_undo_of_a_move_that_took_the_place_of_another_brings_that_back():
    instead = by(AUTHOR, Revert(operations=("o1",)), bundle="drafts")
    further = Resequence(order=("m2", "m0"), moved=("m2",))
    made = log(staged_one(MOVE), instead, staged_one(further))
    assert undo(made, AUTHOR) == Undo(entries=(2, 3))
    assert staged(made, AUTHOR) == (3,)
    back = log(staged_one(MOVE), instead, staged_one(further), Undo(entries=(2, 3)))
    assert staged(back, AUTHOR) == (1,)
    assert undo(back, AUTHOR) == Undo(entries=(1,))


BUNDLE = ("o1", "o2", "o3")


def decided(*controls):
    return log(*(proposal(snip(place, place)) for place in (1, 3, 5)), *controls)


def test_a_decision_on_a_bundle_leaves_what_was_decided_on_alone():
    made = decided(Accept(operations=("o1",)), Reject(operations=("o2",)))
    for control in (Accept, Reject):
        assert bundle_control(made, control(operations=BUNDLE)).operations == ("o3",)
    made = decided(Reject(operations=("o1", "o2")), Revert(operations=("o3",)))
    meant = bundle_control(made, Accept(operations=BUNDLE))
    assert meant.operations == ("o1", "o2")


def test_switching_a_bundle_leaves_what_waits_or_was_rejected():
    made = decided(Accept(operations=("o1",)), Reject(operations=("o2",)))
    off = bundle_control(made, Toggle(operations=BUNDLE, active=False))
    assert off == Toggle(operations=("o1",), active=False)
    assert bundle_control(made, Revert(operations=BUNDLE)).operations == BUNDLE


def test_switching_a_bundle_leaves_what_was_reverted_alone():
    made = decided(
        Accept(operations=BUNDLE),
        Revert(operations=("o1",)),
        Toggle(operations=("o2",), active=False),
    )
    on = Toggle(operations=BUNDLE, active=True)
    assert bundle_control(made, on).operations == ("o2", "o3")
    assert bundle_control(made, on, restores=True).operations == ("o1",)
    made = decided(Accept(operations=BUNDLE), Revert(operations=BUNDLE))
    assert bundle_control(made, on) == on


def test_a_control_that_means_none_of_a_bundle_is_left_as_it_is():
    all_of_it = Toggle(operations=BUNDLE, active=False)
    assert bundle_control(decided(), all_of_it) == all_of_it
    made = decided(Accept(operations=BUNDLE))
    assert bundle_control(made, Reject(operations=BUNDLE)).operations == BUNDLE
