"""How a thread was made, kept so that the next version is replayed only from where it differs.

Versions of a draft share what they have in common, so a thread can afford to keep several: the
drafts after certain entries of its log, close together near its end and further and further apart
towards its beginning.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from operations.domain.tree.draft import ThreadDraft
from operations.domain.tree.leaf import Leaf

_ALL_KEPT = 8
"""How many of the newest stages are all kept."""
_MAX_LISTED = 1_000
"""The most edits that `revisited` lists."""
_ANCESTORS = 4
"""For how many earlier versions `revisited` lists edits."""


class Stage(NamedTuple):
    """The closed draft after all edits up to a number.

    `waits_from` is the first edit that named an original that was not there yet, and so must be
    played again once there are more. 0 stands for one of the client's edits, which act before all
    others.
    """

    number: int
    draft: ThreadDraft
    waits_from: int | None


class ThreadVersion:
    """Identifies a thread without keeping it alive."""


class Playback(NamedTuple):
    """The stages of a thread, the last of which is the thread itself.

    The edits in `assumed` acted whatever their state and condition. `revisited` lists, for some
    earlier versions, the edits that may have had another outcome there; None if there are too
    many.
    """

    stages: tuple[Stage, ...]
    originals: "Originals"
    assumed: frozenset[int]
    version: ThreadVersion
    revisited: Sequence[tuple[ThreadVersion, frozenset[int] | None]] = ()

    def since(
        self, played: frozenset[int]
    ) -> tuple[tuple[ThreadVersion, frozenset[int] | None], ...]:
        """The `revisited` of a thread that was made from this one by playing the edits `played`."""
        found = [(self.version, _listed(played))]
        for version, known in self.revisited[: _ANCESTORS - 1]:
            found.append((version, None if known is None else _listed(known | played)))
        return tuple(found)


def _listed(numbers: frozenset[int]) -> frozenset[int] | None:
    return numbers if len(numbers) <= _MAX_LISTED else None


def thinned(stages: Sequence[Stage]) -> tuple[Stage, ...]:
    """The newest stages, and fewer and fewer of the older ones.

    For every entry, the last stage before it is near: playing from there plays little more than
    the entries after it.
    """
    head = stages[-1].number
    kept = list(stages[-_ALL_KEPT:])
    for stage in reversed(stages[:-_ALL_KEPT]):
        if kept[0].number - stage.number >= (head - kept[0].number) // 4:
            kept.insert(0, stage)
    return tuple(kept)


class Originals:
    """The number and tokens of originals by role, counted on first use."""

    def __init__(
        self, leaves: Sequence[Leaf], known: "Originals | None" = None
    ) -> None:
        """`leaves` begin with those that `known` has counted."""
        self._leaves = leaves
        self._known = known

    def extended(self, leaves: Sequence[Leaf]) -> "Originals":
        """The counts for these leaves, which extend the current ones."""
        if len(leaves) == len(self._leaves):
            return self
        return Originals(leaves, self if "by_role" in self.__dict__ else None)

    @cached_property
    def by_role(self) -> Mapping[str, tuple[int, int]]:
        """Maps each role to the number and the tokens of its messages."""
        found = dict(self._known.by_role) if self._known else {}
        counted = len(self._known._leaves) if self._known else 0
        self._known = None
        for role, tokens, _ in self._leaves[counted:]:
            messages, sum_ = found.get(role, (0, 0))
            found[role] = messages + 1, sum_ + tokens
        return found
