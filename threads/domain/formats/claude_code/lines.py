"""The lines of a Claude Code session: the place, type and time of each."""

import io
from array import array
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import BinaryIO

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats import blocks
from threads.domain.formats.io import fields, source
from threads.domain.formats.io.source import ByteSpan
from threads.domain.message import ASSISTANT, USER, Message
from threads.domain.part import JSON
from threads.domain.transcript import Event, Warning

from . import record as claude_record
from .record import MessageLine

HELD = 24 << 20
"""The size in bytes up to which a file's messages are held until they are read. A larger file is
parsed again instead, because held messages take several times its size."""


class SessionLines:
    """Holds arrays of numbers, as a session may have millions of lines; contents are read again."""

    def __init__(self, file: BinaryIO, *, is_told: bool) -> None:
        """`is_told`: whether the messages will be read soon and in order."""
        self._window = source.Window(file)
        self._starts, self._ends = array("Q"), array("Q")
        self._numbers = array("I")
        self._stamps = array("d")
        self._types = array("I")
        self._type_numbers: dict[str, int] = {}
        self._type_names: list[str] = []
        self._held: dict[int, JSON] = {}
        """Map of line to message, so that a short file is parsed only once."""
        self._is_held = is_told and file.seek(0, io.SEEK_END) <= HELD

    def hold(self, record: dict[str, JSON]) -> None:
        """Hold the contents of the next line, a message's, if the file is short.

        Its parts are made only when it is yielded, because a consumer may store the messages before
        it meanwhile.
        """
        if self._is_held:
            self._held[len(self._starts)] = {
                "type": record["type"],
                "uuid": record.get("uuid"),
                "message": record["message"],
                "sourceToolUseID": record.get("sourceToolUseID"),
            }

    def add(self, number: int, start: int, end: int, type_: str, at: JSON) -> None:
        """Add a line with its place, its type, and when it was written."""
        self._starts.append(start)
        self._ends.append(end)
        self._numbers.append(number)
        stamp = fields.moment(at)
        self._stamps.append(stamp.timestamp() if stamp else 0)
        known = self._type_numbers.get(type_)
        if known is None:
            known = self._type_numbers[type_] = len(self._type_names)
            self._type_names.append(type_)
        self._types.append(known)

    def said(self, line: int) -> MessageLine:
        """The contents of a message's line. Raises Invalid if malformed or nested too deep."""
        said = claude_record.read(self.value(line))
        if blocks.are_exact(said[0]):
            return said
        return claude_record.read(self.exact_value(line))

    def attempt(self, line: int, warnings: list[Warning]) -> MessageLine | Event:
        """The contents of a message's line; an event, with a warning, if it can't be read."""
        try:
            return self.said(line)
        except Invalid as error:
            number = self.number(line)
            words = f"Line {number}, {fields.spell(error.at)}: {error.message}"
            warnings.append(Warning(error.code, words, number))
            return self.event(line, "unreadable/")

    def message(self, lines: Sequence[int], said: MessageLine) -> Message:
        """The message of lines with these contents together."""
        parts, is_answer, source_id, model, usage = said
        return Message.__new__(  # calling the class takes twice as long
            Message,
            role=ASSISTANT if is_answer else USER,
            parts=parts,
            model=model,
            source_id=source_id,
            created_at=self.stamp(lines[0]),
            usage=usage,
            records=tuple([self.place(line) for line in lines]),
        )

    def value(self, line: int) -> JSON:
        """A message's line: its `type`, `uuid` and `message`, and possibly more.

        It has not been checked with `json_text.is_exact`.
        """
        if (held := self._held.pop(line, None)) is not None:
            return held
        return self._window.rough_value(ByteSpan(self._starts[line], self._ends[line]))

    def exact_value(self, line: int) -> JSON:
        """The exact value of a line. Raises Invalid if it is nested too deep."""
        return self._window.value(ByteSpan(self._starts[line], self._ends[line]))

    def place(self, line: int) -> str:
        """The locator of a line in the file."""
        return f"bytes:{self._starts[line]}-{self._ends[line]}"

    def number(self, line: int) -> int:
        """The number of a line, counted from 1 as in editors."""
        return self._numbers[line]

    def stamp(self, line: int) -> datetime | None:
        """When a line was written; None if unknown."""
        seconds = self._stamps[line]
        return datetime.fromtimestamp(seconds, UTC) if seconds else None

    @property
    def last_stamp(self) -> float:
        """The latest time of any line, in seconds since 1970; 0 if none has one."""
        return max(self._stamps, default=0)

    def event(self, line: int, prefix: str = "") -> Event:
        """An event for a line, with a prefix to its type if it could have been a message."""
        type_ = self._type_names[self._types[line]]
        return Event(prefix + type_, self.place(line), self.stamp(line))
