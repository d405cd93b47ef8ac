"""The contents of a fold. They never change: leaves are only folded further or change places."""

from typing import NamedTuple


class HeldLeaves(NamedTuple):
    """The leaves of a fold, counted; `tokens` counts them as recorded or made.

    `first` and `last` are the lowest and highest index of the originals among them (None if there
    are none), and `groups` are the groups of these.
    """

    tokens: int
    first: int | None
    last: int | None
    groups: frozenset[int]


class Holding:
    """The contents of one fold, shared by all versions of a draft that have this fold."""

    __slots__ = ("held",)

    def __init__(self) -> None:
        """Counted on request, because most folds of a version are never asked for."""
        self.held: HeldLeaves | None = None
