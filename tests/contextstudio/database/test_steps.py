"""Much work is done in short transactions, which end by the clock."""

from collections.abc import Iterator
from functools import partial

import pytest
from django.db import connection

from contextstudio.database import steps
from contextstudio.database.steps import Pace, in_short_transactions


class Clock:
    """A clock that each step sets forward by what it takes."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def work(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(steps, "monotonic", made)
    return made


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.0, [6]),
        (steps.SECONDS / 2, [3, 3]),
        (steps.SECONDS * 2, [1, 1, 1, 1, 1, 1]),
    ],
)
def test_a_transaction_takes_no_step_more_once_its_time_is_over(
    db: None, clock: Clock, seconds: float, expected: list[int]
) -> None:
    work = [partial(clock.work, seconds)] * 6
    assert list(in_short_transactions(work)) == expected


def test_each_transaction_begins_and_ends_with_the_same(db: None, clock: Clock) -> None:
    depth, seen = len(connection.atomic_blocks), list[str]()

    def note(word: str) -> None:
        assert len(connection.atomic_blocks) == depth + 1
        seen.append(word)
        clock.work(steps.SECONDS)

    work = [partial(note, word) for word in "abc"]
    begin, end = (partial(seen.append, word) for word in ("begin", "end"))
    for _ in in_short_transactions(work, begin=begin, end=end):
        assert len(connection.atomic_blocks) == depth
    assert seen == ["begin", "a", "b", "end", "begin", "c", "end"]


def test_without_work_there_is_no_transaction() -> None:
    assert list(in_short_transactions([])) == []


def test_steps_get_smaller_on_a_busy_machine_and_larger_on_a_quiet_one(
    db: None, clock: Clock
) -> None:
    pace = Pace(most=8, least=2)
    seconds, sizes = steps.SECONDS / 8, list[int]()

    def work() -> Iterator[partial[None]]:
        for _ in range(6):
            sizes.append(pace.size)
            yield partial(clock.work, seconds * pace.size)

    for _ in in_short_transactions(work(), pace=pace):
        pass
    assert sizes == [8, 4, 2, 2, 2, 2]
    seconds = 0
    for _ in in_short_transactions(work(), pace=pace):
        pass
    assert sizes[6:] == [2, 4, 8, 8, 8, 8]
