"""Messages on their way from the thread to a provider, and the layers before them."""

from dataclasses import dataclass, field
from typing import NamedTuple

from operations.domain.tree.key import Key
from threads.domain.message import Role
from threads.domain.part import Part


class Outgoing(NamedTuple):
    """A message that the model is about to see, in the words that it reads in the thread.

    `node` is the node at the top of the thread that shows it: itself, or its fold. `group` is
    the group of the first original of that node (of the node before it for an insert), and
    `groups` are all that it counts as: more than one only for a fold.
    """

    key: Key
    node: Key
    role: Role
    parts: tuple[Part, ...]
    tokens: int
    group: int
    groups: frozenset[int]
    strategy: str
    """The `parsing_strategy` of the original; the session's for what an operation made."""
    index: int | None = None  # type: ignore[assignment]  # nobody looks for a value in it
    """Of the original; None for what an operation made."""
    kind: str | None = None
    """The kind of the edit that made it (digest, revise, insert, condense), `marker` for the
    marker of a fold, which has the fold's key; None: an original."""
    changed: bool = False
    """Whether it reads otherwise than it was recorded."""
    name: str | None = None


PROMPT = "system"
"""The layer that is the system prompt of the thread itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """Words that stand before the history: system, guidelines, state, scratchpad, memos.

    `keys` are the messages that the words are of: the system prompt's originals; none else.
    """

    name: str
    text: str
    tokens: int
    keys: tuple[Key, ...] = field(default=())
