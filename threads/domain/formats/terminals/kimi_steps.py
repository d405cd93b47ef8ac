"""Reads the journals of Kimi's sessions, step by step."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from threads.domain.formats import blocks
from threads.domain.formats.arguments import read_call, text_of
from threads.domain.formats.io import fields, json_text
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.kit.items import Item
from threads.domain.formats.kit.model_context import ModelContext
from threads.domain.formats.kit.row_format import event
from threads.domain.formats.openai import messages as openai
from threads.domain.message import Message, Role, Usage
from threads.domain.part import JSON, Part, Text, ToolCall, ToolResult
from threads.domain.transcript import Compaction, Event

_ROLES = {
    role.value: role for role in (Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL)
}


@dataclass(slots=True)
class KimiSteps:
    """Makes items from a journal's records; the parts of a step form one answer."""

    model: str = ""
    context: ModelContext = field(default_factory=ModelContext)
    _system: str = ""
    _parts: list[Part] = field(default_factory=list)
    _pieces: list[str] = field(default_factory=list)
    """Pieces of the arguments of the last part, a call, in order."""
    _records: list[str] = field(default_factory=list)
    _began: datetime | None = None
    _usage: Usage | None = None
    _typed: dict[int, Message] = field(default_factory=dict)
    """Map of ordinal to a person's message: compactions keep these, and undo goes back to one."""

    def take(self, row: Element) -> Iterator[Item]:
        """The items made from a record. Raises Invalid if it is malformed."""
        given = fields.require(row.value, dict, "a record", ())
        self.model = fields.word(given, "model") or self.model
        for item in self._read(given, row):  # note each before making the next
            self.context.note(item)
            yield item

    def rest(self) -> Iterator[Item]:
        """The answer that is held, if any."""
        self._join()
        if self._parts:
            yield Message(
                role=Role.ASSISTANT,
                parts=tuple(self._parts),
                model=self.model or None,
                created_at=self._began,
                usage=self._usage,
                records=tuple(self._records),
            )
        self._parts, self._records, self._began, self._usage = [], [], None, None

    def _read(self, given: dict[str, Any], row: Element) -> Iterator[Item]:
        kind, held = fields.text(given, "type"), given
        moment = fields.moment(given.get("time"))
        if envelope := fields.mapping(given, "message"):
            kind = kind or fields.text(envelope, "type")
            moment = moment or fields.moment(given.get("timestamp"))
            if "payload" in envelope:
                held = fields.mapping(envelope, "payload")
        elif inner := fields.mapping(given, "event"):
            kind, held = fields.text(inner, "type"), inner
        reader = _READERS.get(kind)
        if reader is not None:
            yield from reader(self, held, row, moment)
        else:
            yield Event(kind[:64] or "record", row.record, moment)

    # What a model says

    def _step(
        self, _held: dict[str, Any], row: Element, moment: datetime | None
    ) -> Iterator[Item]:
        yield from self.rest()
        yield Event("step", row.record, moment)

    def _retried(
        self, _held: dict[str, Any], row: Element, moment: datetime | None
    ) -> Iterator[Item]:
        """Turn the parts of a failed answer, which is retried from its beginning, into events."""
        for record in self._records:
            yield Event("retried", record, self._began)
        self._parts, self._pieces, self._records, self._began = [], [], [], None
        yield Event("StepRetry", row.record, moment)

    def _part(
        self, held: dict[str, Any], row: Element, moment: datetime | None
    ) -> Iterator[Item]:
        part = held.get("part", held)
        self._add(blocks.read_content(read_blocks([part]), ("part",)), row, moment)
        yield from ()

    def _call(
        self, held: dict[str, Any], row: Element, moment: datetime | None
    ) -> Iterator[Item]:
        if "function" in held:
            call = openai.read_tool_call(held, ())
        else:
            name = fields.require(
                held.get("name"), str, "the name of a tool", ("name",)
            )
            call = ToolCall(fields.text(held, "toolCallId"), name, held.get("args", {}))
        self._add((call,), row, moment)
        yield from ()

    def _call_part(
        self, held: dict[str, Any], row: Element, moment: datetime | None
    ) -> Iterator[Item]:
        """Take a piece of the arguments of the call before it."""
        last = self._parts[-1] if self._parts else None
        piece = fields.text(held, "arguments_part")
        if isinstance(last, ToolCall) and piece:
            self._pieces.append(piece)
            self._records.append(row.record)
            return
        yield Event("ToolCallPart", row.record, moment)

    def _join(self) -> None:
        """Append the pieces of a call's arguments to those it began with."""
        if self._pieces and isinstance(call := self._parts[-1], ToolCall):
            begun = "" if call.arguments is None else text_of(call)
            words = "".join([begun, *self._pieces])
            self._parts[-1] = read_call(call.id, call.name, words)
            self._pieces = []

    def _add(
        self, parts: tuple[Part, ...], row: Element, moment: datetime | None
    ) -> None:
        self._join()
        if parts and isinstance(parts[0], Text) and self._parts:
            last = self._parts[-1]
            if isinstance(last, Text) and fields.text(row.value, "type") != _APPENDED:
                self._parts[-1] = Text(last.text + parts[0].text)  # pieces of a stream
                parts = parts[1:]
        self._parts += parts
        self._records.append(row.record)
        self._began = self._began or moment

    def _end(
        self, held: dict[str, Any], row: Element, moment: datetime | None
    ) -> Iterator[Item]:
        self._usage = _usage(held.get("usage"))
        yield Event("step.end", row.record, moment)

    def _status(
        self, held: dict[str, Any], row: Element, moment: datetime | None
    ) -> Iterator[Item]:
        self._usage = _usage(held.get("token_usage")) or self._usage
        yield Event("StatusUpdate", row.record, moment)

    # What is said to it

    def _result(
        self, held: dict[str, Any], row: Element, moment: datetime | None
    ) -> Iterator[Item]:
        yield from self.rest()
        result = fields.mapping(held, "result") or fields.mapping(held, "return_value")
        output, is_error = result.get("output"), result.get("isError") is True
        content = _content(output)
        notes = fields.text(result, "note", "message")
        if notes and notes not in ("", output):
            content = (*content, Text(notes))
        is_error = is_error or result.get("is_error") is True
        id_ = fields.text(held, "toolCallId", "tool_call_id")
        part = ToolResult(id_, content, None, is_error)
        yield _message(Role.TOOL, (part,), row, moment)

    def _input(
        self, held: dict[str, Any], row: Element, moment: datetime | None
    ) -> Iterator[Item]:
        yield from self.rest()
        parts = blocks.read_content(
            read_blocks(held.get("user_input")), ("user_input",)
        )
        if parts:
            yield _message(Role.USER, parts, row, moment)
        else:
            yield Event("TurnBegin", row.record, moment)

    def _appended(
        self, held: dict[str, Any], row: Element, moment: datetime | None
    ) -> Iterator[Item]:
        """Take a message that was appended to the context as a whole."""
        yield from self.rest()
        said = fields.mapping(held, "message")
        role = blocks.read_role(said, _ROLES, ("message",))
        content = read_blocks(said.get("content"))
        if role is Role.TOOL:
            call_id = fields.text(said, "toolCallId", "tool_call_id")
            result = blocks.read_result({**said, "content": content}, call_id, ())
            yield _message(role, (result,), row, moment)
            return
        parts = blocks.read_content(content, ("message", "content"))
        calls = (
            read_call(
                fields.text(call, "id"),
                fields.text(call, "name") or "tool",
                fields.text(call, "arguments") or {},
            )
            for call in fields.items(said, "toolCalls")
        )
        message = _message(role, (*parts, *calls), row, moment)
        if not message.parts:
            yield event(row, "type")
            return
        origin = fields.text(fields.mapping(said, "origin"), "kind") or "user"
        if role is Role.USER and origin == "user":
            self._typed[self.context.count] = message
        yield message

    def _configured(
        self, held: dict[str, Any], row: Element, moment: datetime | None
    ) -> Iterator[Item]:
        """Take the system prompt, if it is new or changed."""
        words = fields.text(held, "systemPrompt")
        if words and words != self._system:
            self._system = words
            yield from self.rest()
            yield _message(Role.SYSTEM, (Text(words),), row, moment)
        else:
            yield event(row, "type")

    def _compacted(
        self, held: dict[str, Any], row: Element, moment: datetime | None
    ) -> Iterator[Item]:
        """Put the summary in place of messages; newer versions keep people's messages before it."""
        yield from self.rest()
        summary = held.get("summary")
        words = fields.text(held, "contextSummary", "summary")
        if isinstance(summary, dict):
            content = read_blocks(summary.get("content"))
            words = Message(role=Role.USER, parts=blocks.read_content(content, ())).text
        keeps = "keptUserMessageCount" in held
        size = fields.count(held, "compactedCount", "count")
        hidden = (
            self.context.hide(len(self.context) if keeps else size) if words else set()
        )
        kept = self._kept(held, hidden) if keeps else []
        said = (*kept, _message(Role.USER, (Text(words),), row, None))
        yield _replaced(hidden, said, row, moment)

    def _kept(self, held: dict[str, Any], hidden: set[int]) -> list[Message]:
        """The messages by a person that a compaction keeps: the first and the last ones."""
        typed = [message for n, message in self._typed.items() if n in hidden]
        first = fields.count(held, "keptHeadUserMessageCount")
        last = fields.count(held, "keptUserMessageCount") - first
        if first + last >= len(typed):
            return typed
        return [*typed[:first], *typed[len(typed) - max(last, 0) :]]

    def _undone(
        self, held: dict[str, Any], row: Element, moment: datetime | None
    ) -> Iterator[Item]:
        """Undo the newest turns, as many as the record says."""
        yield from self.rest()
        begun = sorted(self._typed)[-fields.count(held, "count") or len(self._typed) :]
        hidden = self.context.cut(begun[0]) if begun else set()
        for ordinal in begun:
            del self._typed[ordinal]
        yield _replaced(hidden, (), row, moment)

    def _cleared(
        self, _held: dict[str, Any], row: Element, moment: datetime | None
    ) -> Iterator[Item]:
        """Clear the context."""
        yield from self.rest()
        self._typed.clear()
        yield _replaced(self.context.cut(0), (), row, moment)


def _replaced(
    hidden: set[int],
    said: tuple[Message, ...],
    row: Element,
    moment: datetime | None,
) -> Item:
    """The compaction that replaces hidden messages; an event if none is hidden."""
    if not hidden:
        return event(row, "type")
    return Compaction(
        replaces=tuple(sorted(hidden)),
        messages=said,
        record=row.record,
        created_at=moment,
    )


_APPENDED = "context.append_loop_event"
Reading = Callable[
    [KimiSteps, dict[str, Any], Element, datetime | None], Iterator[Item]
]
_READERS: dict[str, Reading] = {
    "step.begin": KimiSteps._step,
    "StepBegin": KimiSteps._step,
    "StepRetry": KimiSteps._retried,
    "content.part": KimiSteps._part,
    "ContentPart": KimiSteps._part,
    "tool.call": KimiSteps._call,
    "ToolCall": KimiSteps._call,
    "ToolCallPart": KimiSteps._call_part,
    "tool.result": KimiSteps._result,
    "ToolResult": KimiSteps._result,
    "step.end": KimiSteps._end,
    "StatusUpdate": KimiSteps._status,
    "TurnBegin": KimiSteps._input,
    "SteerInput": KimiSteps._input,
    "context.append_message": KimiSteps._appended,
    "config.update": KimiSteps._configured,
    "profile.bind": KimiSteps._configured,
    "context.apply_compaction": KimiSteps._compacted,
    "context.undo": KimiSteps._undone,
    "context.clear": KimiSteps._cleared,
}


def read_blocks(content: JSON) -> JSON:
    """The content with reasoning blocks in the published form."""
    if not isinstance(content, list):
        return content
    return [_block(block) for block in content]


def _block(block: JSON) -> JSON:
    if fields.text(block, "type") != "think":
        return block
    words, sealed = fields.text(block, "think"), fields.text(block, "encrypted")
    if sealed and not words:
        return {"type": "redacted_thinking", "data": sealed}
    return {"type": "thinking", "thinking": words, "signature": sealed}


def _content(output: JSON) -> tuple[Any, ...]:
    """A tool's result: text, blocks, or any other value as JSON."""
    if output is not None and not isinstance(output, str | list):
        return (Text(json_text.decode(json_text.dump(output))),)
    return blocks.read_content(output, ("output",))


def _message(
    role: Role, parts: tuple[Part, ...], row: Element, moment: datetime | None
) -> Message:
    return Message(role=role, parts=parts, created_at=moment, records=(row.record,))


def _usage(usage: JSON) -> Usage | None:
    """The tokens of a step; cached tokens count as input too."""
    if not isinstance(usage, dict):
        return None
    cached = fields.count(usage, "inputCacheRead", "input_cache_read")
    written = fields.count(usage, "inputCacheCreation", "input_cache_creation")
    return Usage(
        input_tokens=fields.count(usage, "inputOther", "input_other")
        + cached
        + written,
        output_tokens=fields.count(usage, "output"),
        cached_tokens=cached,
    )
