"""Much work in short transactions: each ends by the clock, whatever is done in it."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from time import monotonic
from typing import TypeVar

from django.db.transaction import atomic

SECONDS = 0.025
"""How long a transaction is open, from which on no other step is taken into it. With twice as much
an import is no faster, and others wait twice as long."""

Step = Callable[[], object]
Item = TypeVar("Item")


class Pace:
    """How much a step does: less where the machine is busy, so that it takes no longer."""

    def __init__(self, most: int, least: int) -> None:
        self._most, self._least = most, least
        self.size = most

    def note(self, seconds: float) -> None:
        """Learn from what the last step took."""
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
    """Do small steps in transactions of their own; gives how many after each commit.

    A machine that is busy gives each step little of its time, so that no number of rows or bytes
    bounds how long others wait. `begin` comes first in each transaction, `end` last. Within one
    that is open already all is done in that, with savepoints if these are wanted. `pace` is told
    what each step took; whoever makes the steps makes the next one by it.
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
    """So many items at a time, of as many as come."""
    rest = iter(items)
    while some := list(islice(rest, size)):
        yield some
