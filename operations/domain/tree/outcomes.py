"""The outcomes of the edits that were played over a draft."""

from collections import Counter
from collections.abc import Mapping
from copy import copy

from .persistent_map import PersistentMap, PlainMap, persistent_map
from .status import MARKED, WITHDRAWN, EditOutcome, Status

_KEPT = ("by_number", "marked", "withdrawn")


class Outcomes:
    """The outcome of each edit by its number. Open or closed, like the draft that it belongs to."""

    __slots__ = (*_KEPT, "statuses")

    def __init__(self) -> None:
        """Empty and closed."""
        self.by_number: PersistentMap[int, EditOutcome] = persistent_map()
        self.marked: PersistentMap[int, None] = persistent_map()
        """The numbers of the edits whose status is in `MARKED`."""
        self.withdrawn: PersistentMap[int, None] = persistent_map()
        """The numbers of the edits whose status is in `WITHDRAWN`."""
        self.statuses: Counter[Status] = Counter()
        """How many edits have each status."""

    def get(self, number: int) -> EditOutcome | None:
        """The outcome of an edit; None if it wasn't played."""
        return self.by_number.get(number)

    def set(self, number: int, outcome: EditOutcome) -> None:
        """Set the outcome of an edit."""
        known = self.by_number.get(number)
        if known is not None:
            self.statuses[known.status] -= 1
            self.marked.pop(number, None)
            self.withdrawn.pop(number, None)
        self.statuses[outcome.status] += 1
        self.by_number[number] = outcome
        if outcome.status is Status.APPLIED:
            return
        if outcome.status in MARKED:
            self.marked[number] = None
        elif outcome.status in WITHDRAWN:
            self.withdrawn[number] = None

    def opened(self, *, plain: bool = False) -> "Outcomes":
        """An open version. `plain` is faster if many outcomes are going to be set."""
        outcomes = copy(self)
        for name in _KEPT:
            known = getattr(self, name)
            setattr(outcomes, name, PlainMap(known) if plain else known.mutate())
        outcomes.statuses = self.statuses.copy()
        return outcomes

    def closed(self) -> "Outcomes":
        """A closed version, after which this one can no longer be set."""
        outcomes = copy(self)
        for name in _KEPT:
            setattr(outcomes, name, getattr(self, name).finish())
        return outcomes

    def with_outcomes(
        self, changed: Mapping[int, EditOutcome], through: int
    ) -> "Outcomes":
        """A closed version with changed outcomes of edits up to a number."""
        outcomes = self.opened()
        for number, outcome in changed.items():
            if number <= through:
                outcomes.set(number, outcome)
        return outcomes.closed()
