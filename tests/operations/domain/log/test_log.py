"""How a log folds: the state of edits, their words, undo and redo."""

import pytest

from operations.domain.log.entry import EditState
from operations.domain.log.operation import (
    Accept,
    Amend,
    Digest,
    Insert,
    Purge,
    Redo,
    Reject,
    Revert,
    Revise,
    Toggle,
    Undo,
)
from tests.operations.support.builders import (
    digest,
    insert,
    keys,
    log,
    new,
    proposal,
    revise,
)

ON, OFF = (Toggle(operations=("o1",), active=active) for active in (True, False))
REVERT, ACCEPT, REJECT = (
    control(operations=("o1",)) for control in (Revert, Accept, Reject)
)
UNDO, REDO = Undo(entries=(1,)), Redo(entries=(1,))


@pytest.mark.parametrize(
    ("controls", "state"),
    [
        ((), "on"),
        ((OFF,), "off"),
        ((OFF, ON), "on"),
        ((REVERT,), "reverted"),
        ((REVERT, ON), "on"),
        ((OFF, REVERT, ON), "on"),
        ((REVERT, OFF), "reverted"),
        ((UNDO,), "reverted"),
        ((UNDO, ON), "on"),
        ((UNDO, REDO), "on"),
        ((OFF, UNDO, REDO), "off"),
        ((OFF, Undo(entries=(2,))), "on"),
        ((OFF, Undo(entries=(2,)), Redo(entries=(2,))), "off"),
        ((REVERT, Undo(entries=(2,))), "on"),
        ((UNDO, ON, Undo(entries=(3,))), "reverted"),
        ((REDO,), "on"),
        ((ACCEPT,), "on"),
        ((REJECT,), "on"),
    ],
)
def test_the_state_of_an_edit_is_folded_from_the_controls_after_it(controls, state):
    assert log(digest(0, 1), *controls).edits[1].state == state


@pytest.mark.parametrize(
    ("controls", "state"),
    [
        ((), "proposed"),
        ((ON,), "proposed"),
        ((OFF,), "proposed"),
        ((ACCEPT,), "on"),
        ((REJECT,), "rejected"),
        ((REJECT, ON), "rejected"),
        ((REJECT, ACCEPT), "on"),
        ((ACCEPT, REJECT), "on"),
        ((REVERT,), "reverted"),
        ((REVERT, ACCEPT), "reverted"),
        ((REVERT, REJECT), "reverted"),
        ((REVERT, ON), "proposed"),
        ((ACCEPT, REVERT, ON), "on"),
        ((ACCEPT, Undo(entries=(2,))), "proposed"),
        ((UNDO,), "reverted"),
    ],
)
def test_a_proposal_waits_until_it_is_accepted(controls, state):
    assert log(proposal(digest(0, 1)), *controls).edits[1].state == state


def test_the_newest_amendment_in_force_gives_words_and_condition():
    words = [
        Amend(operation="o1", edit=Digest(targets=keys(0, 1), messages=(new(text),)))
        for text in ("second", "third")
    ]
    amended = log(digest(0, 1), *words)
    assert amended.edits[1].edit == words[1].edit
    assert amended.edits[1].entry.operation == digest(0, 1)
    assert log(digest(0, 1), *words, Undo(entries=(3,))).edits[1].edit == words[0].edit


@pytest.mark.parametrize(
    "other",
    [
        digest(0, 2),
        revise(0, 1),
        Insert(after="m0", messages=(new(),)),
    ],
)
def test_an_amendment_with_other_targets_changes_nothing(other):
    amended = log(digest(0, 1), Amend(operation="o1", edit=other))
    assert amended.edits[1].edit == digest(0, 1)


def test_an_amended_insert_keeps_its_anchor():
    moved = Amend(operation="o1", edit=insert("m1", "words"))
    stays = Amend(operation="o1", edit=insert("m0", "words"))
    assert log(insert("m0"), moved).edits[1].edit == insert("m0")
    assert log(insert("m0"), stays).edits[1].edit == insert("m0", "words")


@pytest.mark.parametrize(
    "control",
    [
        Revert(operations=("o7", "m1", "nothing", "o2")),
        Amend(operation="o9", edit=digest(0, 1)),
        Undo(entries=(0, 2, 7, -1)),
        Redo(entries=(5,)),
    ],
)
def test_controls_that_name_nothing_change_nothing(control):
    assert log(digest(0, 1), control).edits[1].state is EditState.ON


def test_undos_redos_and_purges_are_not_undone():
    purge = Purge(targets=("m0",))
    assert log(purge, Undo(entries=(1,))).purged == {"m0"}
    assert (
        log(digest(0, 1), UNDO, Undo(entries=(2,))).edits[1].state is EditState.REVERTED
    )


def test_one_control_may_name_several_edits():
    both = Toggle(operations=("o1", "o2"), active=False)
    folded = log(digest(0, 1), digest(2, 3), both)
    assert [edit.state for edit in folded.edits.values()] == ["off", "off"]
    folded = log(digest(0, 1), digest(2, 3), both, Undo(entries=(3,)))
    assert [edit.state for edit in folded.edits.values()] == ["on", "on"]


def test_an_edit_is_found_by_its_key():
    folded = log(digest(0, 1), OFF)
    assert folded.edit("o1") is folded.edits[1]
    assert [folded.edit(key) for key in ("o2", "o1.0", "m0", "")] == [None] * 4


def test_an_empty_log_has_head_0():
    assert (log().head, log(digest(0, 1)).head) == (0, 1)


def test_withdrawn_edits_are_there_for_the_record_alone():
    assert log(digest(0, 1), REVERT).edits[1].is_withdrawn
    assert (
        log(proposal(Revise(targets=("m0",), messages=(new(),))), REJECT)
        .edits[1]
        .is_withdrawn
    )
    assert not log(digest(0, 1), OFF).edits[1].is_withdrawn


def test_the_controls_of_an_edit_are_those_in_force_and_its_undos():
    folded = log(digest(0, 1), OFF, ON, Undo(entries=(3,)), digest(4, 5), UNDO)
    assert [entry.number for entry in folded.controls(1)] == [2, 6]
    assert folded.controls(5) == []


def test_an_edit_was_last_changed_by_its_newest_control():
    found = log(digest(0, 1), digest(2, 3), OFF, Undo(entries=(2,)))
    assert (found.last_change(1), found.last_change(2)) == (3, 4)
