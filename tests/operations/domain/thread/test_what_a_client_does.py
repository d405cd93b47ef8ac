"""What a client does to its own messages acts first: others find what it still sends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operations.domain.log.entry import CLIENT, Entry
from operations.domain.log.history import undo
from operations.domain.log.log import Log
from operations.domain.log.operation import (
    Digest,
    Edit,
    Insert,
    Operation,
    Redact,
    Resequence,
    Revert,
    Snip,
    Tag,
    Toggle,
)
from operations.domain.thread.check import check
from operations.domain.thread.replay import replay, sent_keys
from operations.domain.thread.thread import Thread
from tests.operations.domain.forwarding.talk import Talk
from tests.operations.support.builders import (
    AUTHOR,
    by,
    digest,
    insert,
    keys,
    log,
    new,
    resequence,
    revise,
    snip,
    span,
    statuses,
    thread,
)

COUNT = 10


def made(*operations: Operation | Entry) -> Thread:
    return thread(COUNT, *operations)


def by_client(operation: Operation) -> Entry:
    return by(CLIENT, operation)


def shown(thread: Thread) -> list[str]:
    return [message.key for message in thread.effective()]


SPAN = span("m2", 0, 3)
ON_WHAT_IS_GONE: list[Edit] = [
    digest(1, 3),
    snip(2, 2),
    revise(0, 3),
    Tag(targets=("m1",), tags=("a",)),
    resequence("m3", "m1"),
    insert("m2", "between"),
    Redact(spans=(SPAN,)),
]


@pytest.mark.parametrize("edit", ON_WHAT_IS_GONE, ids=lambda edit: edit.kind)
def test_an_operation_on_what_the_client_left_out_is_suspended_and_resumes(edit):
    done = [edit, by_client(snip(0, 4))]
    found = made(*done)
    assert statuses(found) == ["suspended", "applied"]
    assert found.report(1).reason.startswith("The client no longer sends")
    assert shown(found) == [*keys(5, 9)]
    resumed = made(*done, by_client(Revert(operations=("o2",))))
    assert shown(resumed) == shown(made(edit))
    assert statuses(resumed)[0] == "applied"


def test_one_with_some_of_its_messages_acts_on_those():
    found = made(digest(2, 6), by_client(snip(0, 4)))
    assert statuses(found) == ["applied", "applied"]
    assert shown(found) == ["o1.0", *keys(7, 9)]
    assert found.child_keys("o1") == ["m5", "m6"]


def test_what_hangs_on_a_suspended_operation_is_suspended_with_it():
    found = made(
        insert("m2", "between"),
        Tag(targets=("o1.0",), tags=("a",)),
        digest(1, 3),
        insert("o3", "behind"),
        by_client(snip(0, 4)),
    )
    assert statuses(found) == ["suspended"] * 4 + ["applied"]
    assert found.report(2).reason == "It acts on messages of o1, which is suspended."


def test_what_was_recorded_before_never_takes_in_what_stands_there_instead():
    """A snip of all that the client summed up must not take its summary with it."""
    found = made(snip(0, 6), by_client(revise(0, 4, "summary")))
    assert shown(found) == ["o2.0", *keys(7, 9)]


@pytest.mark.parametrize(
    "edit",
    [Snip(targets=keys(0, 6)), Digest(targets=keys(0, 6), messages=(new(),))],
    ids=lambda edit: edit.kind,
)
def test_what_is_recorded_later_and_names_all_of_it_acts_on_what_stands_there(edit):
    found = made(by_client(revise(0, 4, "summary")), edit)
    assert statuses(found) == ["applied", "applied"]
    assert found.child_keys("o2") == ["o1", "m5", "m6"]
    assert (
        statuses(made(by_client(revise(0, 4, "summary")), snip(1, 3)))[1] == "suspended"
    )


def test_the_messages_behind_a_clients_fold_can_be_found_and_opened():
    found = made(by_client(snip(0, 4)))
    assert found.child_keys("o1") == [*keys(0, 4)]
    assert found.path("m2") == ["o1"]


def test_text_of_what_stands_in_place_of_messages_can_be_changed():
    covered = span("o1.0", 0, 7, "summary")
    found = made(by_client(revise(0, 4, "summary")), Redact(spans=(covered,)))
    assert statuses(found) == ["applied", "applied"]


def test_an_operation_on_what_is_gone_may_be_recorded_and_is_warned_of():
    found = made(by_client(snip(0, 4)))
    (warning,) = check(found, [digest(1, 3)]).warnings
    assert warning.code == "suspended"


def test_nobodys_undo_takes_what_a_client_did():
    both = log(snip(8, 8), by_client(snip(0, 4)))
    assert undo(both, AUTHOR).entries == (1,)


def test_what_a_client_did_that_is_switched_off_holds_nothing_back():
    found = made(
        by_client(snip(0, 4)), digest(1, 3), Toggle(operations=("o1",), active=False)
    )
    assert statuses(found) == ["off", "applied"]


def test_what_the_client_sent_last_can_be_told():
    client = log(
        digest(6, 7),
        by_client(revise(0, 4, "summary", "and more")),
        by_client(Insert(after="m8", messages=(new(), new()))),
        resequence("m9", "m5"),
    )
    sent = ["o2.0", "o2.1", "m5", "m6", "m7", "m8", "o3.0", "o3.1", "m9"]
    assert sent_keys(COUNT, client) == sent
    assert sent_keys(COUNT, Log()) == [*keys(0, 9)]


EDITS = st.one_of(
    st.tuples(st.integers(0, 9), st.integers(0, 9)).map(
        lambda ends: snip(min(ends), max(ends))
    ),
    st.tuples(st.integers(0, 9), st.integers(0, 9)).map(
        lambda ends: digest(min(ends), max(ends))
    ),
    st.integers(0, 9).map(lambda at: insert(f"m{at}")),
    st.permutations([*keys(0, 9)]).map(
        lambda order: Resequence(order=tuple(order[:4]))
    ),
    st.integers(0, 9).map(lambda at: Tag(targets=(f"m{at}",), tags=("a",))),
)


@given(
    st.lists(EDITS, max_size=6),
    st.tuples(st.integers(0, 9), st.integers(0, 9)).map(sorted),
)
def test_the_others_read_as_if_the_rest_were_all_there_is(edits, ends):
    """What a client leaves out is to everybody else as if it had never been said."""
    first, last = ends
    gone = set(keys(first, last))
    found = made(by_client(snip(first, last)), *edits)
    assert gone.isdisjoint(shown(found))
    for report in found.reports[1:]:
        if report.status == "suspended":
            names = set(_named(found, report.number))
            assert not names - gone or any(key.startswith("o") for key in names)
    back = made(
        by_client(snip(first, last)), *edits, by_client(Revert(operations=("o1",)))
    )
    assert "suspended" not in statuses(back)


def _named(thread: Thread, number: int) -> tuple[str, ...]:
    edit = thread.log.edits[number].edit
    if isinstance(edit, Insert):
        return (edit.after,) if edit.after else ()
    return edit.order if isinstance(edit, Resequence) else edit.targets  # type: ignore[union-attr]


def test_the_tokens_that_a_client_sends_are_those_of_its_own_edits() -> None:
    talk = Talk()
    talk.send("s1", "u1", "a1", "u2", "a2", "u3")
    assert replay(talk.leaves, talk.log).tokens_sent == 6
    talk.send("s1", "u2", "a2", "u3")
    assert replay(talk.leaves, talk.log).tokens_sent == 4
    for left in (["a2", "u3"], ["u3"]):  # a snip beside the first, then one around both
        talk.send("s1", *left)
        assert replay(talk.leaves, talk.log).tokens_sent == 1 + len(left)
    assert talk.log.head == 3
