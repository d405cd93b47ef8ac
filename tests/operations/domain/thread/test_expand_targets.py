"""What an operation that would cut through folds could be instead."""

from operations.domain.log.operation import Toggle, named_keys
from operations.domain.thread.check import expanded
from tests.operations.support.builders import digest, insert, keys, snip, thread


def test_it_takes_in_the_folds_in_its_way() -> None:
    cut = thread(
        8,
        digest(2, 4),
        Toggle(operations=("o1",), active=False),
        snip(4, 5),
        Toggle(operations=("o1",), active=True),
    )
    edit = expanded(cut, "o3")
    assert edit is not None
    assert named_keys(edit) == keys(2, 5)


def test_what_nothing_stands_in_the_way_of_stays_as_it_is() -> None:
    edit = expanded(thread(8, digest(2, 4)), "o1")
    assert edit is not None
    assert named_keys(edit) == keys(2, 4)


def test_only_folds_are_widened() -> None:
    assert expanded(thread(8, insert("m1", "x")), "o1") is None
    assert expanded(thread(8), "o9") is None
