"""What a step of a plan would take away for good, as far as it can be known before.

Only what stands nowhere else can be missed: so a step does the less harm the fewer names are in
what it leaves out, in no other message that is left and not in the line that it puts there.
"""

from collections import Counter
from copy import copy
from itertools import chain

from .plan import PrunePlan, PruneStep
from .reading import PlanReading, ThreadReading


class NamesLeft:
    """The references that stand in a thread while steps of a plan are taken."""

    def __init__(self, thread: ThreadReading, plan: PrunePlan) -> None:
        """Those of the thread before any step is taken."""
        read = PlanReading(thread, (step.change for step in plan.steps))
        references = read.references
        named = [references.of(texts) for texts in read.texts]
        self._times = Counter(chain.from_iterable(named))
        """In how many messages each stands."""
        self._goes = {
            step.places: Counter(
                chain.from_iterable(named[place] for place in step.places)
            )
            - Counter(set(references.of(read.shown[step.places[0]])))
            for step in plan.steps
        }
        """By the places of a step, in how many of them each no longer stands."""

    def copy(self) -> "NamesLeft":
        """The same, of which steps can be taken without touching this one."""
        other = copy(self)
        other._times = self._times.copy()
        return other

    def lost_by(self, step: PruneStep) -> int:
        """How many would stand nowhere any more if a step were taken now."""
        goes, times = self._goes[step.places], self._times
        return sum(times[name] == count for name, count in goes.items())

    def take(self, step: PruneStep) -> None:
        """Take a step."""
        self._times.subtract(self._goes[step.places])
