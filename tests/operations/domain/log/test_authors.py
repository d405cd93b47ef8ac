"""Who recorded what, and switching all edits of one author off and back on."""

from hypothesis import given
from hypothesis import strategies as st

from operations.domain.log.authors import switch_of
from operations.domain.log.entry import EditCounts, EditState, Entry
from operations.domain.log.log import Log
from operations.domain.log.operation import Revert, Snip, Toggle, Undo
from tests.operations.support.builders import (
    AUTHOR,
    OTHER,
    by,
    digest,
    log,
    proposal,
    snip,
)


def states(folded: Log) -> dict[int, EditState]:
    return {number: one.state for number, one in folded.edits.items()}


def test_the_edits_of_each_are_counted_by_what_became_of_them():
    folded = log(
        digest(0, 1),
        by(OTHER, snip(2, 3)),
        proposal(snip(4, 5)),
        snip(6, 7),
        Toggle(operations=("o4",), active=False),
        by(OTHER, snip(8, 9)),
        Revert(operations=("o6",)),
    )
    standing = {AUTHOR: EditCounts(1, 1, 1), OTHER: EditCounts(1, 0, 0)}
    assert folded.counts_by_actor == standing
    assert list(folded.counts_by_actor) == list(standing)
    undone = folded.extended([Entry(8, Undo(entries=(7,)), OTHER)])
    assert undone.counts_by_actor == {**standing, OTHER: EditCounts(2, 0, 0)}
    assert folded.counts_by_actor == standing


def test_off_names_what_is_on_and_nothing_of_others():
    folded = log(digest(0, 1), by(OTHER, snip(2, 3)), proposal(snip(4, 5)))
    assert switch_of(folded, AUTHOR, active=False) == Toggle(
        operations=("o1",), active=False, actor=AUTHOR
    )
    assert switch_of(folded, "nobody", active=False).operations == ()


def test_on_brings_back_what_was_on_and_not_what_was_off_already():
    folded = log(
        digest(0, 1), snip(4, 5), Toggle(operations=("o2",), active=False), snip(6, 7)
    )
    off = switch_of(folded, AUTHOR, active=False)
    assert off.operations == ("o1", "o4")
    assert (
        switch_of(log_with(folded, off), AUTHOR, active=True).operations
        == off.operations
    )


def test_on_means_all_that_is_off_where_no_switch_of_all_is_in_force():
    folded = log(digest(0, 1), Toggle(operations=("o1",), active=False))
    assert switch_of(folded, AUTHOR, active=True).operations == ("o1",)
    undone = log(
        digest(0, 1),
        snip(4, 5),
        Toggle(operations=("o1",), active=False),
        Toggle(operations=("o2",), active=False, actor=AUTHOR),
        Undo(entries=(4,)),
    )
    assert switch_of(undone, AUTHOR, active=True).operations == ("o1",)


def by_author(edit: Snip, actor: str) -> Entry:
    return by(actor, edit)


def log_with(folded: Log, control: Toggle) -> Log:
    return folded.extended([Entry(folded.head + 1, control, OTHER)])


@given(
    st.lists(
        st.tuples(st.sampled_from([AUTHOR, OTHER]), st.booleans(), st.booleans()),
        min_size=1,
        max_size=8,
    )
)
def test_off_and_on_again_is_as_before(made: list[tuple[str, bool, bool]]):
    entries = [
        (proposal if proposed else by_author)(snip(place, place), who)
        for place, (who, proposed, _) in enumerate(made)
    ]
    single = [
        Toggle(operations=(f"o{place + 1}",), active=False)
        for place, (_, proposed, off) in enumerate(made)
        if off and not proposed
    ]
    before = log(*entries, *single)
    off = switch_of(before, AUTHOR, active=False)
    if not off.operations:
        return
    middle = log_with(before, off)
    assert not middle.counts_by_actor[AUTHOR].on
    assert {n: s for n, s in states(middle).items() if made[n - 1][0] == OTHER} == {
        n: s for n, s in states(before).items() if made[n - 1][0] == OTHER
    }
    after = log_with(middle, switch_of(middle, AUTHOR, active=True))
    assert states(after) == states(before)
