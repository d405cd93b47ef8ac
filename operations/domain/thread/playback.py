"""How a thread was made, kept with it so that the next version starts from where it differs.

Versions of a draft share what they have in common, so a thread can keep some: as its log was
after certain entries, near to each other at its end and ever farther apart towards its beginning.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from operations.domain.tree.draft import ThreadDraft
from operations.domain.tree.leaf import Leaf

_ALL_KEPT = 8
_MOST_LISTED = 1_000
_ANCESTORS = 4


class Stage(NamedTuple):
    """The draft, closed, on which all edits up to a number acted.

    `waits_from` is the first of them that named an original which was not there yet; 0: one of
    those that act before all others.
    """

    number: int
    draft: ThreadDraft
    waits_from: int | None


class ThreadVersion:
    """Stands for one thread, without keeping it."""


class Playback(NamedTuple):
    """The stages of a thread, the last of which is the thread itself.

    `assumed` acted whatever their state and condition were. `revisited` has for some earlier
    versions the edits that may have fared otherwise in them; None: they are too many to list.
    """

    stages: tuple[Stage, ...]
    originals: "Originals"
    assumed: frozenset[int]
    version: ThreadVersion
    revisited: Sequence[tuple[ThreadVersion, frozenset[int] | None]] = ()

    def since(
        self, played: frozenset[int]
    ) -> tuple[tuple[ThreadVersion, frozenset[int] | None], ...]:
        """What a thread made of this one revisited, if `played` is what it did itself."""
        found = [(self.version, _listed(played))]
        for version, known in self.revisited[: _ANCESTORS - 1]:
            found.append((version, None if known is None else _listed(known | played)))
        return tuple(found)


def _listed(numbers: frozenset[int]) -> frozenset[int] | None:
    return numbers if len(numbers) <= _MOST_LISTED else None


def thinned(stages: Sequence[Stage]) -> tuple[Stage, ...]:
    """The newest stages, and of the others so many that each is a step farther from the end.

    What starts from the last one before an entry plays little more than what came after it.
    """
    head = stages[-1].number
    kept = list(stages[-_ALL_KEPT:])
    for stage in reversed(stages[:-_ALL_KEPT]):
        if kept[0].number - stage.number >= (head - kept[0].number) // 4:
            kept.insert(0, stage)
    return tuple(kept)


class Originals:
    """Messages and tokens of the originals by role, counted when they are first asked for."""

    def __init__(
        self, leaves: Sequence[Leaf], known: "Originals | None" = None
    ) -> None:
        """Those of `leaves`, which begin with those that are `known`."""
        self._leaves = leaves
        self._known = known

    def grown(self, leaves: Sequence[Leaf]) -> "Originals":
        """Those of further leaves behind these."""
        if len(leaves) == len(self._leaves):
            return self
        return Originals(leaves, self if "by_role" in self.__dict__ else None)

    @cached_property
    def by_role(self) -> Mapping[str, tuple[int, int]]:
        """Messages and tokens of each role."""
        found = dict(self._known.by_role) if self._known else {}
        counted = len(self._known._leaves) if self._known else 0
        self._known = None
        for role, tokens, _ in self._leaves[counted:]:
            messages, sum_ = found.get(role, (0, 0))
            found[role] = messages + 1, sum_ + tokens
        return found
