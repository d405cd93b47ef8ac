"""Which group each node goes with, also where a client went back to an earlier question."""

from operations.domain.context.places import joined_groups
from operations.domain.context.policy import Policy
from operations.domain.log.entry import CLIENT, Entry
from operations.domain.log.operation import Operation
from tests.operations.support.builders import by, digest, insert, revise, snip

from .assembled import assembled, thread_of


def windowed(*operations: Operation | Entry) -> list[str]:
    """What a window of one group keeps of three groups of two messages."""
    policy = Policy(preset="custom", window=1)
    found = assembled(thread_of(3, *operations), policy)
    return [message.key for message in found.messages]


def test_a_new_answer_goes_with_the_question_that_its_client_went_back_to() -> None:
    back = by(CLIENT, snip(2, 5))
    assert windowed(back) == ["m1", "m6"]
    assert joined_groups(thread_of(3, back)) == {2: 1, 3: 1}


def test_who_goes_back_twice_stays_with_the_first_question() -> None:
    assert windowed(by(CLIENT, snip(2, 3)), by(CLIENT, snip(5, 5))) == [
        "m1",
        "m4",
        "m6",
    ]


def test_the_question_may_stand_in_a_fold_or_before_an_insert() -> None:
    back = by(CLIENT, snip(3, 5))
    assert windowed(digest(1, 2), back) == ["o1.0", "m6"]
    assert windowed(insert("m2", "a note"), back) == ["m1", "m2", "o1.0", "m6"]


def test_a_snip_of_others_and_a_clients_other_edits_leave_the_groups_as_they_are() -> (
    None
):
    assert windowed(snip(2, 5)) == ["m6"]
    assert windowed(by(CLIENT, revise(2, 5, "so far"))) == ["o1.0", "m6"]


def test_where_the_start_was_cut_off_the_groups_stay_as_they_are() -> None:
    assert joined_groups(thread_of(3, by(CLIENT, snip(1, 1)))) == {}
    assert joined_groups(thread_of(3, by(CLIENT, snip(0, 3)))) == {}
