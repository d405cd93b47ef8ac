"""Going back to an earlier point of a log: what restores a snapshot."""

from hypothesis import given
from hypothesis import strategies as st

from operations.domain.log.entry import CLIENT, EditState, Entry
from operations.domain.log.going_back import (
    Keep,
    controls_back,
    is_redaction,
    is_redaction_or_clients,
    with_controls,
)
from operations.domain.log.log import Log, fold
from operations.domain.log.operation import (
    Accept,
    ActivateTags,
    Amend,
    Digest,
    Purge,
    Redact,
    Revert,
    Toggle,
    Undo,
)
from operations.domain.thread.replay import replay
from operations.domain.tree.leaf import Leaf
from tests.operations.support.builders import (
    by,
    digest,
    log,
    new,
    proposal,
    shape,
    snip,
    span,
    thread,
)
from tests.operations.support.strategies import sessions


def no_edit(_recorded: object) -> bool:
    return False


def states(folded: Log) -> list[str]:
    return [one.state.value for one in folded.edits.values()]


def back(folded: Log, head: int, keep: Keep = no_edit) -> Log:
    then = fold(folded.entries[:head])
    return with_controls(folded, controls_back(folded, then, keep))


@given(sessions(), st.data())
def test_the_thread_is_shown_as_it_was(
    given_session: tuple[list[Leaf], list[Entry]], data: st.DataObject
) -> None:
    leaves, entries = given_session
    folded, head = fold(entries), data.draw(st.integers(0, len(entries)))
    purge = Entry(head + 1, Purge(targets=tuple(folded.purged)), "")  # for good
    before = replay(leaves, fold([*entries[:head], purge]))
    after = replay(leaves, back(folded, head))
    assert shape(after) == shape(before)
    assert list(after.effective()) == list(before.effective())
    assert after.tokens == before.tokens
    assert after.active_tags == before.active_tags


@given(sessions(), st.data())
def test_who_is_back_needs_to_go_no_further(
    given_session: tuple[list[Leaf], list[Entry]], data: st.DataObject
) -> None:
    folded = fold(given_session[1])
    head = data.draw(st.integers(0, folded.head))
    for keep in (no_edit, is_redaction, is_redaction_or_clients):
        then = fold(folded.entries[:head])
        assert controls_back(back(folded, head, keep), then, keep) == []


def test_at_the_head_there_is_nothing_to_go_back_to():
    folded = log(digest(0, 1), Toggle(operations=("o1",), active=False))
    assert controls_back(folded, folded, no_edit) == []


def test_what_came_since_is_reverted_and_what_was_switched_is_switched_back():
    folded = log(
        digest(0, 1),
        snip(2, 3),
        Toggle(operations=("o2",), active=False),
        snip(4, 5),
        Toggle(operations=("o1",), active=False),
        Toggle(operations=("o2",), active=True),
        snip(6, 7),
        Toggle(operations=("o7",), active=False),
    )
    assert controls_back(folded, fold(folded.entries[:3]), no_edit) == [
        Revert(operations=("o4", "o7")),
        Toggle(operations=("o2",), active=False),
        Toggle(operations=("o1",), active=True),
    ]


def test_what_was_reverted_since_comes_back_and_what_was_reverted_then_goes():
    folded = log(
        digest(0, 1),
        snip(2, 3),
        Revert(operations=("o1",)),
        Toggle(operations=("o1",), active=True),
        Revert(operations=("o2",)),
    )
    assert states(back(folded, 3)) == ["reverted", "on"]


def test_words_are_those_of_then():
    folded = log(
        digest(0, 1),
        Amend(
            operation="o1", edit=Digest(targets=("m0", "m1"), messages=(new("later"),))
        ),
    )
    words = back(folded, 1).edits[1].edit
    assert isinstance(words, Digest)
    assert words.messages == digest(0, 1).messages


def test_what_was_accepted_then_is_accepted_again_and_what_waits_goes_on_waiting():
    folded = log(
        proposal(snip(0, 1)),
        Accept(operations=("o1",)),
        Undo(entries=(2,)),
        proposal(snip(2, 3)),
    )
    then = fold(folded.entries[:2])
    assert controls_back(folded, then, no_edit)[-1] == Accept(operations=("o1",))
    assert states(back(folded, 2)) == ["on", "proposed"]


def test_what_waited_then_does_not_apply():
    folded = log(proposal(snip(0, 1)), Accept(operations=("o1",)))
    assert states(back(folded, 1)) == ["off"]


def test_active_tags_are_those_of_then():
    folded = log(
        ActivateTags(tags=("b", "a")), ActivateTags(tags=("c",)), Undo(entries=(2,))
    )
    assert controls_back(folded, fold(folded.entries[:1]), no_edit) == []
    assert back(folded, 0).active_tags == frozenset()
    assert back(folded, 2).active_tags == {"c"}


def test_redactions_and_what_clients_did_stay():
    folded = log(
        digest(0, 1),
        Redact(spans=(span("m3", 0, 2),)),
        by(CLIENT, snip(2, 2)),
        Toggle(operations=("o1",), active=False),
    )
    assert states(back(folded, 1, is_redaction)) == ["on", "on", "reverted"]
    assert states(back(folded, 1, is_redaction_or_clients)) == ["on", "on", "on"]


def test_one_undo_of_the_controls_brings_all_of_it_forth_again():
    folded = log(digest(0, 1), snip(2, 3), Toggle(operations=("o1",), active=False))
    there = back(folded, 1)
    numbers = tuple(range(folded.head + 1, there.head + 1))
    undone = there.extended([Entry(there.head + 1, Undo(entries=numbers), "")])
    assert states(undone) == states(folded)
    assert EditState.ON in {one.state for one in undone.edits.values()}
    assert thread(4, *undone.entries).keys == thread(4, *folded.entries).keys
