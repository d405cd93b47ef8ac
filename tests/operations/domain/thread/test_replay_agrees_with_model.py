"""The replay in arrays and the second one in nested lists make the same of every log."""

from hypothesis import given, settings

from operations.domain.log.log import fold
from operations.domain.thread.node import FoldNode
from operations.domain.thread.replay import replay
from operations.domain.thread.thread import Thread
from tests.operations.support.strategies import active_tags, sessions

from .model import Model, Node, key_of, leaves_of, replayed


def shape(node: Node) -> object:
    return (
        node
        if isinstance(node, str)
        else (node.key, [shape(inner) for inner in node.nodes])
    )


def shape_in(thread: Thread, key: str) -> object:
    if not isinstance(thread.node(key), FoldNode):
        return key
    return key, [shape_in(thread, inner) for inner in thread.child_keys(key)]


@settings(max_examples=200)
@given(sessions(malformed=True), active_tags)
def test_both_replays_make_the_same_thread(session, tags):
    leaves, entries = session
    model = replayed(leaves, entries, tags)
    log, played = fold(entries), ("applied", "void", "conflict")
    numbers = {int(key[1:]) for key, status in model.status.items() if status in played}
    thread = replay(
        leaves, log, tags, assume=numbers
    )  # so that conflicts say what would do
    assert [shape_in(thread, key) for key in thread.keys] == [
        shape(n) for n in model.top
    ]
    assert {report.key: report.status for report in thread.reports} == model.status
    assert replay(leaves, log, tags).keys == thread.keys
    assert_extras_agree(thread, model)
    assert_conflicts_agree(thread, model)
    assert_hiding_agrees(thread, model)


def assert_extras_agree(thread: Thread, model: Model) -> None:
    for leaf in model.all_leaves():
        assert list(thread.tags(leaf)) == model.tags.get(leaf, [])
    for key, changes in model.changes.items():
        made = thread.made_message(key)
        if not thread.log.masks.changes_on(
            key, made.parts if made else ()
        ):  # masks go over changes
            assert [change[:4] for change in thread.spans(key)] == sorted(changes)


def assert_conflicts_agree(thread: Thread, model: Model) -> None:
    for report in thread.reports:
        if report.key in model.ways:
            operations, needs = model.ways[report.key]
            assert (list(report.operations), set(report.needs)) == (operations, needs)


def assert_hiding_agrees(thread: Thread, model: Model) -> None:
    tops = {key_of(node) for node in model.top}
    for fold_ in model.all_folds():
        holder = next(
            n for n in model.top if set(leaves_of(fold_)) <= set(leaves_of(n))
        )
        hidden = None if fold_.key in tops else key_of(holder)
        assert thread.report(int(fold_.key[1:])).hidden_by == hidden
