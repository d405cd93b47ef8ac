"""What an operation itself takes from the thread: one figure for toast, marker and drawer."""

from hypothesis import given

from operations.domain.ledger.saving import (
    SavedAt,
    fold_around,
    hidden_in,
    saved_at,
    saved_in_thread,
    spared,
)
from operations.domain.log.operation import Edit, Replace, Tag, Toggle
from operations.domain.tree.key import entry_key
from operations.domain.tree.status import Status
from tests.operations.domain.ledger.test_first_changes import COUNT, lying_apart
from tests.operations.support.builders import (
    digest,
    insert,
    new,
    proposal,
    revise,
    snip,
    span,
    thread,
)


@given(lying_apart())
def test_it_is_what_switching_the_operation_off_gives_back(edits: list[Edit]) -> None:
    whole = thread(COUNT, *edits)
    for number in whole.log.edits:
        off = Toggle(operations=(entry_key(number),), active=False)
        without = thread(COUNT, *edits, off)
        saved = without.tokens.effective - whole.tokens.effective
        assert saved_in_thread(whole, number) == saved
        assert saved_in_thread(without, number) == saved


def test_a_fold_takes_what_its_messages_show_not_what_they_were_recorded_with() -> None:
    change = Replace(spans=(span("m2", 0, 9, saved=4),))
    found = thread(6, change, revise(3, 4), snip(2, 4))
    before = thread(6, change, revise(3, 4))
    assert saved_in_thread(found, 3) == (
        before.tokens.effective - found.tokens.effective
    )


def test_a_replacement_takes_what_its_spans_save_in_each_message_that_is_shown() -> (
    None
):
    change = Replace(
        spans=(
            span("m1", 0, 9, saved=4),
            span("m1", 20, 29, saved=3),
            span("m5", 0, 9, saved=2),
        )
    )
    found = thread(6, change, snip(4, 5))
    assert list(saved_at(found, 1)) == [SavedAt("m1", 7)]
    assert saved_in_thread(found, 1) == 7
    assert saved_in_thread(thread(6, change), 1) == 9


def test_of_one_that_waits_it_is_what_it_alone_would_take() -> None:
    waits = proposal(snip(2, 4))
    found = thread(6, revise(3, 4), waits)
    applied = thread(6, revise(3, 4), snip(2, 4))
    saved = found.tokens.effective - applied.tokens.effective
    assert saved_in_thread(found, 2) == saved_in_thread(applied, 2) == saved


def test_what_the_model_is_spared_by_an_edit_inside_a_fold_is_nothing() -> None:
    found = thread(8, snip(3, 3), digest(4, 6))
    assert spared(found, snip(1, 2)) == 20
    assert spared(found, snip(3, 3)) == 0
    assert spared(found, snip(4, 5)) == 0
    assert spared(found, snip(4, 6)) == new().tokens


def test_inside_a_fold_it_is_what_is_taken_from_the_originals_there() -> None:
    found = thread(8, snip(3, 4), digest(2, 5))
    assert found.report(1).status is Status.APPLIED
    assert saved_in_thread(found, 1) == 20


def test_inserts_add_and_tags_take_nothing() -> None:
    found = thread(3, insert("m1", "new"), Tag(targets=("m1",), tags=("x",)))
    assert saved_in_thread(found, 1) == -new().tokens
    assert saved_in_thread(found, 2) == 0


def test_what_acts_on_messages_that_are_not_there_takes_and_adds_nothing() -> None:
    found = thread(3, insert("o9.0", "new"), digest(7, 8))
    assert found.report(1).status is found.report(2).status is Status.VOID
    assert saved_in_thread(found, 1) == saved_in_thread(found, 2) == 0


def test_targets_that_are_not_there_would_save_nothing() -> None:
    assert thread(3).tokens_shown(["o7.0"]) == 0
    assert thread(3).tokens_shown(["m1", "m1"]) == 10


def test_an_edit_is_inside_a_fold_that_holds_all_it_names() -> None:
    found = thread(9, snip(3, 4), digest(2, 5))
    assert fold_around(found, snip(3, 3)) == "o2"
    assert fold_around(found, insert("m4")) == "o2"
    assert fold_around(found, snip(2, 5)) is None  # it folds the digest
    assert fold_around(found, snip(5, 6)) is None
    assert fold_around(found, snip(7, 8)) is None
    assert fold_around(found, insert(None)) is None


def test_what_hides_an_edit_is_known_whether_it_applies_or_waits() -> None:
    applied = thread(9, snip(3, 4), digest(2, 5))
    assert hidden_in(applied, applied.report(1)) == "o2"
    assert hidden_in(applied, applied.report(2)) is None
    waits = thread(9, digest(2, 5), proposal(snip(3, 4)), proposal(snip(7, 8)))
    assert hidden_in(waits, waits.report(2)) == "o1"
    assert hidden_in(waits, waits.report(3)) is None
