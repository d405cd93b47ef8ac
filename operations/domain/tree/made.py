"""Messages that operations make."""

from dataclasses import dataclass

from threads.domain.part import Part


@dataclass(frozen=True, slots=True)
class New:
    """A message that an operation makes. `tokens` is its count in the session's encoding."""

    role: str
    parts: tuple[Part, ...]
    tokens: int = 0
