"""The output that agents stream while they run, one event per line.

Finds the runs in a file, and assembles answers from their lines. A file may hold the output of
several runs: consecutive runs of one session are joined, and a run of another session is a session
of its own.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, BinaryIO

from threads.domain.formats.io import fields, source, windows
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.io.source import ByteSpan
from threads.domain.message import Message, Role, Usage
from threads.domain.part import Part, Text, ToolCall
from threads.domain.transcript import Transcript, Warning

from .items import Item, Items
from .transcripts import require_transcripts, transcript_of

MAX_HELD_BYTES = 16 << 20
"""The most bytes of lines for one message; lines beyond them go to the next message."""


@dataclass(slots=True)
class StreamRun:
    """The lines of one session in a file, and what they tell about it."""

    start: int = 0
    lines: int = 0
    """The number of lines before it."""
    end: int = 0
    id: str = ""
    model: str = ""
    speaks: bool = False
    """Whether any of its lines becomes a message."""
    open: dict[str, int] = field(default_factory=dict)
    """Map of each item that has begun but not ended to the place of its last line."""
    unfinished: set[int] = field(default_factory=set)
    """The places of the last lines of items that never ended."""

    def begin(self, id_: str) -> None:
        """Begin a run: items left open by the run before never end."""
        self.id = id_
        self.unfinished.update(self.open.values())
        self.open.clear()


Begins = Callable[[dict[str, Any]], str]
"""Returns the session's id if a run begins with the record; else an empty string."""
ReadRun = Callable[[StreamRun, list[Warning]], Iterator[Item]]
"""Reads the items of a session."""
Note = Callable[[StreamRun, dict[str, Any], int], None]
"""Notes what must be known before reading, from a record at its place in the file."""


def find(file: BinaryIO, begins: Begins, note: Note) -> list[StreamRun]:
    """The sessions of a file in order; at least one.

    A run in which nothing is said belongs to the next one, or at the end to the one before.
    """
    found = [StreamRun()]
    for number, start, end, value in windows.records(file):
        record = fields.mapping(value)
        if id_ := begins(record):
            if found[-1].speaks and found[-1].id != id_:
                found[-1].begin(found[-1].id)
                found.append(StreamRun(start, number - 1))
            found[-1].begin(id_)
        note(found[-1], record, start)
        found[-1].end = end
    found[-1].begin(found[-1].id)
    if len(found) > 1 and not found[-1].speaks:
        silent = found.pop()
        found[-1].end = silent.end
    return found


def transcripts(
    found: list[StreamRun], read: ReadRun, label: str, name: str, **members: Any
) -> list[Transcript]:
    """The sessions as transcripts, titled by their ids if no user's words give a title.

    Raises Invalid if none holds a message; beside others, a session may hold only events.
    """
    readings = [Items(partial(read, run)) for run in found]
    told = [
        transcript_of(reading, external_id=run.id or None, model=run.model, **members)
        for run, reading in zip(found, readings, strict=True)
    ]
    require_transcripts(told, readings[0].warnings, label)
    return [
        replace(
            one
            or Transcript(
                title="",
                items=reading,
                external_id=run.id or None,
                warnings=reading.warnings,
                **members,
            ),
            title=(one and one.title) or f"{name} {run.id[:8]}".rstrip(),
        )
        for run, reading, one in zip(found, readings, told, strict=True)
    ]


def rows(file: BinaryIO, run: StreamRun, warnings: list[Warning]) -> Iterator[Element]:
    """The lines of a session."""
    for line in source.lines(file, ByteSpan(run.start, run.end), run.lines):
        yield Element(source.read_line(line, warnings), line.span, line.number)


class StreamedMessage:
    """A message by the model that is assembled from several lines."""

    def __init__(self, model: str = "") -> None:
        self._model = model
        self._parts: list[tuple[int, Part]] = []
        """The parts with their places, by which they are sorted; equal places keep their order."""
        self._words: list[str] = []
        self._records: list[str] = []
        self._created_at: datetime | None = None
        self._behind: list[Item] = []
        self._size = 0
        self.id = ""
        self.has_calls = False
        self.has_results = False
        self.is_partial = False
        self.usage: Usage | None = None

    def __bool__(self) -> bool:
        return bool(self._records)

    @property
    def is_full(self) -> bool:
        """Whether it holds so much that no more is added."""
        return self._size > MAX_HELD_BYTES

    def add(
        self,
        part: Part | str,
        row: Element,
        created_at: datetime | None = None,
        place: int = 0,
    ) -> None:
        """Add a part; a string continues the text before it."""
        if isinstance(part, str):
            self._words.append(part)
        else:
            self._join()
            self._parts.append((place, part))
            self.has_calls = self.has_calls or isinstance(part, ToolCall)
        if not self._records:
            self._created_at = created_at
        self._records.append(row.record)
        self._size += row.span.end - row.span.start

    def keep(self, item: Item, row: Element) -> None:
        """Hold an event, or the result of one of its calls, that follows it."""
        self._behind.append(item)
        self.has_results = self.has_results or isinstance(item, Message)
        self._size += row.span.end - row.span.start

    def followed_by(self, item: Item, row: Element) -> Iterator[Item]:
        """Yield the item, unless it is held with this message, which it follows."""
        if self and not self.is_full:
            self.keep(item, row)
        else:
            yield item

    def items(self) -> Iterator[Item]:
        """The message and the items that followed; nothing if it has no part."""
        if self:
            yield self._message()
            yield from self._behind

    def _message(self) -> Message:
        self._join()
        placed = sorted(self._parts, key=lambda one: one[0])
        return Message(
            role=Role.ASSISTANT,
            parts=tuple(part for _, part in placed),
            model=self._model or None,
            source_id=self.id or None,
            created_at=self._created_at,
            usage=self.usage,
            partial=self.is_partial,
            records=tuple(self._records),
        )

    def _join(self) -> None:
        if self._words:
            self._parts.append((0, Text("".join(self._words))))
            self._words.clear()
