"""What a step between the thread and what is sent left out or added."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

from operations.domain.providers.request import Outgoing
from operations.domain.tree.key import Key
from threads.domain.part import Part

Count = Callable[[Sequence[Part]], int]
"""Gives the tokens of a message with these parts."""


class Omission(NamedTuple):
    """What of a message was left out: all of it, or as many tokens as it lost.

    A text that was cut short to little less than it had can grow by the words that say so:
    `tokens` is negative then.
    """

    key: Key
    tokens: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step with its tokens: `before` + `added` - those of `left_out` = `after`."""

    name: str
    before: int
    after: int
    added: int = 0
    left_out: tuple[Omission, ...] = ()


_TOKENS = attrgetter("tokens")


def weigh(messages: Iterable[Outgoing]) -> int:
    """The tokens of messages together."""
    return sum(map(_TOKENS, messages))


def leaving_out(
    name: str, messages: Iterable[Outgoing], left_out: Sequence[Omission]
) -> Step:
    """The step that left this out of messages."""
    before = weigh(messages)
    after = before - sum(map(_TOKENS, left_out))
    return Step(name=name, before=before, after=after, left_out=tuple(left_out))
