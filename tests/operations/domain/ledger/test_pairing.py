"""Which messages of two requests stand beside one another."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operations.domain.ledger.ledger import DiffSide
from operations.domain.ledger.pairing import PairedRuns, pair_up

Request = Sequence[tuple[str, ...]]
"""Messages, each as the leaves that it comes of."""


def pairs(before: Request, after: Request, *, texts: str = "") -> list[PairedRuns]:
    """The pairs of two requests; messages are the same where their leaves are, but for `texts`."""
    changed = set(texts.split())
    old = [(0, *keys) for keys in before]
    new = [(int(bool(changed.intersection(keys))), *keys) for keys in after]
    sides = {DiffSide.BEFORE: before, DiffSide.AFTER: after}
    return [*pair_up(old, new, lambda side, place: sides[side][place])]


def shown(found: Sequence[PairedRuns]) -> list[str]:
    """Pairs in a line each: `1-3 | 1`, half-open; `=` where they are the same."""
    return [
        f"{one.before.start}-{one.before.stop} {'=' if one.is_identical else '|'}"
        f" {one.after.start}-{one.after.stop}"
        for one in found
    ]


def originals(count: int) -> list[tuple[str, ...]]:
    return [(f"m{index}",) for index in range(count)]


def test_a_digest_stands_beside_all_that_it_folds() -> None:
    after = [("m0",), ("m1", "m2", "m3"), ("m4",)]
    found = pairs(originals(5), after)
    assert shown(found) == ["0-1 = 0-1", "1-4 | 1-2", "4-5 = 2-3"]


def test_all_messages_of_one_fold_stand_beside_what_it_folds() -> None:
    revised = ("m1", "m2")
    found = pairs(originals(4), [("m0",), revised, revised, ("m3",)], texts="m1")
    assert shown(found) == ["0-1 = 0-1", "1-3 | 1-3", "3-4 = 3-4"]


def test_messages_that_say_something_else_stand_beside_one_another() -> None:
    found = pairs(originals(3), originals(3), texts="m0 m1 m2")
    assert shown(found) == ["0-1 | 0-1", "1-2 | 1-2", "2-3 | 2-3"]


def test_what_is_new_stands_beside_nothing() -> None:
    after = [("m0",), ("o1.0",), ("m1",), ("m2",)]
    found = pairs(originals(3), after, texts="m0 m1")
    assert shown(found) == ["0-1 | 0-1", "1-1 | 1-2", "1-2 | 2-3", "2-3 = 3-4"]


def test_what_is_gone_stands_beside_nothing() -> None:
    found = pairs(originals(3), [("m0",), ("m2",)], texts="m2")
    assert shown(found) == ["0-1 = 0-1", "1-2 | 1-1", "2-3 | 1-2"]


def test_what_comes_of_other_leaves_stands_beside_nothing() -> None:
    found = pairs([("x",), ("m0",)], [("y",), ("z",), ("m0",)])
    assert shown(found) == ["0-1 | 0-0", "1-1 | 0-2", "1-2 = 2-3"]


def test_what_lies_between_two_messages_of_a_fold_stays_with_them() -> None:
    found = pairs([("m0",), ("x",), ("m1",)], [("m0", "m1")])
    assert shown(found) == ["0-3 | 0-1"]


def test_one_message_that_moved_parts_no_others() -> None:
    before = [("m9",), ("m0",), ("m1",)]
    found = pairs(before, [("m0",), ("m1",), ("m9",)], texts="m0 m1 m9")
    assert shown(found) == ["0-1 | 0-0", "1-2 | 0-1", "2-3 | 1-2", "3-3 | 2-3"]


def test_a_turn_that_joins_two_folds_is_one_with_both() -> None:
    found = pairs(originals(3), [("m0",), ("m0", "m1"), ("m1", "m2")], texts="m0 m1")
    assert shown(found) == ["0-3 | 0-3"]


def test_what_is_the_same_is_found_where_there_is_too_much_to_be_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("operations.domain.ledger.ledger._MAX_PAIRS", 3)
    found = pairs(originals(6), originals(6), texts="m0 m3 m5")
    assert shown(found) == [
        *("0-1 | 0-1", "1-3 = 1-3", "3-4 | 3-4", "4-5 = 4-5", "5-6 | 5-6")
    ]


MESSAGES = st.lists(
    st.lists(st.sampled_from("abcde"), max_size=3).map(tuple), max_size=9
)


@given(MESSAGES, MESSAGES, st.sampled_from(["", "a", "a b c d e"]))
def test_every_message_of_both_requests_stands_once_in_its_order(
    before: Request, after: Request, texts: str
) -> None:
    found = pairs(before, after, texts=texts)
    assert [place for one in found for place in one.before] == [*range(len(before))]
    assert [place for one in found for place in one.after] == [*range(len(after))]
    assert all(one.before or one.after for one in found)
