"""A thread that is made of an earlier one is the thread that is made from nothing."""

from hypothesis import given, settings
from hypothesis import strategies as st

from operations.domain.log.entry import CLIENT, Entry
from operations.domain.log.log import Log, fold
from operations.domain.thread.difference import status_changes
from operations.domain.thread.node import FoldNode
from operations.domain.thread.replay import replay
from operations.domain.thread.thread import Thread
from operations.domain.tree.leaf import Leaf
from operations.domain.tree.status import WITHDRAWN
from tests.operations.support.builders import AUTHOR, digest, originals, snip
from tests.operations.support.strategies import active_tags, sessions


def everything(thread: Thread) -> dict[str, object]:
    """All that a thread answers."""
    keys = [key for top in thread.keys for key in all_keys(thread, top)]
    return {
        "nodes": [(key, thread.node(key), thread.path(key)) for key in keys],
        "tags": [thread.tags(key) for key in keys],
        "spans": [thread.spans(key) for key in keys],
        "moved_by": [thread.moved_by(key) for key in keys],
        "standing": list(thread.shown_nodes()),
        "operations": thread.reports,
        "statuses": +thread.status_counts,
        "marked": thread.marked_edits,
        "withdrawn": list(thread.newest_edits(WITHDRAWN)),
        "shaping": sorted(thread.structural_edits),
        "inserted": sorted(thread.inserted_keys),
        "tokens": thread.tokens,
        "folds": thread.folds,
        "annotated": thread.annotated_keys,
        "moved": thread.moves,
        "marks": thread.marks,
        "active_tags": thread.active_tags,
        "ranges": [
            thread.resolve_range(index, thread.message_count - 1)
            for index in range(thread.message_count)
        ],
    }


def all_keys(thread: Thread, key: str) -> list[str]:
    if not isinstance(thread.node(key), FoldNode):
        return [key]
    inner = [k for child in thread.child_keys(key) for k in all_keys(thread, child)]
    return [key, *inner]


@st.composite
def with_a_client(draw: st.DrawFn) -> tuple[list[Leaf], list[Entry]]:
    """A session of which a client may have made some entries."""
    leaves, entries = draw(sessions(malformed=True))
    by_client = draw(st.sets(st.integers(0, max(0, len(entries) - 1)), max_size=2))
    return leaves, [
        entry._replace(actor=CLIENT) if place in by_client else entry
        for place, entry in enumerate(entries)
    ]


@settings(max_examples=100)
@given(with_a_client(), active_tags, active_tags, st.data())
def test_entries_and_originals_one_by_one_make_the_same_thread(session, one, two, data):
    leaves, entries = session
    log, thread = Log(), replay([], Log(), one)
    count = 0
    for number, entry in enumerate(entries, start=1):
        log = log.extended([entry])
        count = data.draw(st.integers(count, len(leaves)), label="originals")
        tags = one if data.draw(st.booleans(), label="the same tags") else two
        thread = replay(leaves[:count], log, tags, known=thread)
        alone = replay(leaves[:count], fold(entries[:number]), tags)
        assert everything(thread) == everything(alone)
    assert everything(replay(leaves, log, two, known=thread)) == everything(
        replay(leaves, fold(entries), two)
    )


@settings(max_examples=100)
@given(with_a_client(), st.data())
def test_a_thread_is_made_of_any_other_version_of_it(session, data):
    """Of an earlier one, a later one, one under other tags, one that was only tried."""
    leaves, entries = session
    log = fold(entries)

    def version() -> Thread:
        head = data.draw(st.integers(0, len(entries)), label="head")
        numbers = st.sets(st.sampled_from(range(1, head + 1)), max_size=3)
        return replay(
            leaves[: data.draw(st.integers(0, len(leaves)), label="originals")],
            Log().extended(log.entries[:head]),
            data.draw(active_tags, label="tags"),
            assume=data.draw(numbers, label="assumed") if head else set(),
            known=known,
        )

    known: Thread | None = None
    for _ in range(4):
        known = version()
        assert everything(known) == everything(
            replay(
                leaves[: known.message_count],
                fold(known.log.entries),
                known.active_tags,
                assume=known.playback.assumed,
            )
        )


@settings(max_examples=100)
@given(with_a_client(), st.data())
def test_what_fares_otherwise_is_found_among_what_was_played_again(session, data):
    leaves, entries = session
    start = data.draw(st.integers(0, len(entries)))
    log = fold(entries[:start])
    before = thread = replay(leaves, log)
    for entry in entries[start:]:
        log = log.extended([entry])
        thread = replay(leaves, log, known=thread)
    alone = replay(leaves, fold(entries))
    assert status_changes(before, thread) == status_changes(before, alone)


def test_of_two_courses_of_one_log_each_makes_its_own_thread():
    """One of them was tried, and another was recorded meanwhile."""
    leaves, first = originals(8), Entry(1, snip(0, 1), AUTHOR)
    tried = Log().extended([first, Entry(2, digest(2, 3), AUTHOR)])
    recorded = Log().extended([first, Entry(2, digest(3, 5), AUTHOR)])
    thread = replay(leaves, recorded, known=replay(leaves, tried))
    assert everything(thread) == everything(replay(leaves, recorded))


def test_originals_at_the_end_leave_nothing_of_the_thread_before_them():
    """A loop adds some with each turn: what is kept of it would grow with their square."""
    entries = [Entry(1, snip(0, 1), AUTHOR), Entry(2, digest(2, 3), AUTHOR)]
    log, leaves = Log().extended(entries), originals(60)
    first = thread = replay(leaves[:8], log)
    for count in range(9, 61):
        thread = replay(leaves[:count], log, known=thread)
    assert len(thread.playback.stages) == len(first.playback.stages)
    assert everything(thread) == everything(replay(leaves, fold(entries)))
