"""Reads the messages and events of a Gemini CLI session, record by record."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, BinaryIO

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.io import fields, json_file
from threads.domain.formats.kit.calls import OpenCalls
from threads.domain.formats.kit.context_view import ContextView
from threads.domain.formats.kit.items import Item, Opener
from threads.domain.message import Message, Role, Usage
from threads.domain.part import (
    JSON,
    File,
    Image,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from threads.domain.transcript import Compaction, Event, Warning

from .cli_index import Checkpoint, CliIndex, CliRecord
from .parts import read_parts

ROLES = {"user": Role.USER, "gemini": Role.ASSISTANT}
FAILED = frozenset({"error", "cancelled"})
_INSIDE = (Text, Image, File)


def read_items(
    index: CliIndex, open_: Opener, warnings: list[Warning]
) -> Iterator[Item]:
    """The items of a session, in the order in which they were first written."""
    with open_() as file:
        reader = _RecordReader(file, index.answered(), warnings)
        for step in index.steps:
            if isinstance(step, Event):
                yield step
            elif isinstance(step, Checkpoint):
                yield from reader.checkpoint(step)
            else:
                yield from reader.entry(step)


class _RecordReader:
    """One pass over a session's steps."""

    def __init__(
        self, file: BinaryIO, answered: frozenset[str], warnings: list[Warning]
    ) -> None:
        self._file = file
        self._warnings = warnings
        self._answered = answered
        self._calls = OpenCalls()
        self._view = ContextView()
        self._told: set[CliRecord] = set()
        self._answers: dict[str, tuple[JSON, CliRecord]] = {}
        """Map of call id to its result, and the first record with that result."""
        self._first: dict[CliRecord, tuple[CliRecord, ...]] = {}
        """Map of record to the records that first contained its results: usually itself."""

    def entry(self, entry: CliRecord) -> Iterator[Message | Event]:
        """The items of a record; events if it was removed, or only repeats results."""
        self._told.add(entry)
        if entry.is_gone:
            for span in entry.spans:
                yield Event(f"rewound/{entry.type}", span.record)
            return
        if self._said_first(entry) != (entry,):
            for span in entry.spans:
                yield Event(f"repeated/{entry.type}", span.record)
            return
        found = self._messages(entry)
        self._view.add(entry, sum(isinstance(item, Message) for item in found))
        yield from found

    def checkpoint(self, step: Checkpoint) -> Iterator[Item]:
        """Compactions and new items for a context that was rewritten as a whole."""
        standing = [entry for entry in step.entries if entry.type in ROLES]
        first = chain.from_iterable(map(self._said_first, standing))
        spoken = list(dict.fromkeys(first))
        added: set[CliRecord] = set()
        for change in list(self._view.become(spoken)):
            entries = spoken[change.start : change.end]
            if not change.hidden:
                added.update(entries)
                continue
            found = [item for entry in entries for item in self._messages(entry)]
            messages = tuple(item for item in found if isinstance(item, Message))
            yield Compaction(
                replaces=change.hidden, messages=messages, record=step.span.record
            )
        for entry in step.entries:
            is_aside = entry.type not in ROLES or self._said_first(entry) != (entry,)
            if entry in added or (is_aside and entry not in self._told):
                yield from self.entry(entry)

    def _said_first(self, entry: CliRecord) -> tuple[CliRecord, ...]:
        """The records whose results a record only repeats; else the record itself."""
        if entry in self._first:
            return self._first[entry]
        for id_ in entry.calls:  # an id that is reused belongs to another call
            self._answers.pop(id_, None)
        known = [self._answers.get(id_) for id_ in entry.answers]
        before = [
            one[1]
            for one, answer in zip(known, entry.answers.values(), strict=True)
            if one is not None and one[0] == answer and not one[1].is_gone
        ]
        if entry.is_answer and len(before) == len(known):
            self._first[entry] = tuple(dict.fromkeys(before))
        else:
            self._answers |= {id_: (one, entry) for id_, one in entry.answers.items()}
            self._first[entry] = (entry,)
        return self._first[entry]

    def _messages(self, entry: CliRecord) -> list[Message | Event]:
        """The messages of a record; an event if it has none, or can't be read."""
        span = entry.spans[-1]
        record = json_file.value(self._file, span, (entry.id,), self._warnings)
        created_at = fields.moment(fields.mapping(record).get("timestamp"))
        if entry.type not in ROLES:
            return [Event(entry.type or "record", span.record, created_at)]
        try:
            read = self._model if entry.type == "gemini" else self._user
            found = list(read(fields.require(record, dict, "a record", ())))
        except Invalid as error:
            self._warnings.append(json_file.warning(error, (entry.id,)))
            return [Event("unreadable", span.record, created_at)]
        records = tuple(span.record for span in entry.spans)
        return [
            Message(
                role=role,
                parts=parts,
                model=None if nth else fields.word(record, "model") or None,
                source_id=f"{entry.id}_response" if nth else entry.id,
                created_at=created_at,
                usage=None if nth else _usage(record.get("tokens")),
                records=records,
            )
            for nth, (role, parts) in enumerate(found)
        ] or [Event(f"{entry.type}/empty", span.record, created_at)]

    def _user(self, record: dict[str, Any]) -> Iterator[tuple[Role, tuple[Part, ...]]]:
        parts = _once(read_parts(_said(record), ("content",), self._calls))
        is_answer = parts and all(isinstance(part, ToolResult) for part in parts)
        yield Role.TOOL if is_answer else Role.USER, parts

    def _model(self, record: dict[str, Any]) -> Iterator[tuple[Role, tuple[Part, ...]]]:
        content = read_parts(_said(record), ("content",), self._calls)
        is_whole = any(
            isinstance(part, ToolCall) or (isinstance(part, Thinking) and part.text)
            for part in content
        )
        known = {part.id for part in content if isinstance(part, ToolCall)}
        thoughts = [] if is_whole else list(_thoughts(record))
        beside = [
            call for call in fields.items(record, "toolCalls") if isinstance(call, dict)
        ]
        calls = [
            ToolCall(self._calls.begin(id_, name), name, call.get("args", {}))
            for call in beside
            if (id_ := fields.text(call, "id")) not in known
            for name in [fields.text(call, "name")]
        ]
        if parts := (*thoughts, *content, *calls):
            yield Role.ASSISTANT, parts
        if results := tuple(self._results(beside)):
            yield Role.TOOL, results

    def _results(self, calls: list[dict[str, Any]]) -> Iterator[ToolResult]:
        """The results of a record's calls, except those that have a record of their own."""
        for call in calls:
            id_, result = fields.text(call, "id"), call.get("result")
            if result is None or id_ in self._answered:
                continue
            id_ = self._calls.answer(id_, fields.text(call, "name"))
            content = tuple(_content(result, id_))
            is_error = fields.text(call, "status") in FAILED
            yield ToolResult(id_, content, fields.text(call, "name") or None, is_error)


def _once(parts: Iterable[Part]) -> tuple[Part, ...]:
    """The parts without repeated results."""
    found: list[Part] = []
    for part in parts:
        if not isinstance(part, ToolResult) or part not in found:
            found.append(part)
    return tuple(found)


def _said(record: dict[str, Any]) -> JSON:
    """A record's content, under Gemini CLI's name or the API's."""
    return record["content"] if "content" in record else record.get("parts")


def _thoughts(record: dict[str, Any]) -> Iterator[Thinking]:
    for thought in fields.items(record, "thoughts"):
        subject = fields.text(thought, "subject")
        said = [
            f"**{subject}**" if subject else "",
            fields.text(thought, "description"),
        ]
        if text := "\n\n".join(filter(None, said)):
            yield Thinking(text)


def _content(result: JSON, call_id: str) -> Iterator[Text | Image | File]:
    """A call's result: its own response among the turn's parts, and the media beside it."""
    parts = read_parts(result, ("toolCalls",), OpenCalls())
    is_only = sum(isinstance(part, ToolResult) for part in parts) == 1
    for part in parts:
        if isinstance(part, ToolResult):
            if is_only or part.call_id in ("", call_id):
                yield from (item for item in part.content if isinstance(item, _INSIDE))
        elif isinstance(part, _INSIDE):
            yield part


def _usage(tokens: JSON) -> Usage | None:
    """The `tokens` of a record: thoughts count as output, tool use as input."""
    usage = Usage(
        input_tokens=fields.count(tokens, "input") + fields.count(tokens, "tool"),
        output_tokens=fields.count(tokens, "output") + fields.count(tokens, "thoughts"),
        cached_tokens=fields.count(tokens, "cached"),
    )
    return usage if usage != Usage() else None
