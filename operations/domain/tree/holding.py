"""What a fold holds. Nothing changes it: its leaves are folded further, or change places in it."""

from typing import NamedTuple


class HeldLeaves(NamedTuple):
    """The leaves of a fold, counted; `tokens` are theirs as they were recorded or made.

    `first` and `last` are the lowest and highest index of the originals among them (None where
    there are none), `groups` the groups of these.
    """

    tokens: int
    first: int | None
    last: int | None
    groups: frozenset[int]


class Holding:
    """What one making of a fold put into it; all versions of a draft with that fold share this."""

    __slots__ = ("held",)

    def __init__(self) -> None:
        """Not counted yet: most folds of a version are never asked for."""
        self.held: HeldLeaves | None = None
