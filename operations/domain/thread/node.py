"""What a thread is asked for: its nodes, what the model reads of them, and their extras."""

from dataclasses import dataclass
from typing import NamedTuple

from operations.domain.tree.key import Key
from operations.domain.tree.leaf import New


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageNode:
    """A message as it stands in the thread: an original, or one that was inserted.

    `tokens` is its own count, `saved` how much replacing and masking takes from it.
    `moved_by` is the resequence that took it from between others. `depth` counts the folds
    around it.
    """

    key: Key
    index: int | None
    role: str
    tokens: int
    saved: int
    group: int | None
    operation: Key | None
    message: New | None
    moved_by: Key | None
    tags: tuple[str, ...]
    changed: bool
    depth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldNode:
    """A fold: what it shows (`messages`, with keys `<key>.<k>`) and what it holds.

    `first` and `last` are the lowest and highest index of the originals in it (None where it
    holds none), `count` their number; `leaves` counts inserted messages too; `children` its
    own nodes, `folds` those of them that are folds. `tokens_before` are those of its leaves,
    `tokens_after` those of what it shows.
    """

    key: Key
    operation: Key
    kind: str
    first: int | None
    last: int | None
    count: int
    leaves: int
    children: int
    folds: int
    tokens_before: int
    tokens_after: int
    messages: tuple[New, ...]
    moved_by: Key | None
    changed: bool
    depth: int


Node = MessageNode | FoldNode


class EffectiveMessage(NamedTuple):
    """One message that the model sees. `message` is None where it is an original."""

    key: Key
    role: str
    tokens: int
    index: int | None  # type: ignore[assignment]  # hides that of tuples
    message: New | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Where an edit that is not in the tree would stand: before a node, or behind it."""

    operation: Key
    behind: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """Nodes that a resequence took from behind another; None: from the first place.

    `within` is the fold that they stand in, None in the thread.
    """

    operation: Key
    keys: tuple[Key, ...]
    behind: Key | None
    within: Key | None


class FoldTokens(NamedTuple):
    """The tokens of the leaves of a fold; `kind` is that of the edit that made it."""

    key: Key
    kind: str
    tokens: int


class Tokens(NamedTuple):
    """Token counts: of all originals, and of what the model sees.

    `by_role` splits the messages that stand unfolded, `folds` is what folds show; together
    they are `effective`.
    """

    original: int
    effective: int
    by_role: dict[str, int]
    folds: int
