"""Which messages an operation is said to act on."""

import pytest

from operations.domain.log.operation import Operation, Snip, Tag
from operations.domain.tree.key import Key
from tests.operations.editor.rows.looks import look_at
from tests.operations.support.builders import (
    digest,
    insert,
    keys,
    resequence,
    revise,
    snip,
    thread,
)

FURTHER_APART = resequence("m0", "m1", "m2", "m5", "m6", "m3", "m4", "m7")


@pytest.mark.parametrize(
    ("operations", "words", "count"),
    [
        ([snip(2, 5)], "#2–#5", 4),
        ([digest(3, 3)], "#3", 1),
        ([FURTHER_APART, snip(2, 6)], "#2–#6", 5),
        ([snip(2, 3), digest(1, 4)], "#1–#4", 4),
        ([insert("m2"), revise(2, 3)], "#2–#3", 2),
        ([Tag(targets=("m1", "m2", "m6"), tags=("a",))], "#1–#2, #6", 3),
        ([Tag(targets=("m0", "m2", "m4", "m6"), tags=("a",))], "#0 … #6", 4),
    ],
)
def test_an_extent_is_told_by_its_runs_and_a_long_one_by_its_ends(
    operations: list[Operation], words: str, count: int
) -> None:
    look = look_at(thread(10, *operations))
    op = look.operations[f"o{len(operations)}"]
    assert (op.range, op.count) == (words, count)


def test_of_moved_messages_those_between_their_numbers_are_not_said_to_be_snipped() -> (
    None
):
    moved_behind: tuple[Key, ...] = (*keys(0, 2), *keys(5, 8), *keys(3, 4), "m9")
    operations = thread(
        10, resequence(*moved_behind), Snip(targets=("m7", "m8", "m3", "m4"))
    )
    op = look_at(operations).operations["o2"]
    assert (op.range, op.range_words) == (
        "#3–#4, #7–#8",
        "messages #3 to #4, #7 to #8",
    )
    assert (op.first, op.last) == ("m3", "m8")
