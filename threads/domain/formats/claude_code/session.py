"""The items of Claude Code's conversations: a thread, a branch or a sub-agent of one file.

Compactions and the like are yielded where their lines are (see `shortening`).
"""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from threads.domain.formats.kit.graph.branches import branches_left_warning
from threads.domain.formats.kit.graph.record_graph import MESSAGE
from threads.domain.formats.kit.items import Item, Opener
from threads.domain.message import Message
from threads.domain.transcript import Event, Warning

from . import record as claude_record
from .index import SessionIndex
from .record import MessageLine
from .shortening import Shortenings


class ConversationPlan(NamedTuple):
    """Identifies a conversation of a file by its group and its chain of branches.

    `path` leads from the thread to the conversation's own branch, which is last. Each branch is
    followed up to where the next one leaves it.
    """

    group: int
    path: tuple[int, ...] = (0,)
    told: frozenset[int] = frozenset()
    """The branches of the group that are conversations; lines on others are events."""
    left: int = 0
    """How many more branches would be conversations, but exceed the limits of a file."""


@dataclass(frozen=True, slots=True)
class SessionItems:
    """The messages, events and compactions of a conversation, in the order of its graph."""

    open: Opener
    plan: ConversationPlan
    index: SessionIndex | None
    warnings: list[Warning] = field(default_factory=list)

    def __iter__(self) -> Iterator[Item]:
        self.warnings.clear()
        with self.open() as file:
            index = self.index or SessionIndex(file)
            is_thread = self.plan.group == 0 and len(self.plan.path) == 1
            self.warnings.extend(index.warnings if is_thread else ())
            self.warnings.extend(branches_left_warning(self.plan.left))
            yield from _ConversationReader(index, self.plan, self.warnings).items()


class _ConversationReader:
    """One pass over a conversation."""

    def __init__(
        self, index: SessionIndex, plan: ConversationPlan, warnings: list[Warning]
    ) -> None:
        self._index, self._plan, self._warnings = index, plan, warnings
        self._lines = index.lines
        self._graph_branches = index.branches
        self._found = self._graph_branches.of(plan.group)
        self._shortenings = Shortenings(index, warnings)
        self._next_spoken: dict[int, array[int]] = {}
        """For each branch, the next message after each place; -1 if there is none."""
        self._void: set[int] = set()
        """Compactions that don't apply, because the conversation continued from before them."""

    def items(self) -> Iterator[Item]:
        """The items of the conversation; from shared lines, only messages and compactions."""
        for branch, following in pairwise(self._plan.path):
            for item in self._branch_items(branch, -1 - following):
                if not isinstance(item, Event):
                    yield item
        yield from self._branch_items(self._plan.path[-1], None)

    def _branch_items(self, branch: int, stop: int | None) -> Iterator[Item]:
        """The items of a branch, up to where another leaves it."""
        order, flags = self._found[branch].order, self._index.graph.flags
        follows = self._graph_branches.follows
        following = self._graph_branches.following
        for place, number in enumerate(order):
            if number == stop:
                return
            if number < 0:
                yield from self._branch_events(-1 - number)
            elif flags[number] & MESSAGE:
                if follows[number]:
                    continue
                if number in self._index.taken:
                    yield from self._shortenings.taken_by(number)
                if following[number] < 0:
                    yield self._single(number)
                else:
                    yield from self._message(number)
            elif number in self._shortenings.lines:
                yield from self._shorten(branch, place)
            else:
                yield self._lines.event(number)

    def _shorten(self, branch: int, place: int) -> Iterator[Item]:
        """The items of a line that shortened the context."""
        number = self._found[branch].order[place]
        if number in self._index.summaries:
            yield from self._summary(number)
        elif number in self._index.taken:
            yield from self._shortenings.snip(number)
        else:
            yield from self._boundary(branch, place)

    def _branch_events(self, branch: int) -> Iterator[Event]:
        """Events for a branch that is not a conversation, and for the branches that leave it."""
        waiting = [] if branch in self._plan.told else [branch]
        while waiting:
            for number in self._found[waiting.pop()].order:
                if number < 0:
                    waiting.append(-1 - number)
                else:
                    is_message = self._index.graph.flags[number] & MESSAGE
                    prefix = "sidechain/" if self._plan.group else "branch/"
                    yield self._lines.event(number, prefix if is_message else "")

    def _single(self, number: int) -> Message | Event:
        """The message of one line; an event if it can't be read."""
        line = self._lines.attempt(number, self._warnings)
        if isinstance(line, Event):
            return line
        message = self._lines.message([number], line)
        self._shortenings.note_message([number], message)
        return message

    def _message(self, first: int) -> Iterator[Message | Event]:
        """One message from all its lines; a line that can't be read is an event before it."""
        numbers = [first]
        following = self._graph_branches.following
        while (number := following[numbers[-1]]) >= 0:
            numbers.append(number)
        read: dict[int, MessageLine] = {}
        for number in numbers:
            line = self._lines.attempt(number, self._warnings)
            if isinstance(line, Event):
                yield line
            else:
                read[number] = line
        if read:
            said = claude_record.joined(list(read.values()))
            message = self._lines.message(list(read), said)
            self._shortenings.note_message(numbers, message)
            yield message

    def _boundary(self, branch: int, place: int) -> Iterator[Item]:
        """The items of a compaction's boundary; an event if it hides nothing."""
        number = self._found[branch].order[place]
        if number in self._index.cleared:
            yield from self._shortenings.clearing(number)
        elif self._is_left(branch, place):
            self._void.add(number)
            yield self._lines.event(number, "branch/")
        elif summaries := self._shortenings.summaries.get(number):
            yield from self._shortenings.compaction(number, summaries)
        else:
            yield self._lines.event(number)

    def _is_left(self, branch: int, place: int) -> bool:
        """Whether the conversation continued from before this compaction, which was made later."""
        number = self._found[branch].order[place]
        if self._graph_branches.has_messages(number):
            return False
        if branch not in self._next_spoken:
            order, flags = self._found[branch].order, self._index.graph.flags
            found, spoken = array("i", order), -1
            for at in range(len(order) - 1, -1, -1):
                found[at] = spoken
                if order[at] >= 0 and flags[order[at]] & MESSAGE:
                    spoken = order[at]
            self._next_spoken[branch] = found
        return 0 <= self._next_spoken[branch][place] < number

    def _summary(self, number: int) -> Iterator[Item]:
        """The items of a summary that its boundary, if it has one, did not yield."""
        boundary = self._index.summaries[number]
        if boundary in self._void:
            yield self._lines.event(number, "branch/")
        elif number not in self._shortenings.told:
            yield from self._shortenings.compaction(number, [number])
