"""What was rolled back in a Codex rollout, as Codex's own reader finds it.

A rollback drops the newest turns, each from its user's message on, together with the context
that Codex put in just before it; not before the first turn.
"""

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from threads.domain.formats.io import fields, source

from .record import Record, is_typed, parse_record

MOST = 1000
"""Rollbacks after which branches are not told apart any more."""
Range = tuple[int, int]
"""Numbers of lines, the end exclusive."""


class Rollback(NamedTuple):
    """The lines of a branch that was left, and those which it had left itself by then."""

    start: int
    end: int
    """The record that says so."""
    offset: int
    """Where the first line is in the file."""
    left: tuple[Range, ...]


class Rollbacks:
    """Goes through the lines of a rollout; `ranges` are those that are not in the thread."""

    def __init__(self) -> None:
        self.ranges: list[Range] = []
        self._turns: list[tuple[int, int]] = []
        """The line and the offset of what begins each turn that still stands."""
        self._context: tuple[int, int] | None = None

    def read(self, file: BinaryIO) -> Iterator[Rollback]:
        """Each rollback of the file, in their order."""
        for line in source.lines(file):
            record = parse_record(line.data or b"")
            place = (line.number, line.span.start)
            if record is None or record.kind in ("event_msg", "turn_context"):
                if count := _count(record):
                    yield from self._drop(count, line.number)
            elif _is_context(record):
                self._context = self._context or place
            else:
                if _begins_turn(record):
                    self._turns.append((self._turns and self._context) or place)
                self._context = None

    def _drop(self, count: int, end: int) -> Iterator[Rollback]:
        if not self._turns:
            return
        start, offset = self._turns[max(-count, -len(self._turns))]
        del self._turns[-count:]
        if len(self.ranges) < MOST:
            yield Rollback(start, end, offset, tuple(self.ranges))
        while self.ranges and self.ranges[-1][0] >= start:
            self.ranges.pop()
        self.ranges.append((start, end))
        self._context = None


def _count(record: Record | None) -> int:
    """How many turns a record rolls back."""
    if record is None or record.type != "thread_rolled_back":
        return 0
    return fields.count(record.payload, "num_turns")


def _is_context(record: Record) -> bool:
    role = record.payload.get("role")
    is_message = record.kind == "response_item" and role in ("user", "developer")
    return is_message and not is_typed(record.payload)


def _begins_turn(record: Record) -> bool:
    """Whether an item is what a user, or another agent, said."""
    if record.kind == "response_item":
        return record.type == "agent_message" or record.payload.get("role") == "user"
    return record.kind == "inter_agent_communication"
