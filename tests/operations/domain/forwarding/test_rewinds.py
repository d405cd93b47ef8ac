"""What a log says of messages that a conversation left is what it left, however often it goes."""

from hypothesis import given
from hypothesis import strategies as st

from operations.domain.forwarding.rewinds import TITLE, LeftMessages, left_messages
from operations.domain.log.entry import CLIENT, EditState, Entry
from operations.domain.log.log import Log
from operations.domain.log.operation import Revert, Snip, Toggle
from operations.domain.thread.replay import sent_keys
from tests.operations.support.builders import AUTHOR

COUNT = 12


def runs_of(indexes: set[int]) -> list[range]:
    starts = sorted(index for index in indexes if index - 1 not in indexes)
    ends = sorted(index for index in indexes if index + 1 not in indexes)
    return [range(start, end + 1) for start, end in zip(starts, ends, strict=True)]


def follow(log: Log, left: set[int]) -> tuple[Log, LeftMessages]:
    """The log after the entries that say what was left, all of them an import's."""
    own = {entry.number for entry in log.entries_by(CLIENT)}
    found = left_messages(log, runs_of(left), own)
    numbered = enumerate(found.operations, start=log.head + 1)
    return log.extended(Entry(n, one, CLIENT) for n, one in numbered), found


def shown(log: Log) -> set[int]:
    return {int(key[1:]) for key in sent_keys(COUNT, log)}


@given(st.lists(st.sets(st.integers(0, COUNT - 1)), max_size=8))
def test_the_thread_is_without_what_was_left_and_nothing_else(
    courses: list[set[int]],
) -> None:
    log, before = Log(), set[int]()
    for left in courses:
        log, found = follow(log, left)
        assert shown(log) == {*range(COUNT)} - left
        assert {i for run in found.left for i in run} == left - before
        assert {i for run in found.shown for i in run} == before - left
        assert follow(log, left)[1].operations == []
        before = left


def test_what_was_left_before_is_restored_as_it_was() -> None:
    log, found = follow(Log(), {4, 5})
    assert found.titles == [TITLE]
    log, _ = follow(log, {6, 7})
    log, found = follow(log, {4, 5})

    kinds = [type(one) for one in found.operations]
    assert kinds == [Revert, Toggle]
    assert found.titles == ["", ""]


def test_what_a_person_switched_off_stays_off() -> None:
    log, _ = follow(Log(), {4, 5})
    off = Toggle(operations=("o1",), active=False)
    log = log.extended([Entry(2, off, AUTHOR)])
    log, found = follow(log, {4, 5})

    assert (found.operations, found.left) == ([], [])
    log, found = follow(log, {4, 5, 6})
    assert found.left == [range(4, 7)]  # more was left since


def test_what_a_client_itself_left_out_stays_so() -> None:
    log = Log().extended([Entry(1, Snip(targets=("m0",)), CLIENT)])
    found = left_messages(log, [], frozenset())

    assert found.operations == []
    assert log.edits[1].state is EditState.ON
