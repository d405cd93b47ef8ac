"""What became of the edits that were played over a draft."""

from collections import Counter
from collections.abc import Mapping
from copy import copy

from .kept import Kept, PlainMap, kept
from .status import MARKED, WITHDRAWN, EditOutcome, Status

_KEPT = ("by_number", "marked", "withdrawn")


class Outcomes:
    """The outcome of each edit by its number. Open or closed, as the draft is that has them."""

    __slots__ = (*_KEPT, "statuses")

    def __init__(self) -> None:
        """Of no edit yet; closed."""
        self.by_number: Kept[int, EditOutcome] = kept()
        self.marked: Kept[int, None] = kept()
        """The edits whose status is one of `MARKED`."""
        self.withdrawn: Kept[int, None] = kept()
        """The edits whose status is one of `WITHDRAWN`."""
        self.statuses: Counter[Status] = Counter()
        """How many edits have which."""

    def get(self, number: int) -> EditOutcome | None:
        """What became of an edit, if it was played."""
        return self.by_number.get(number)

    def set(self, number: int, outcome: EditOutcome) -> None:
        """Note what became of an edit."""
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
        """The same, to be set: by a lot where they are `plain`."""
        outcomes = copy(self)
        for name in _KEPT:
            known = getattr(self, name)
            setattr(outcomes, name, PlainMap(known) if plain else known.mutate())
        outcomes.statuses = self.statuses.copy()
        return outcomes

    def closed(self) -> "Outcomes":
        """The same as they are now; the open ones can't be set any more."""
        outcomes = copy(self)
        for name in _KEPT:
            setattr(outcomes, name, getattr(self, name).finish())
        return outcomes

    def restated(self, changed: Mapping[int, EditOutcome], through: int) -> "Outcomes":
        """These closed ones, with others of edits up to a number."""
        outcomes = self.opened()
        for number, outcome in changed.items():
            if number <= through:
                outcomes.set(number, outcome)
        return outcomes.closed()
