"""Values that a thread returns: its nodes, what the model reads of them, and related details."""

from dataclasses import dataclass
from typing import NamedTuple

from operations.domain.tree.key import Key
from operations.domain.tree.leaf import MadeMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageNode:
    """A message in the thread: an original, or an inserted one.

    `tokens` is its own count, `saved` how much replaces and masks take from it. `moved_by` is the
    resequence that moved it from between others. `depth` counts the folds around it.
    """

    key: Key
    index: int | None
    role: str
    tokens: int
    saved: int
    group: int | None
    operation: Key | None
    message: MadeMessage | None
    moved_by: Key | None
    tags: tuple[str, ...]
    changed: bool
    depth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldNode:
    """A fold: what it shows (`messages`, with keys `<key>.<k>`) and what it holds.

    `first` and `last` are the lowest and highest index of the originals in it (None if it holds
    none), and `count` is their number. `leaves` also counts inserted messages. `children` counts
    its direct nodes, and `folds` those of them that are folds. `tokens_before` counts its leaves,
    `tokens_after` what it shows.
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
    messages: tuple[MadeMessage, ...]
    moved_by: Key | None
    changed: bool
    depth: int


Node = MessageNode | FoldNode


class EffectiveMessage(NamedTuple):
    """One message that the model sees. `message` is None for an original."""

    key: Key
    role: str
    tokens: int
    index: int | None  # type: ignore[assignment]  # hides that of tuples
    message: MadeMessage | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Where an edit that is not in the tree would be: before a node or after it."""

    operation: Key
    is_after: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedNodes:
    """Nodes that a resequence moved away; they were after `after`, or first if it is None.

    `within` is the fold that they are in, None in the thread.
    """

    operation: Key
    keys: tuple[Key, ...]
    after: Key | None
    within: Key | None


class FoldTokens(NamedTuple):
    """The tokens of the leaves of a fold; `kind` is the kind of the edit that made it."""

    key: Key
    kind: str
    tokens: int


class Tokens(NamedTuple):
    """Token counts of all originals and of what the model sees.

    `by_role` splits the count of unfolded messages, and `folds` counts what folds show; together
    they make `effective`.
    """

    original: int
    effective: int
    by_role: dict[str, int]
    folds: int
