"""The window: the last groups, counted in the order of the thread."""

from hypothesis import given, settings
from hypothesis import strategies as st

from operations.domain.context.window import keep_window, last_groups
from tests.operations.domain.providers.outgoings import fold, inserted, keys_of, out

TALK = [out(index, 1 + index // 2, "words") for index in range(8)]


def test_zero_keeps_all() -> None:
    kept, step, _ = keep_window(TALK, 0)
    assert (kept, step.left_out) == (TALK, ())


def test_the_last_groups_are_kept_and_the_others_named() -> None:
    kept, step, _ = keep_window(TALK, 2)
    assert keys_of(kept) == ["m4", "m5", "m6", "m7"]
    assert [one.key for one in step.left_out] == ["m0", "m1", "m2", "m3"]
    assert step.left_out[0].why == "Group 1 is not among the last 2."
    assert (step.before, step.after) == (40, 20)


def test_more_groups_than_there_are_keep_all() -> None:
    assert keep_window(TALK, 9)[0] == TALK


def test_a_fold_counts_as_every_group_that_it_holds() -> None:
    folded = [out(0, 1, "a"), fold(1, (2, 3, 4)), out(9, 5, "b")]
    assert keys_of(keep_window(folded, 1)[0]) == ["m9"]
    assert keys_of(keep_window(folded, 2)[0]) == ["o1.0", "m9"]
    assert keys_of(keep_window(folded, 3)[0]) == ["o1.0", "m9"]
    assert keys_of(keep_window(folded, 4)[0]) == ["o1.0", "m9"]
    assert keys_of(keep_window(folded, 5)[0]) == ["m0", "o1.0", "m9"]


def test_an_insert_goes_with_the_group_of_the_node_before_it() -> None:
    told = [out(0, 1, "a"), inserted(1, 1), out(1, 2, "b"), inserted(2, 2)]
    assert keys_of(keep_window(told, 1)[0]) == ["m1", "o2.0"]


def test_groups_count_in_the_order_of_the_thread() -> None:
    moved = [out(0, 2, "a"), out(1, 3, "b"), out(2, 1, "c")]
    assert keys_of(keep_window(moved, 2)[0]) == ["m1", "m2"]


@settings(max_examples=100)
@given(st.lists(st.integers(0, 5), max_size=20), st.integers(1, 7))
def test_a_window_never_holds_more_groups_than_it_says(
    groups: list[int], count: int
) -> None:
    messages = [out(index, group, "word") for index, group in enumerate(groups)]
    kept, step, _ = keep_window(messages, count)
    held = {message.group for message in kept}
    assert len(held) == min(count, len(set(groups)))
    assert held == last_groups(messages, count)
    assert step.after + sum(one.tokens for one in step.left_out) == step.before


@settings(max_examples=200)
@given(
    st.lists(st.integers(0, 5), max_size=20),
    st.lists(st.integers(0, 7), max_size=6),
    st.integers(1, 5),
    st.integers(1, 5),
)
def test_a_window_that_goes_on_from_another_one_is_the_same(
    before: list[int], behind: list[int], one: int, other: int
) -> None:
    messages = [
        out(index, group, "word") for index, group in enumerate([*before, *behind])
    ]
    top = keep_window(messages[: len(before)], one).top
    found = keep_window(messages, other, top)
    assert found == keep_window(messages, other)
    changed = [out(0, 9, "other"), *messages[1:]]
    assert keep_window(changed, one, top) == keep_window(changed, one)
