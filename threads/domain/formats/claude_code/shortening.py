"""What shortened the context of a Claude Code session: compactions, clearings and snips.

A compaction hides all live messages before it, except those that it keeps, and the tool's summary
replaces them. Cleared results (`microcompact_boundary`) read as the tool sends them. Nothing
replaces what a snip, or another model's answer, removed.
"""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import replace

from threads.domain.formats import blocks
from threads.domain.formats.kit.items import Item
from threads.domain.message import USER, Message
from threads.domain.part import Text, ToolResult
from threads.domain.transcript import Compaction, Event, Warning

from . import record as claude_record
from .index import SessionIndex
from .record import MessageLine

MAX_HIDDEN = 2_000_000
"""The most hidden messages of one conversation, counted once per compaction that hides them."""
MAX_COMPACTIONS = 2000
CLEARED = "[Old tool result content cleared]"
"""What the tool sends in place of a result that a micro-compaction cleared."""


class Shortenings:
    """Makes compactions in the order of a conversation; every message must be passed to `hear`."""

    def __init__(self, index: SessionIndex, warnings: list[Warning]) -> None:
        self.lines = frozenset(
            (*index.boundaries, *index.cleared, *index.summaries, *index.taken)
        )
        """The lines that shortened the context, or removed something from it."""
        self.summaries: dict[int, list[int]] = {}
        """Map of boundary to its summaries."""
        for number, boundary in index.summaries.items():
            self.summaries.setdefault(boundary, []).append(number)
        self.told: set[int] = set()
        """The summaries that were yielded."""
        self._index, self._lines, self._warnings = index, index.lines, warnings
        self._count = 0
        """The number of messages yielded."""
        self._all: list[int] = []
        """All ordinals; nested compactions name the same ones, and so share the same objects."""
        self._live_from, self._live = 0, set[int]()
        lines = len(index.graph) if index.boundaries or index.taken else 0
        self._ordinals = array("i", [-1]) * lines
        """For each line, the ordinal of its message; -1 if it has none."""
        self._lines_of: dict[int, Sequence[int]] = {}
        """Map of a message's ordinal to its lines; filled only if any lines are removed."""
        self._taken_out = set[int]()
        self._cleared = {id_ for ids in index.cleared.values() for id_ in ids}
        """All calls whose results are cleared at some point."""
        self._carriers: dict[str, tuple[int, int]] = {}
        """Map of each of these calls to ordinal and first line of the message with its result."""
        self._hidden = self._shortened = 0

    def note_message(self, numbers: Sequence[int], message: Message) -> None:
        """Remember a message that is yielded now, if a compaction may refer to it."""
        if self._ordinals:
            for number in numbers:
                self._ordinals[number] = self._count
        if self._index.taken:
            self._lines_of[self._count] = numbers
        if self._cleared:
            for part in message.parts:
                if isinstance(part, ToolResult) and part.call_id in self._cleared:
                    self._carriers.setdefault(part.call_id, (self._count, numbers[0]))
        self._count += 1

    def compaction(self, number: int, summaries: list[int]) -> Iterator[Item]:
        """Summaries in place of all live messages; plain messages if there were none."""
        self.told.update(summaries)
        if self._is_too_much():
            yield from map(self._lines.event, dict.fromkeys((number, *summaries)))
            return
        told = [(one, self._said(one)) for one in summaries]
        read = [
            s if isinstance(s, Event) else self._lines.message([n], s) for n, s in told
        ]
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
        """Whether one more compaction exceeds the limits; the first time, with a warning."""
        self._hidden += self._count
        self._shortened += 1
        if self._hidden <= MAX_HIDDEN and self._shortened <= MAX_COMPACTIONS:
            return False
        words = "There are too many compactions; the later ones are kept as events."
        if all(warning.code != "compactions_left" for warning in self._warnings):
            self._warnings.append(Warning("compactions_left", words))
        return True

    def clearing(self, number: int) -> Iterator[Item]:
        """A shorter message in place of each message whose results were cleared."""
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

    def snip(self, number: int) -> Iterator[Item]:
        """The compactions of a line that isn't a message; an event if it removed nothing."""
        found: list[Item] = [*self.taken_by(number)]
        yield from found or [self._lines.event(number)]

    def taken_by(self, number: int) -> Iterator[Compaction]:
        """Compactions for removed lines: whole messages vanish; others keep the rest."""
        removed = set(map(self._index.graph.find, self._index.taken[number]))
        left = self._left_by(removed)
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
                shorter = (self._lines.message(lines, claude_record.joined(said)),)
                yield Compaction(
                    replaces=(ordinal,),
                    messages=shorter,
                    record=record,
                    created_at=stamp,
                )

    def _left_by(self, removed: set[int]) -> dict[int, list[int]]:
        """Map of the ordinal of each message that lost lines to its remaining lines."""
        told = {self._ordinals[line] for line in removed if line >= 0}
        return {
            ordinal: [
                one for one in sorted(self._lines_of[ordinal]) if one not in removed
            ]
            for ordinal in sorted(told - {-1} - self._taken_out)
        }

    def _said(self, number: int) -> MessageLine | Event:
        return self._lines.attempt(number, self._warnings)
