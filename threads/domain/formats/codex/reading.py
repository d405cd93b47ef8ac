"""One pass through the lines of a Codex rollout: assembles answers, finds compactions."""

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any, BinaryIO

from contextstudio.accounts.domain.errors import Invalid, Place
from threads.domain.formats.io import fields, source, windows
from threads.domain.formats.io.json_text import MAX_DEPTH, is_exact
from threads.domain.formats.io.source import BROKEN, ByteSpan, Line
from threads.domain.formats.kit.items import Item
from threads.domain.formats.openai.items import (
    AssistantTurn,
    ReadItem,
    message_of,
    read_item,
    read_usage,
)
from threads.domain.message import ASSISTANT, TOOL, Message, Role
from threads.domain.part import JSON, Opaque, Text
from threads.domain.transcript import Compaction, Event, Warning

from .rollout import Range, is_typed, name_of, opened

ENDS = frozenset({"task_started", "turn_started", "task_complete", "turn_aborted"})
"""Events at which an answer ends in any case."""
UNKEPT = frozenset({"event_msg", "turn_context"})
"""Kinds of records from which only texts and small numbers are taken."""
MAX_HELD = 1000
"""The most items held back until the tokens of their answer are known."""


class RolloutReading:
    """The items of a rollout, yielded as they are read.

    The items of one answer are consecutive. Its tokens come after the outputs of its calls, so an
    answer and the items after it are held until then, or until the next answer.
    """

    def __init__(
        self,
        file: BinaryIO,
        warnings: list[Warning],
        rolled_back: Iterable[Range] = (),
        end: int | None = None,
    ) -> None:
        """Read the thread, or a branch up to line `end`; `rolled_back` lines become events."""
        self.file = file
        self.warnings = warnings
        self.rolled_back = rolled_back
        self.end = end
        self.model = ""
        self.total: JSON = None
        """The last reported tokens of the whole session; a repeated report is ignored."""
        self.answer: AssistantTurn | None = None
        """The answer that is held; it comes before the other held items."""
        self.is_open = False
        """Whether more items of the answer may follow."""
        self.held: list[Item] = []
        self.ready: list[Item] = []
        self.given = self.first = 0
        """The number of messages given, and of those that no compaction hides: the instructions."""
        self.place = (0, 0, 0)
        """Number, start and end of the current line."""
        self.is_begun = False
        """Whether the session's header was read; in a fork, the copied session's header follows."""
        self.typed = array("Q")
        """Number, start and end of the user's lines, which Codex's older compactions kept."""

    def __iter__(self) -> Iterator[Item]:
        branches = iter(self.rolled_back)
        branch = next(branches, None)
        for number, start, end, value in windows.records(self.file):
            if number == self.end:
                break
            while branch and branch[1] <= number:
                branch = next(branches, None)
            self.place = (number, start, end)
            is_branch = branch is not None and branch[0] <= number
            self._take(value, f"bytes:{start}-{end}", is_branch=is_branch)
            if self.ready:
                yield from self.ready
                self.ready.clear()
        self._release()
        yield from self.ready

    @property
    def line(self) -> Line:
        """The current line."""
        number, start, end = self.place
        return Line(number, ByteSpan(start, end), None)

    def _take(self, value: JSON, place: str, *, is_branch: bool) -> None:
        kind, payload, type_ = opened(value)
        if value is BROKEN or (
            kind not in UNKEPT and not is_exact(payload, MAX_DEPTH - 1)
        ):
            line = self.line
            value = windows.read_again(self.file, line.number, line.span, self.warnings)
            if value is BROKEN:
                self.held.append(Event("unreadable", place))
                return
            kind, payload, type_ = opened(value)
        stamp = value.get("timestamp") if type(value) is dict else None
        at = fields.moment(stamp) if stamp else None
        if is_branch:
            self.is_open = False
            if kind == "response_item":
                self._read(payload, self.line)  # only for its warning
            self.held.append(Event(f"branch/{name_of(kind, type_)}", place, at))
        elif kind == "response_item":
            self._item(payload, type_, place, at)
        else:
            event = Event(name_of(kind, type_), place, at)
            if kind == "event_msg":
                self._event(payload, type_, event)
            else:
                self._other(kind, payload, event)
        if len(self.held) > MAX_HELD:
            self._release()

    # Items

    def _item(
        self, payload: dict[str, Any], type_: str, place: str, at: datetime | None
    ) -> None:
        try:
            item = read_item(payload)
        except Invalid as error:
            self._warn(error, self.line)
            name = name_of("response_item", type_)
            self.held.append(Event(f"unreadable/{name}", place, at))
            return
        if item is None:
            self.held.append(Event(name_of("response_item", type_), place, at))
        elif item[0] is ASSISTANT:
            if not self.is_open or self.answer is None or self.answer.size > MAX_HELD:
                self._release()
                self.answer, self.is_open = AssistantTurn(), True
            self.answer.add(item[1], payload, place, at)
        elif item[0] is TOOL:
            self.is_open = False
            self.held.append(message_of(item, payload, (place,), at))
        else:
            self._spoken(payload, item, at)

    def _warn(self, error: Invalid, line: Line) -> None:
        words = f"Line {line.number}, {fields.spell(error.at)}: {error.message}"
        self.warnings.append(Warning(error.code, words, line.number))

    def _read(self, payload: JSON, line: Line, at: Place = ()) -> ReadItem | None:
        """The item; None if it isn't one, with a warning if it is malformed."""
        try:
            return read_item(payload, at)
        except Invalid as error:
            self._warn(error, line)
            return None

    def _spoken(
        self, payload: dict[str, Any], item: ReadItem, at: datetime | None
    ) -> None:
        """Take a message by a user or developer, before which everything held is released."""
        line = self.line
        self._release()
        if item[0] is Role.USER and is_typed(payload):
            self.typed.extend((line.number, *line.span))
        self.held.append(message_of(item, payload, (line.span.record,), at))

    # Other records

    def _event(self, payload: dict[str, Any], type_: str, event: Event) -> None:
        self.held.append(event)
        if type_ in ENDS:
            self.is_open = False
        elif type_ == "token_count":  # for the latest answer
            info = fields.mapping(payload.get("info"))
            total, last = info.get("total_token_usage"), info.get("last_token_usage")
            is_told, self.total = total == self.total, total or self.total
            if not is_told and (usage := read_usage(last, last)):
                if self.answer is not None:
                    self.answer.usage = usage
                self._release()

    def _other(self, kind: str, payload: dict[str, Any], event: Event) -> None:
        if kind == "compacted":
            self._compaction(self.line, payload, event)
        elif kind == "inter_agent_communication":
            words = fields.text(payload, "content")  # in older versions
            part = Text(words) if words else Opaque(kind, payload)
            item = Role.USER, (part,), fields.text(payload, "author") or None
            self._spoken(payload, item, event.created_at)
        elif kind == "session_meta" and not self.is_begun:
            self.is_begun = True
            self._instructions(payload, event)
        else:
            if kind == "turn_context":
                self.is_open = False
                self._release()
                self.model = fields.word(payload, "model") or self.model
            self.held.append(event)

    def _instructions(self, meta: dict[str, Any], event: Event) -> None:
        """Take the first message: the base instructions sent with every request."""
        words = fields.text(fields.mapping(meta, "base_instructions"), "text")
        self._release()
        if not words or self.given:
            self.held.append(event)
            return
        item = Role.SYSTEM, (Text(words),), None
        self.held.append(message_of(item, None, (event.record,), event.created_at))
        self.first = 1
        self._release()

    # Compactions

    def _compaction(self, line: Line, payload: dict[str, Any], event: Event) -> None:
        self._release()
        messages = tuple(self._replacement(line, payload))
        if not messages:
            self.held.append(event)
        elif self.given > self.first:
            self.ready.append(
                Compaction(
                    replaces=tuple(range(self.first, self.given)),
                    messages=messages,
                    record=event.record,
                    created_at=event.created_at,
                )
            )
        else:
            self.held.extend(messages)
            self._release()

    def _replacement(self, line: Line, payload: dict[str, Any]) -> Iterator[Message]:
        """What the model saw from then on. Older versions record only the summary."""
        history = payload.get("replacement_history")
        if isinstance(history, list):
            yield from self._history(history, line)
            return
        for number, start, end in zip(*[iter(self.typed)] * 3, strict=True):
            place = Line(number, ByteSpan(start, end), None)
            value = source.read_span(self.file, place.span)
            yield from self._history([opened(value)[1]], place)
        words = fields.text(payload, "message") or "(no summary available)"
        yield from self._history([{"role": "user", "content": words}], line)

    def _history(self, history: list[JSON], line: Line) -> Iterator[Message]:
        records = (line.span.record,)
        answer = AssistantTurn()
        for number, payload in enumerate(history):
            item = self._read(payload, line, ("replacement_history", number))
            if item is not None and item[0] is ASSISTANT:
                answer.add(item[1], payload, records[0])
                continue
            if message := answer.message(self.model):
                yield replace(message, records=records)
            answer = AssistantTurn()
            if item is not None:
                yield message_of(item, payload, records)
        if message := answer.message(self.model):
            yield replace(message, records=records)

    # What is held

    def _release(self) -> None:
        """Release the held items, starting with the answer, which is now complete."""
        if self.answer is not None:
            message = self.answer.message(self.model)
            if message is not None:
                self.given += 1
                self.ready.append(message)
            else:
                kind = "response_item/reasoning"
                self.ready += [Event(kind, record) for record in self.answer.records]
            self.answer, self.is_open = None, False
        self.given += [type(item) for item in self.held].count(Message)
        self.ready += self.held
        self.held.clear()
