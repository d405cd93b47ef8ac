"""How two lists of messages differ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operations.domain.ledger.ledger import DiffRun, DiffSide, diff_runs

LISTS = st.lists(st.integers(0, 4), max_size=12)


def led(before: list[int], after: list[int], found: list[DiffRun]) -> tuple[list, list]:
    """Both lists again, put together from the runs."""
    one, other = [], []
    for side, start, end in found:
        if side is DiffSide.BEFORE:
            one += before[start:end]
        else:
            other += after[start:end]
            one += after[start:end] if side is DiffSide.BOTH else []
    return one, other


@given(LISTS, LISTS)
def test_the_runs_lead_from_one_list_to_the_other(
    before: list[int], after: list[int]
) -> None:
    assert led(before, after, diff_runs(before, after)) == (before, after)


@given(LISTS)
def test_a_list_does_not_differ_from_itself(one: list[int]) -> None:
    assert diff_runs(one, one) == ([DiffRun(DiffSide.BOTH, 0, len(one))] if one else [])


def test_what_is_too_long_to_be_compared_is_all_new(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("operations.domain.ledger.ledger._MAX_PAIRS", 3)
    assert diff_runs([0, 1, 2, 9], [0, 2, 3, 9]) == [
        DiffRun(DiffSide.BOTH, 0, 1),
        DiffRun(DiffSide.BEFORE, 1, 3),
        DiffRun(DiffSide.AFTER, 1, 3),
        DiffRun(DiffSide.BOTH, 3, 4),
    ]
