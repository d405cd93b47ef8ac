"""What must hold for every log as properties."""

from collections import Counter
from itertools import islice

from hypothesis import assume, given
from hypothesis import strategies as st

from operations.domain.log.entry import EditState, Entry
from operations.domain.log.history import undoable
from operations.domain.log.log import fold
from operations.domain.log.operation import (
    Digest,
    Fold,
    Insert,
    Redact,
    Redo,
    Resequence,
    Revert,
    Revise,
    Toggle,
    Undo,
)
from operations.domain.thread.replay import replay
from operations.domain.tree.key import entry_key, original_key
from operations.domain.tree.status import MARKED, WITHDRAWN, Status
from tests.operations.support.builders import keys, new, picture, shape, thread
from tests.operations.support.strategies import ACTORS, active_tags, sessions

a_session = sessions(malformed=True)


def continued(entries, *operations, actor=ACTORS[0]):
    head = len(entries)
    return [
        *entries,
        *(
            Entry(head + n, operation, actor)
            for n, operation in enumerate(operations, 1)
        ),
    ]


def with_tombstones(leaves, entries):
    """The originals as they are left: what was purged, for good, has no words to count."""
    purged = fold(entries).purged
    return [
        leaf._replace(tokens=0) if original_key(index) in purged else leaf
        for index, leaf in enumerate(leaves)
    ]


@given(a_session, active_tags)
def test_every_original_is_in_the_tree_exactly_once(session, tags):
    leaves, entries = session
    made = replay(leaves, fold(entries), tags)
    held = [leaf for key in made.keys for leaf in made.leaf_keys(key)]
    assert len(held) == len(set(held))
    assert {leaf for leaf in held if leaf[0] == "m"} == set(keys(0, len(leaves) - 1))


@given(a_session, active_tags)
def test_reverting_everything_gives_the_originals(session, tags):
    leaves, entries = session
    operations = tuple(entry_key(entry.number) for entry in entries)
    made = replay(leaves, fold(continued(entries, Revert(operations=operations))), tags)
    originals = replay(with_tombstones(leaves, entries), fold([]))
    assert list(made.window(0, 100)) == list(originals.window(0, 100))
    assert made.tokens == originals.tokens


@given(a_session, active_tags, st.data())
def test_off_and_on_change_nothing(session, tags, data):
    same_after(session, tags, data, Toggle, active=False)


@given(a_session, active_tags, st.data())
def test_revert_and_restore_change_nothing(session, tags, data):
    same_after(session, tags, data, Revert)


def same_after(session, tags, data, control, **options):
    leaves, entries = session
    log = fold(entries)
    on = [entry_key(n) for n, edit in log.edits.items() if edit.state is EditState.ON]
    assume(on)
    chosen = tuple(data.draw(st.lists(st.sampled_from(on), min_size=1, unique=True)))
    again = Toggle(operations=chosen, active=True)
    after = fold(continued(entries, control(operations=chosen, **options), again))
    assert picture(replay(leaves, after, tags)) == picture(replay(leaves, log, tags))


@given(a_session, active_tags, st.sampled_from(ACTORS), st.integers(1, 4))
def test_undos_and_as_many_redos_change_nothing(session, tags, actor, times):
    leaves, entries = session
    log = fold(entries)
    taken = []
    after = log
    for _ in range(times):
        taken.append(undoable(after, actor))
        undo = Entry(after.head + 1, Undo(entries=taken[-1]), actor)
        after = after.extended([undo])
    for numbers in reversed(taken):
        after = after.extended([Entry(after.head + 1, Redo(entries=numbers), actor)])
    assert picture(replay(leaves, after, tags)) == picture(replay(leaves, log, tags))


@given(a_session, active_tags, st.integers(0, 16), st.integers(0, 16))
def test_a_log_folded_in_pieces_gives_the_same_thread(session, tags, one, other):
    leaves, entries = session
    first, second = sorted((one, other))
    start = fold(entries[:first])
    before = picture(replay(leaves, start, tags))
    middle = start.extended(entries[first:second])
    whole = middle.extended(entries[second:])
    expected = picture(replay(leaves, fold(entries), tags))
    assert picture(replay(leaves, whole, tags)) == expected
    assert picture(replay(leaves, start, tags)) == before


@given(st.data())
def test_a_range_inside_a_range_nests_in_either_order(data):
    bounds = st.lists(st.integers(0, 11), min_size=4, max_size=4, unique=True)
    first, start, end, last = sorted(data.draw(bounds))
    inner = Revise(targets=keys(start, end), messages=(new(),))
    outer = Digest(targets=keys(first, last), messages=(new(),))
    one, other = thread(12, inner, outer), thread(12, outer, inner)
    assert shape(one) == shape(other).replace("o1", "o0").replace("o2", "o1").replace(
        "o0", "o2"
    )
    off = thread(12, outer, inner, Toggle(operations=("o1",), active=False))
    alone = thread(12, inner)
    assert shape(off) == shape(alone).replace("o1", "o2")


@given(a_session, active_tags, st.data())
def test_no_question_to_a_thread_raises_for_what_it_holds(session, tags, data):
    leaves, entries = session
    made = replay(leaves, fold(entries), tags)
    held = [
        *made.keys,
        *made.folds,
        *(k for key in made.folds for k in made.leaf_keys(key)),
    ]
    one, other = data.draw(st.sampled_from(held)), data.draw(st.sampled_from(held))
    assert made.keys[made.position(one)] == made.top_key(one)
    assert {made.top_key(one)} == {([*made.path(one), one])[0]}
    between = made.keys_between(one, other)
    assert between == made.keys_between(other, one)
    assert {one, other} <= {
        key
        for node in between
        for key in [node, *made.leaf_keys(node), *inside(made, node)]
    }
    picture(made)


def inside(made, key):
    return [fold_ for fold_ in made.folds if key in made.path(fold_)]


@given(a_session, active_tags)
def test_token_counts_sum_up(session, tags):
    leaves, entries = session
    made = replay(leaves, fold(entries), tags)
    tokens = made.tokens
    left = with_tombstones(leaves, entries)
    assert tokens.original == sum(leaf.tokens for leaf in left)
    assert tokens.effective == sum(tokens.by_role.values()) + tokens.folds
    assert tokens.effective == sum(message.tokens for message in made.effective())
    assert [*made.effective_reversed()] == [*made.effective()][::-1]
    for key in made.folds:
        node = made.node(key)
        held = made.leaf_keys(key)
        indexes = [int(leaf[1:]) for leaf in held if leaf[0] == "m"]
        assert (node.leaves, node.count) == (len(held), len(indexes))
        assert (node.first, node.last) == (
            min(indexes, default=None),
            max(indexes, default=None),
        )


@given(a_session, active_tags, st.data())
def test_a_range_of_indexes_means_what_stands_between_its_originals(
    session, tags, data
):
    leaves, entries = session
    made = replay(leaves, fold(entries), tags)
    first = data.draw(st.integers(0, len(leaves) - 1))
    last = data.draw(st.integers(first, len(leaves) - 1))
    resolved = made.resolve_range(first, last)
    assert resolved[: last - first + 1] == list(keys(first, last))
    order = [leaf for key in made.keys for leaf in made.leaf_keys(key)]
    inserted = [
        key for key in order if key[0] == "o" and between(order, key, first, last)
    ]
    assert resolved[last - first + 1 :] == inserted


def between(order, key, first, last):
    place = order.index(key)
    before = [leaf for leaf in order[:place] if leaf[0] == "m"]
    behind = [leaf for leaf in order[place:] if leaf[0] == "m"]
    wanted = {original_key(index) for index in range(first, last + 1)}
    return bool(before) and bool(behind) and {before[-1], behind[0]} <= wanted


@given(a_session, active_tags)
def test_nothing_is_hidden_by_what_it_is_not_in(session, tags):
    leaves, entries = session
    made = replay(leaves, fold(entries), tags)
    for report in made.reports:
        if report.hidden_by:
            assert report.status == "applied"
            assert report.hidden_by in made.keys
            assert report.hidden_by != report.key


@given(a_session, active_tags, st.integers(0, 4))
def test_edits_are_found_by_how_they_fared_without_a_look_at_all(session, tags, most):
    leaves, entries = session
    log = fold(entries)
    made = replay(leaves, log, tags)
    fared = {report.number: report.status for report in made.reports}
    assert made.marked_edits == [n for n, status in fared.items() if status in MARKED]
    for statuses in (WITHDRAWN, WITHDRAWN | {Status.APPLIED}):
        found = [number for number, status in fared.items() if status in statuses]
        assert list(islice(made.newest_edits(statuses), most)) == found[::-1][:most]
    assert sorted(made.structural_edits) == [
        number
        for number, status in fared.items()
        if status is Status.APPLIED
        and isinstance(log.edits[number].edit, Fold | Insert | Resequence)
    ]
    held = [key for key in made.inserted_keys if made.holds(key)]
    assert held == list(made.inserted_keys)


@given(a_session)
def test_the_edits_of_each_actor_are_counted_as_they_stand(session):
    _, entries = session
    log = fold(entries)
    counts = Counter((one.entry.actor, one.state) for one in log.edits.values())
    states = (EditState.ON, EditState.OFF, EditState.PROPOSED)
    assert log.counts_by_actor == {
        actor: tuple(counts[actor, state] for state in states)
        for actor in dict.fromkeys(one.entry.actor for one in log.edits.values())
    }
    assert log.has_redactions == any(
        isinstance(one.edit, Redact) for one in log.edits.values()
    )
