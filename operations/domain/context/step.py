"""What a step between the thread and what is sent leaves out or adds."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

from operations.domain.providers.request import Outgoing
from operations.domain.tree.key import Key
from threads.domain.part import Part

Count = Callable[[Sequence[Part]], int]
"""Counts the tokens of a message with these parts."""


class Omission(NamedTuple):
    """A message that was left out or lost tokens.

    `tokens` is negative if a text that was cut only slightly grew by the words that say so.
    """

    key: Key
    tokens: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step and its token counts: `before` + `added` - the tokens of `left_out` = `after`."""

    name: str
    before: int
    after: int
    added: int = 0
    left_out: tuple[Omission, ...] = ()

    @property
    def shortened(self) -> int:
        """The tokens by which replaced and masked text outweighs what was added."""
        return max(0, -self.added)


_TOKENS = attrgetter("tokens")


def weigh(messages: Iterable[Outgoing]) -> int:
    """The total tokens of messages."""
    return sum(map(_TOKENS, messages))


def leaving_out(
    name: str, messages: Iterable[Outgoing], left_out: Sequence[Omission]
) -> Step:
    """A step that left these omissions out of messages."""
    before = weigh(messages)
    after = before - sum(map(_TOKENS, left_out))
    return Step(name=name, before=before, after=after, left_out=tuple(left_out))
