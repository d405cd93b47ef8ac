"""Markers about what folds show, where a policy wants them: fold by fold, and beside the window."""

from operations.domain.context.assembly import Assembly
from operations.domain.context.policy import Policy
from operations.domain.log.operation import Operation, Revise
from tests.operations.domain.providers.outgoings import count
from tests.operations.support.builders import digest, insert, keys, snip
from threads.domain.part import Text

from .assembled import assembled, thread_of


def told(*operations: Operation, groups: int = 3, window: int = 0) -> list[str]:
    """The messages of the history: what markers say, of the others their keys."""
    return [
        message.parts[0].text
        if message.kind == "marker" and isinstance(message.parts[0], Text)
        else message.key
        for message in marked(*operations, groups=groups, window=window).messages
    ]


def marked(*operations: Operation, groups: int = 3, window: int = 0) -> Assembly:
    policy = Policy(preset="custom", markers=True, window=window)
    return assembled(thread_of(groups, *operations), policy)


def test_a_fold_has_a_marker_before_and_one_after_what_it_shows() -> None:
    assert told(digest(2, 4)) == [
        *("m1", "▸ digest o1: 3 messages", "o1.0", "◂ o1", "m5", "m6"),
    ]


def test_a_snip_has_a_single_marker_in_its_place() -> None:
    assert told(snip(2, 2), snip(5, 6)) == [
        *("m1", "▸ snip o1: 1 message", "m3", "m4", "▸ snip o2: 2 messages"),
    ]


def test_a_revise_without_messages_has_both_markers_in_its_place() -> None:
    nothing = Revise(targets=keys(2, 3), messages=())
    assert told(nothing)[:4] == ["m1", "▸ revise o1: 2 messages", "◂ o1", "m4"]


def test_a_fold_within_a_fold_has_none() -> None:
    assert told(digest(2, 3), digest(1, 6)) == [
        *("▸ digest o2: 6 messages", "o2.0", "◂ o2"),
    ]


def test_an_inserted_message_is_no_fold() -> None:
    assert told(insert("m6", "one"))[-2:] == ["m6", "o1.0"]


def test_what_the_window_leaves_out_is_not_marked() -> None:
    assert told(snip(1, 2), digest(3, 4), window=1) == ["m5", "m6"]
    assert told(snip(3, 4), window=1) == ["m5", "m6"]
    assert told(snip(5, 5), digest(3, 4), window=1) == ["▸ snip o1: 1 message", "m6"]


def test_markers_are_counted_as_what_they_add() -> None:
    plain = assembled(thread_of(3, digest(2, 4)))
    found = marked(digest(2, 4))
    step = next(step for step in found.steps if step.name == "markers")
    words = (Text("▸ digest o1: 3 messages"), Text("◂ o1"))
    assert step.added == sum(count((text,)) for text in words)
    assert found.sent == plain.sent + step.added
    assert found.intact == plain.intact


def test_markers_belong_to_the_fold_that_they_are_about() -> None:
    first, *_ = [one for one in marked(digest(2, 4)).messages if one.kind == "marker"]
    summary = next(one for one in marked(digest(2, 4)).messages if one.key == "o1.0")
    assert (first.key, first.node, first.group) == ("o1", "o1", summary.group)
    assert first.groups == summary.groups
