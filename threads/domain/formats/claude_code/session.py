"""The items of Claude Code's conversations: a thread, a branch or a sub-agent of one file.

A compaction hides what was live before it and is not kept; the summary that the tool wrote
stands in its place. Cleared results (`microcompact_boundary`) read as the tool sends them; nothing
stands in the place of what a snip, or another model's answer, took out.
"""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats import blocks
from threads.domain.formats.io import fields
from threads.domain.formats.kit.graph.branches import left_over
from threads.domain.formats.kit.graph.record_graph import MESSAGE
from threads.domain.formats.kit.items import Item, Opener
from threads.domain.message import ASSISTANT, USER, Message
from threads.domain.part import Text, ToolResult
from threads.domain.transcript import Compaction, Event, Warning

from . import record as claude_record
from . import snips
from .index import SessionIndex
from .record import MessageLine

MOST_HIDDEN = 2_000_000
"""Messages that the compactions of one conversation hide, each counted with every one of them."""
MOST_COMPACTIONS = 2000
CLEARED = "[Old tool result content cleared]"
"""What the tool sends in place of a result that a micro-compaction took out."""


class ConversationPlan(NamedTuple):
    """Which conversation of a file: of which group, and by which branches it goes.

    `path` leads from the thread to the conversation's own, the last; each but the last is left
    where the next one begins.
    """

    group: int
    path: tuple[int, ...] = (0,)
    told: frozenset[int] = frozenset()
    """The branches of the group that are conversations; what lies on others are events."""
    left: int = 0
    """How many others are conversations too, beyond the bounds of a file."""


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
            self.warnings.extend(left_over(self.plan.left))
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
        self._count = 0
        self._all: list[int] = []
        """All ordinals: compactions that nest name the same, so they hold the same objects."""
        self._live_from, self._live = 0, set[int]()
        lines = len(index.graph) if index.boundaries or index.taken else 0
        self._ordinals = array("i", [-1]) * lines
        self._lines_of: dict[int, list[int]] = {}
        """Of each message, by its ordinal, where any is taken out."""
        self._is_noted = bool(lines or index.cleared)
        self._taken_out = set[int]()
        self._shortening = frozenset(
            (*index.boundaries, *index.cleared, *index.summaries, *index.taken)
        )
        self._cleared = {id_ for ids in index.cleared.values() for id_ in ids}
        """The calls whose results are cleared at any time."""
        self._summaries: dict[int, list[int]] = {}
        """By their boundary."""
        for number, boundary in index.summaries.items():
            self._summaries.setdefault(boundary, []).append(number)
        self._hidden = self._shortened = 0
        self._next_spoken: dict[int, array[int]] = {}
        """For each place of a branch the message that follows it; -1 where none does."""
        self._carriers: dict[str, tuple[int, int]] = {}
        self._told: set[int] = set()
        self._void: set[int] = set()

    def items(self) -> Iterator[Item]:
        """What the plan says; of what is shared with others messages and compactions alone."""
        for branch, following in pairwise(self._plan.path):
            for item in self._tell(branch, -1 - following):
                if not isinstance(item, Event):
                    yield item
        yield from self._tell(self._plan.path[-1], None)

    def _tell(self, branch: int, stop: int | None) -> Iterator[Item]:
        """The items of a branch, up to where another left it."""
        order, flags = self._found[branch].order, self._index.graph.flags
        follows = self._graph_branches.follows
        following = self._graph_branches.following
        for place, number in enumerate(order):
            if number == stop:
                return
            if number < 0:
                yield from self._aside(-1 - number)
            elif flags[number] & MESSAGE:
                if follows[number]:
                    continue
                if number in self._index.taken:
                    yield from self._taken_by(number)
                if following[number] < 0:
                    yield self._single(number)
                else:
                    yield from self._message(number)
            elif number in self._shortening:
                yield from self._shorten(branch, place)
            else:
                yield self._lines.event(number)

    def _shorten(self, branch: int, place: int) -> Iterator[Item]:
        """What a line that shortened the context made of it."""
        number = self._found[branch].order[place]
        if number in self._index.summaries:
            yield from self._summary(number)
        elif number in self._index.taken:
            yield from self._snip(number)
        else:
            yield from self._boundary(branch, place)

    def _aside(self, branch: int) -> Iterator[Event]:
        """The lines of a branch that is no conversation, and of those that left it."""
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
        """The message of one line; an event where it can't be read."""
        line = self._said(number)
        if isinstance(line, Event):
            return line
        message = self._made([number], line)
        if self._is_noted:
            self._note([number], message)
        self._count += 1
        return message

    def _message(self, first: int) -> Iterator[Message | Event]:
        """One message of all its lines; a line that can't be read is an event before it."""
        numbers = [first]
        following = self._graph_branches.following
        while (number := following[numbers[-1]]) >= 0:
            numbers.append(number)
        read: dict[int, MessageLine] = {}
        for number in numbers:
            line = self._said(number)
            if isinstance(line, Event):
                yield line
            else:
                read[number] = line
        if read:
            message = self._made(list(read), claude_record.joined(list(read.values())))
            self._note(numbers, message)
            self._count += 1
            yield message

    def _said(self, number: int) -> MessageLine | Event:
        try:
            return self._lines.said(number)
        except Invalid as error:
            line = self._lines.number(number)
            words = f"Line {line}, {fields.spell(error.at)}: {error.message}"
            self._warnings.append(Warning(error.code, words, line))
            return self._lines.event(number, "unreadable/")

    def _made(self, numbers: list[int], said: MessageLine) -> Message:
        parts, is_answer, source_id, model, usage = said
        return Message.__new__(  # calling the class takes twice as long
            Message,
            role=ASSISTANT if is_answer else USER,
            parts=parts,
            model=model,
            source_id=source_id,
            created_at=self._lines.stamp(numbers[0]),
            usage=usage,
            records=tuple([self._lines.place(number) for number in numbers]),
        )

    def _note(self, numbers: list[int], message: Message) -> None:
        """Remember a message where a compaction will speak of it."""
        if self._ordinals:
            for number in numbers:
                self._ordinals[number] = self._count
        if self._index.taken:
            self._lines_of[self._count] = numbers
        if self._cleared:
            for part in message.parts:
                if isinstance(part, ToolResult) and part.call_id in self._cleared:
                    self._carriers.setdefault(part.call_id, (self._count, numbers[0]))

    def _boundary(self, branch: int, place: int) -> Iterator[Item]:
        """What shortened the context here; an event where it hides nothing."""
        number = self._found[branch].order[place]
        if number in self._index.cleared:
            yield from self._clearing(number)
        elif self._is_left(branch, place):
            self._void.add(number)
            yield self._lines.event(number, "branch/")
        elif summaries := self._summaries.get(number):
            yield from self._compaction(number, summaries)
        else:
            yield self._lines.event(number)

    def _is_left(self, branch: int, place: int) -> bool:
        """Whether the conversation went on from before a compaction that was made later."""
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
        """A summary that its boundary, if it has one, did not bring."""
        boundary = self._index.summaries[number]
        if boundary in self._void:
            yield self._lines.event(number, "branch/")
        elif number not in self._told:
            yield from self._compaction(number, [number])

    def _compaction(self, number: int, summaries: list[int]) -> Iterator[Item]:
        """Summaries in the place of all that was live; messages where nothing was."""
        self._told.update(summaries)
        if self._is_too_much():
            yield from map(self._lines.event, dict.fromkeys((number, *summaries)))
            return
        told = [(one, self._said(one)) for one in summaries]
        read = [s if isinstance(s, Event) else self._made([n], s) for n, s in told]
        messages = tuple(item for item in read if isinstance(item, Message))
        kept = self._index.kept_by(number)
        ordinals = {self._ordinals[line] for line in kept} - {-1}
        keep = {n for n in ordinals if n >= self._live_from or n in self._live}
        self._all.extend(range(len(self._all), self._count))
        replaces = tuple(self._all)
        if keep:
            replaces = tuple(n for n in replaces if n not in keep)
        if not replaces or not messages:
            if number not in summaries:
                yield self._lines.event(number)
            yield from read
            self._count += len(messages)
            return
        yield from (item for item in read if isinstance(item, Event))
        record, stamp = self._lines.place(number), self._lines.stamp(number)
        yield Compaction(
            replaces=replaces, messages=messages, record=record, created_at=stamp
        )
        self._live_from, self._live = self._count, keep

    def _is_too_much(self) -> bool:
        """Whether one more compaction would be more than is told; the first time, say so."""
        self._hidden += self._count
        self._shortened += 1
        if self._hidden <= MOST_HIDDEN and self._shortened <= MOST_COMPACTIONS:
            return False
        words = "There are more compactions than are told; later ones are events."
        if all(warning.code != "compactions_left" for warning in self._warnings):
            self._warnings.append(Warning("compactions_left", words))
        return True

    def _clearing(self, number: int) -> Iterator[Item]:
        """A shorter message for each whose results were cleared."""
        carriers: dict[tuple[int, int], set[str]] = {}
        for call_id in self._index.cleared[number]:
            carrier = self._carriers.pop(call_id, None)
            if carrier and (carrier[0] >= self._live_from or carrier[0] in self._live):
                carriers.setdefault(carrier, set()).add(call_id)
        record, stamp = self._lines.place(number), self._lines.stamp(number)
        if not carriers:
            yield self._lines.event(number)
        for (ordinal, line), call_ids in sorted(carriers.items()):
            message = self._lines.exact_value(line)["message"]
            parts = tuple(
                replace(part, content=(Text(CLEARED),))
                if isinstance(part, ToolResult) and part.call_id in call_ids
                else part
                for part in blocks.read_content(message.get("content"), ())
            )
            shorter = (Message(role=USER, parts=parts),)
            yield Compaction(
                replaces=(ordinal,), messages=shorter, record=record, created_at=stamp
            )

    def _snip(self, number: int) -> Iterator[Item]:
        """What a line that is no message took out; an event where that is nothing."""
        found: list[Item] = [*self._taken_by(number)]
        yield from found or [self._lines.event(number)]

    def _taken_by(self, number: int) -> Iterator[Compaction]:
        """Nothing in the place of messages that were taken out; of others what is left of them."""
        removed = map(self._index.graph.find, self._index.taken[number])
        left = snips.left_of(
            set(removed), self._ordinals, self._lines_of, self._taken_out
        )
        if not left or self._is_too_much():
            return
        whole = tuple(ordinal for ordinal, lines in left.items() if not lines)
        self._taken_out.update(whole)
        record, stamp = self._lines.place(number), self._lines.stamp(number)
        if whole:
            yield Compaction(
                replaces=whole, messages=(), record=record, created_at=stamp
            )
        for ordinal, lines in left.items():
            said = [line for one in lines if isinstance(line := self._said(one), tuple)]
            if said:
                shorter = (self._made(lines, claude_record.joined(said)),)
                yield Compaction(
                    replaces=(ordinal,),
                    messages=shorter,
                    record=record,
                    created_at=stamp,
                )
