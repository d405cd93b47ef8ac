"""Classifies the lines of a Gemini CLI session, in a first pass over the file.

A record is written again under its `id` as it grows. `$rewindTo` removes a record and all after it.
`$set` with `messages` is a checkpoint: the whole context, rewritten. A resumed session records tool
results again, under another id.

Sources: packages/core/src/services/chatRecordingService.ts of google-gemini/gemini-cli, and its
issue 29365.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from threads.domain.formats.io import fields, json_file, source
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.io.source import BROKEN, ByteSpan
from threads.domain.part import JSON
from threads.domain.transcript import Event, Warning


@dataclass(eq=False, slots=True)
class CliRecord:
    """A record of a session with its id: where it was written, and whether it was removed."""

    id: str
    type: str
    spans: list[ByteSpan]
    digest: bytes
    answers: dict[str, JSON] = field(default_factory=dict)
    """Map of call id to the result in its content."""
    is_answer: bool = False
    """Whether it contains only results."""
    calls: tuple[str, ...] = ()
    """The ids of its calls."""
    is_gone: bool = False
    """Whether a rewind removed it."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The context from this point on."""

    entries: list[CliRecord]
    span: ByteSpan


Step = CliRecord | Event | Checkpoint


@dataclass(slots=True)
class CliIndex:
    """The steps of a session in order, and what is known about it."""

    steps: list[Step] = field(default_factory=list)
    about: dict[str, Any] = field(default_factory=dict)
    warnings: list[Warning] = field(default_factory=list)

    def entries(self) -> Iterator[CliRecord]:
        """The records that were not removed."""
        for step in self.steps:
            found = step.entries if isinstance(step, Checkpoint) else [step]
            for entry in found:
                if isinstance(entry, CliRecord) and not entry.is_gone:
                    yield entry

    def answered(self) -> frozenset[str]:
        """The ids of the calls whose results have a record of their own."""
        return frozenset(id_ for entry in self.entries() for id_ in entry.answers)


_TYPES = {"model": "gemini"}
"""Map of the type names of other programs that write this format to Gemini CLI's."""


class _IndexReader:
    """One pass over a file, with the records that are current at each point."""

    def __init__(self, file: BinaryIO, index: CliIndex) -> None:
        self._file, self._index = file, index
        self._steps, self._warnings = index.steps, index.warnings
        self._shown: dict[str, CliRecord] = {}

    def line(self, value: JSON, span: ByteSpan) -> None:
        """Take a line."""
        if value is BROKEN:
            self._steps.append(Event("unreadable", span.record))
        elif back := fields.text(value, "$rewindTo"):
            self._rewind(back, span)
        elif fields.text(value, "id"):
            self._write(value, span)
        elif isinstance(change := fields.mapping(value).get("$set"), dict):
            self._set(change, span, within="$set")
        elif fields.text(value, "sessionId"):
            self._set(value, span)
        else:
            type_ = fields.text(value, "type") or "record"
            self._steps.append(Event(type_, span.record))

    def _set(self, members: dict[str, Any], span: ByteSpan, within: str = "") -> None:
        """Take members that a line sets; the file is read again only if they include messages."""
        if "messages" in members:
            if not within and self._is_another(members):
                self._warnings.append(Warning("another_session", _another(span)))
                self._steps.append(Event("session", span.record))
                return
            self.head(span, within)
            return
        self._index.about |= members
        self._steps.append(Event(within or "session", span.record))

    def _is_another(self, members: dict[str, Any]) -> bool:
        """Whether a whole session is not the current one: the file is several files joined."""
        known = fields.text(self._index.about, "sessionId")
        return bool(self._steps) and fields.text(members, "sessionId") != known

    def head(self, span: ByteSpan, within: str = "") -> None:
        """Take the members at a place; if they include messages, these replace all earlier ones."""
        members = json_file.places(self._file, span, self._warnings)
        if within:
            members = json_file.places(self._file, members[within], self._warnings)
        for name in members.keys() - {"messages"}:
            self._index.about[str(name)] = json_file.get(self._file, members, str(name))
        if "messages" not in members:
            return
        pieces = json_file.named_elements(
            self._file, members["messages"], ("messages",), self._warnings
        )
        found = [entry for piece in pieces if (entry := self._element(piece))]
        self._shown = {}
        for entry in found:  # same ids are not versions of one record here
            if self._shown.setdefault(entry.id, entry) is not entry:
                entry.id = f"{entry.id}@{entry.spans[0].start}"
                self._shown[entry.id] = entry
        if within:
            self._steps.append(Event("checkpoint", span.record))
        self._steps.append(Checkpoint(list(self._shown.values()), span))

    def _element(self, piece: Element) -> CliRecord | None:
        """The record of a checkpoint's element: the current one if equal, else a new one."""
        if not fields.text(piece.value, "id") and not fields.text(piece.value, "type"):
            self._steps.append(Event("unreadable", piece.span.record))
            return None
        entry = _entry(piece.value, piece.span)
        before = self._shown.get(entry.id)
        return before if before and before.digest == entry.digest else entry

    def _write(self, record: JSON, span: ByteSpan) -> None:
        entry = _entry(record, span)
        before = self._shown.get(entry.id)
        if before and before.type != entry.type:  # each type grows separately
            entry.id = f"{entry.id}/{entry.type}"
            before = self._shown.get(entry.id)
        if before is None:
            self._shown[entry.id] = entry
            self._steps.append(entry)
            return
        before.spans.append(span)
        before.type, before.digest = entry.type, entry.digest
        before.answers, before.is_answer = entry.answers, entry.is_answer
        before.calls = entry.calls

    def _rewind(self, id_: str, span: ByteSpan) -> None:
        """Remove a record and all after it; everything, if it is unknown."""
        ids = list(self._shown)
        for gone in ids[ids.index(id_) if id_ in self._shown else 0 :]:
            self._shown.pop(gone).is_gone = True
        self._steps.append(Event("$rewindTo", span.record))


def _another(span: ByteSpan) -> str:
    return (
        f"At byte {span.start:,} another session begins, which is not read: import each as"
        " a file of its own."
    )


def _entry(record: dict[str, Any], span: ByteSpan) -> CliRecord:
    type_ = fields.text(record, "type")
    said = [record.get(name) for name in ("type", "content", "toolCalls", "thoughts")]
    text = json.dumps(said, sort_keys=True)
    content = record.get("content")
    parts = content if isinstance(content, list) else [content]
    made = [*_within(parts, "functionCall"), *fields.items(record, "toolCalls")]
    responses = _within(parts, "functionResponse")
    answers = {fields.text(one, "id"): one for one in responses}
    return CliRecord(
        id=fields.text(record, "id") or f"@{span.start}",
        type=_TYPES.get(type_, type_),
        spans=[span],
        digest=hashlib.sha256(text.encode()).digest(),
        answers={id_: one for id_, one in answers.items() if id_},
        is_answer=len(responses) == len(parts) and "" not in answers,
        calls=tuple(id_ for one in made if (id_ := fields.text(one, "id"))),
    )


def _within(parts: list[JSON], name: str) -> list[dict[str, Any]]:
    return [held for part in parts if (held := fields.mapping(part, name))]


def read_index(file: BinaryIO) -> CliIndex:
    """The index of a whole file: JSON Lines, or one document."""
    found = CliIndex()
    reader = _IndexReader(file, found)
    if next(json_file.documents(file, []), None) != json_file.whole(file):
        for line, value in source.records(file, found.warnings):
            reader.line(value, line.span)
    else:
        reader.head(json_file.whole(file))
    return found


def agents(index: CliIndex, file: BinaryIO) -> dict[str, str]:
    """Map of a sub-agent's session to the call that started it."""
    found = {}
    for entry in index.entries():
        if entry.type == "gemini":
            record = json_file.value(file, entry.spans[-1], (), [])
            for call in fields.items(record, "toolCalls"):
                if agent := fields.text(call, "agentId"):
                    found[agent] = fields.text(call, "id")
    return found
