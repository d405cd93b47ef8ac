"""The leaves of a thread: originals, and messages that operations make."""

from dataclasses import dataclass
from typing import NamedTuple

from threads.domain.part import Part


class Leaf(NamedTuple):
    """All that replay needs to know of an original; its key follows from its index."""

    role: str
    tokens: int
    group: int


@dataclass(frozen=True, slots=True)
class MadeMessage:
    """A message that an operation makes. `tokens` is its count in the session's encoding."""

    role: str
    parts: tuple[Part, ...]
    tokens: int = 0
