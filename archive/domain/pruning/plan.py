"""What a prune run does to a thread: a class for each message, and the steps that apply it.

A step can be taken or left on its own: one message condensed, or calls removed together with all
their results. So whichever steps are taken, no call is separated from its result.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from archive.domain.reference import Location
from operations.domain.log.operation import Edit, messages_of
from operations.domain.tree.key import Key
from threads.domain.part import Part

from .classes import PruneClass, Rule


class Stashed(NamedTuple):
    """What the archive keeps of a message before it is left out."""

    key: Key
    name: str
    location: Location | None
    content_type: str
    summary: str
    file_paths: tuple[str, ...]
    tool_name: str
    tokens: int
    rule: Rule | None = None
    """None if it is archived by hand."""


class PruneItem(NamedTuple):
    """A message of the thread: what becomes of it, why, and its tokens before and after."""

    key: Key
    prune_class: PruneClass
    reason: str
    rule: Rule | None
    tokens: int
    tokens_after: int
    by: Key | None = None
    """The message that superseded it, if one did."""
    stashed: tuple[Stashed, ...] = ()


class Change(NamedTuple):
    """The positions of some messages, and the parts that replace them; none if they are removed."""

    places: tuple[int, ...]
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class PruneStep:
    """An edit, and the positions of the messages that it changes."""

    edit: Edit
    places: tuple[int, ...]

    @property
    def change(self) -> Change:
        """What the edit does to the messages."""
        made = (new.parts for new in messages_of(self.edit))
        return Change(self.places, tuple(chain.from_iterable(made)))


@dataclass(frozen=True)
class PrunePlan:
    """A class for each message, in thread order, and the steps that apply it."""

    items: tuple[PruneItem, ...]
    steps: tuple[PruneStep, ...]

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The operations of the run, in thread order."""
        return tuple(step.edit for step in self.steps)

    @cached_property
    def tokens_saved(self) -> int:
        """The tokens that the run saves."""
        return sum(item.tokens - item.tokens_after for item in self.items)

    @property
    def tokens_after(self) -> int:
        """The tokens of the messages after the run."""
        return sum(item.tokens_after for item in self.items)

    @property
    def first_changed(self) -> Key | None:
        """The first message that changes: from there on, a cached prompt is invalid."""
        changed = (one for one in self.items if one.prune_class is not PruneClass.KEEP)
        return next((item.key for item in changed), None)

    @property
    def stashed(self) -> Iterator[Stashed]:
        """Everything that the run archives."""
        return (one for item in self.items for one in item.stashed)

    def saving(self, step: PruneStep) -> int:
        """The tokens that a step saves."""
        held = [self.items[place] for place in step.places]
        return sum(item.tokens - item.tokens_after for item in held)

    def only(self, steps: Iterable[PruneStep], reason: str) -> "PrunePlan":
        """The plan with only these of its steps; what the others would change is kept."""
        chosen = set(map(id, steps))
        taken = [step for step in self.steps if id(step) in chosen]
        changed = {place for step in taken for place in step.places}
        items = tuple(
            item
            if place in changed or item.prune_class is PruneClass.KEEP
            else _kept(item, reason)
            for place, item in enumerate(self.items)
        )
        return PrunePlan(items, tuple(taken))


def _kept(item: PruneItem, reason: str) -> PruneItem:
    return item._replace(
        prune_class=PruneClass.KEEP,
        reason=reason,
        rule=None,
        tokens_after=item.tokens,
        stashed=(),
    )
