"""Where operations touch what is sent, read off the thread: as if each were left out."""

from hypothesis import given
from hypothesis import strategies as st

from operations.domain.ledger.first_changes import (
    MAX_PARTS,
    FirstChange,
    first_changes,
    independent_groups,
    layout_of,
)
from operations.domain.ledger.ledger import PromptPiece, first_change
from operations.domain.log.operation import (
    Digest,
    Edit,
    Insert,
    Replace,
    Resequence,
    Snip,
    Tag,
    Toggle,
)
from operations.domain.providers.request import Layer, Outgoing
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import entry_key
from tests.operations.domain.providers.outgoings import out
from tests.operations.support.builders import (
    digest,
    insert,
    keys,
    new,
    proposal,
    resequence,
    revise,
    snip,
    span,
    thread,
)

RUN = 4
COUNT = 6 * RUN
KINDS = ("digest", "snip", "insert", "resequence", "replace", "none")


def sent(thread: Thread) -> list[Outgoing]:
    return [
        out(0, 0, key=shown.key, tokens=shown.tokens) for shown in thread.effective()
    ]


def touches(found: Thread, **layout: object) -> list[FirstChange]:
    numbers = found.log.edits
    return list(
        first_changes(found, layout_of(found, (), sent(found), **layout), numbers)
    )  # type: ignore[arg-type]


def pieces(found: Thread) -> list[PromptPiece]:
    return [PromptPiece(one.key, one.tokens, one.tokens) for one in found.effective()]


@st.composite
def lying_apart(draw: st.DrawFn) -> list[Edit]:
    """Operations of which each acts on a run of messages of its own, in any order."""
    edits: list[Edit] = []
    for start in draw(st.permutations(range(0, COUNT, RUN))):
        targets = keys(start, start + RUN - 1)
        chosen = draw(st.lists(st.sampled_from(targets), min_size=2, unique=True))
        match draw(st.sampled_from(KINDS)):
            case "digest":
                edits.append(Digest(targets=tuple(chosen), messages=(new(),)))
            case "snip":
                edits.append(Snip(targets=tuple(chosen)))
            case "insert":
                edits.append(Insert(after=targets[1], messages=(new(), new())))
            case "resequence" if chosen != sorted(chosen, key=lambda key: int(key[1:])):
                edits.append(Resequence(order=tuple(chosen)))
            case "replace":
                change = span(targets[1], 0, 9, saved=draw(st.integers(1, 8)))
                edits.append(Replace(spans=(change,)))
    return edits


@given(lying_apart())
def test_of_operations_that_lie_apart_it_tells_what_leaving_one_out_would(
    edits: list[Edit],
) -> None:
    whole = thread(COUNT, *edits)
    for touch in touches(whole):
        off = Toggle(operations=(touch.operation,), active=False)
        without = thread(COUNT, *edits, off)
        change = first_change(pieces(without), pieces(whole))
        assert change is not None
        assert touch.tokens == change.tokens
        assert touch.saved == without.tokens.effective - whole.tokens.effective


def test_what_changes_nothing_that_is_sent_touches_nothing() -> None:
    found = thread(
        9,
        Tag(targets=("m1",), tags=("x",)),
        revise(2, 3),
        digest(2, 5),
        digest(2, 5),
        resequence("m3", "m2"),
    )
    by_key = {touch.operation: touch for touch in touches(found)}
    assert by_key["o1"] == FirstChange("o1")
    assert by_key["o2"] == FirstChange("o2")  # folded away by o3
    assert by_key["o3"] == FirstChange("o3")
    assert by_key["o4"] == FirstChange("o4", "o4", 20, 0)  # holds o3 and shows the same
    assert by_key["o5"] == FirstChange("o5")  # reordered inside of what is folded


def test_a_message_that_an_operation_put_in_is_counted_as_it_reads() -> None:
    change = Replace(spans=(span("o1.0", 0, 3, "new", saved=2),))
    found = thread(4, insert("m1", "new"), change)
    assert touches(found) == [
        FirstChange("o1", "o1.0", 20, -1),
        FirstChange("o2", "o1.0", 20, 2),
    ]


def test_what_stands_before_the_history_stands_before_every_change() -> None:
    found = thread(6, snip(1, 2), digest(4, 5))
    layers = [
        Layer(name="system", text="Be brief.", tokens=10, keys=("m0",)),
        Layer(name="scratchpad", text="Note", tokens=5),
    ]
    layout = layout_of(found, layers, sent(found)[1:])
    assert list(first_changes(found, layout, (1, 2))) == [
        FirstChange("o1", "o1", 15, 20),
        FirstChange("o2", "o2", 25, 17),
    ]


def test_what_a_window_left_out_costs_and_saves_nothing() -> None:
    found = thread(8, snip(1, 2), digest(3, 4), digest(6, 7))
    layers = [Layer(name="system", text="Be brief.", tokens=10, keys=("m0",))]
    layout = layout_of(found, layers, sent(found)[2:])
    assert list(first_changes(found, layout, (1, 2, 3), cut=True)) == [
        FirstChange("o1"),
        FirstChange("o2"),
        FirstChange("o3", "o3", 20, 17),
    ]


def test_of_what_waits_it_tells_what_would_come() -> None:
    now = thread(10, digest(0, 1), proposal(snip(3, 4)), proposal(digest(0, 2)))
    tried = thread(
        10, digest(0, 1), proposal(snip(3, 4)), proposal(digest(0, 2)), assume={2, 3}
    )
    waiting = {entry_key(2): 0, entry_key(3): 0}
    layout = layout_of(tried, (), sent(now), waiting=waiting)
    assert list(first_changes(tried, layout, (2, 3))) == [
        FirstChange("o2", "o2", 13, 20),
        FirstChange("o3", "o3", 0, 10),
    ]


def test_a_fold_of_a_summary_saves_the_frame_around_it_too() -> None:
    found = thread(10, digest(0, 1), snip(0, 2))
    layout = layout_of(found, (), sent(found), hidden={"o2": 5})
    assert list(first_changes(found, layout, (1, 2))) == [
        FirstChange("o1"),
        FirstChange("o2", "o2", 0, 18, -5),
    ]


def test_what_is_proposed_for_the_same_messages_goes_into_parts_of_its_own() -> None:
    edits = {1: snip(2, 4), 2: snip(3, 5), 3: digest(6, 8), 4: snip(2, 4)}
    assert independent_groups(edits, {}) == [[1, 3], [2], [4]]


def test_a_bundle_goes_into_one_part_even_where_it_lies_upon_itself() -> None:
    edits = {1: snip(2, 3), 2: digest(1, 4), 3: snip(6, 7), 4: snip(2, 3)}
    assert independent_groups(edits, {1: "first", 2: "first", 3: "first"}) == [
        [1, 2, 3],
        [4],
    ]


def test_what_acts_on_what_another_makes_goes_with_it() -> None:
    edits = {1: snip(2, 3), 2: digest(2, 4), 5: Snip(targets=("o2",))}
    assert independent_groups(edits, {}) == [[1], [2, 5]]


def test_what_acts_on_what_two_others_make_goes_with_both() -> None:
    edits = {
        1: digest(2, 4),
        2: digest(2, 5),
        3: digest(7, 8),
        4: Replace(spans=(span("o2.0", 0, 3), span("o3.0", 0, 3))),
        5: insert("o1.0"),
    }
    assert independent_groups(edits, {}) == [[1, 5], [2, 3, 4]]


def test_a_bundle_goes_with_what_it_acts_on() -> None:
    edits = {1: digest(2, 4), 2: digest(2, 5), 3: snip(7, 8), 4: Snip(targets=("o2",))}
    assert independent_groups(edits, {3: "one", 4: "one"}) == [[1], [2, 3, 4]]


def test_tags_and_inserts_lie_upon_nothing() -> None:
    tag = Tag(targets=("m2",), tags=("seen",))
    assert independent_groups({1: snip(2, 3), 2: tag, 3: insert("m2")}, {}) == [
        [1, 2, 3]
    ]


def test_beyond_so_many_parts_what_is_left_lies_together() -> None:
    parts = independent_groups({n: snip(2, 3) for n in range(1, MAX_PARTS + 3)}, {})
    assert list(map(len, parts)) == [1] * (MAX_PARTS - 1) + [3]
