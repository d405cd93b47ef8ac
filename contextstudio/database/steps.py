"""Long work in short transactions, each of which ends by the clock, whatever it does."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from time import monotonic
from typing import TypeVar

from django.db.transaction import atomic

SECONDS = 0.025
"""How long a transaction may be open before it takes no further step. With twice as much an import
is no faster, and others wait twice as long."""

Step = Callable[[], object]
Item = TypeVar("Item")


class Pace:
    """How much a step does: less if the machine is busy, so that it takes no longer."""

    def __init__(self, most: int, least: int) -> None:
        self._most, self._least = most, least
        self.size = most

    def note(self, seconds: float) -> None:
        """Adapt to the time that the last step took."""
        if seconds > SECONDS / 4:
            self.size = max(self._least, self.size // 2)
        elif seconds < SECONDS / 16:
            self.size = min(self._most, self.size * 2)


def in_short_transactions(
    steps: Iterable[Step],
    *,
    begin: Step = lambda: None,
    end: Step = lambda: None,
    savepoint: bool = False,
    pace: Pace | None = None,
) -> Iterator[int]:
    """Run small steps in transactions of their own; yields how many after each commit.

    A busy machine gives each step little of its time, so that no number of rows or bytes bounds how
    long others wait. `begin` runs first in each transaction, `end` last. If a transaction is open
    already, everything runs in it, with savepoints if requested. `pace` is told the time of each
    step, so that the producer of the steps can size the next one.
    """
    waiting = iter(steps)
    step = next(waiting, None)
    while step is not None:
        done = 0
        with atomic(savepoint=savepoint):
            now = monotonic()
            enough = now + SECONDS
            begin()
            while step is not None:
                step()
                done += 1
                before, now = now, monotonic()
                if pace is not None:
                    pace.note(now - before)
                step = next(waiting, None)
                if now > enough:
                    break
            end()
        yield done


def chunks(items: Iterable[Item], size: int = 500) -> Iterator[list[Item]]:
    """Split items into lists of at most `size`."""
    rest = iter(items)
    while some := list(islice(rest, size)):
        yield some
