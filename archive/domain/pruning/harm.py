"""Estimates what a step of a plan would take away for good.

Only what occurs nowhere else can be missed. So a step's harm is the number of names in what it
leaves out that occur in no remaining message and not in the line that replaces it.
"""

from collections import Counter
from copy import copy
from itertools import chain

from .plan import PrunePlan, PruneStep
from .reading import PlanReading, ThreadReading


class NamesLeft:
    """The references left in a thread while steps of a plan are taken."""

    def __init__(self, thread: ThreadReading, plan: PrunePlan) -> None:
        """Count the references of the thread before any step is taken."""
        read = PlanReading(thread, (step.change for step in plan.steps))
        references = read.references
        named = [references.of(texts) for texts in read.texts]
        self._times = Counter(chain.from_iterable(named))
        """Map of reference to the number of messages that contain it."""
        self._goes = {
            step.places: Counter(
                chain.from_iterable(named[place] for place in step.places)
            )
            - Counter(set(references.of(read.shown[step.places[0]])))
            for step in plan.steps
        }
        """Map of a step's positions to how many messages would no longer contain each reference."""

    def copy(self) -> "NamesLeft":
        """A copy on which steps can be taken without changing this one."""
        other = copy(self)
        other._times = self._times.copy()
        return other

    def lost_by(self, step: PruneStep) -> int:
        """How many references would occur nowhere if this step were taken now."""
        goes, times = self._goes[step.places], self._times
        return sum(times[name] == count for name, count in goes.items())

    def take(self, step: PruneStep) -> None:
        """Subtract the references that this step takes away."""
        self._times.subtract(self._goes[step.places])
