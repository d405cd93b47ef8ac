"""Qwen Code's sessions: Gemini's contents in lines that name their parents.

The thread is the path to the last line; lines abandoned by a rewind are a branch. A
`chat_compression` holds the whole context that the model was given from then on. Older sessions
(one JSON object) have Gemini CLI's format.

A sub-agent's lines are in a file of its own, `subagents/<session>/agent-<id>.jsonl`, with its
session's id. The call that started it is in `agent-<id>.meta.json` beside it (`qwen_agents.py`).

Source: github.com/QwenLM/qwen-code, `packages/core/src/services/chatRecordingService.ts`,
`sessionService.ts`, `chatCompressionService.ts`; `packages/core/src/agents/agent-transcript.ts`.
"""

from array import array
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, BinaryIO

from threads.domain.formats.claude_code.record import is_of_qwen
from threads.domain.formats.format import Format
from threads.domain.formats.gemini import messages as gemini
from threads.domain.formats.io import fields, source, windows
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.kit.calls import OpenCalls
from threads.domain.formats.kit.context_view import ContextView
from threads.domain.formats.kit.graph.branches import branches, branches_left_warning
from threads.domain.formats.kit.items import Item, Items, attempt
from threads.domain.formats.kit.transcripts import require_transcripts, transcript_of
from threads.domain.formats.sample import Sample
from threads.domain.message import Role
from threads.domain.part import JSON
from threads.domain.transcript import (
    Compaction,
    Event,
    Parent,
    Relation,
    Transcript,
    Warning,
)

from . import qwen_agents

NAME = "qwen_code"
LABEL = "a Qwen Code session"
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "tool_result": Role.TOOL}
COMPRESSION = "system/chat_compression"


@dataclass(slots=True)
class QwenIndex:
    """The places of a file's lines, and what they tell about the session."""

    file: BinaryIO
    session_id: str = ""
    agent_id: str = ""
    """The id of the sub-agent that the file belongs to, if any."""
    title: str = ""
    model: str = ""
    spans: "array[int]" = field(default_factory=lambda: array("q"))
    """Number, start and end of each line."""
    parents: "array[int]" = field(default_factory=lambda: array("q"))
    ids: list[str] = field(default_factory=list)
    said: bytearray = field(default_factory=bytearray)
    warnings: list[Warning] = field(default_factory=list)
    _places: dict[str, int] = field(default_factory=dict)

    def add(self, line: source.Line, value: JSON) -> None:
        """Take the next line; without a known parent, its parent is the line before."""
        place = len(self.parents)
        record = fields.mapping(value)
        id_ = fields.text(record, "uuid")
        parent = self._places.get(fields.text(record, "parentUuid"), place - 1)
        if record.get("parentUuid", "") is None:
            parent = -1
        parent = self._places.get(id_, parent)  # more of the same message
        self._places[id_ or f"@{line.span.start}"] = place
        self.session_id = self.session_id or fields.word(record, "sessionId", limit=200)
        if record.get("isSidechain") is True:
            self.agent_id = self.agent_id or fields.word(record, "agentId", limit=200)
        told = fields.mapping(record, "systemPayload")
        self.title = fields.text(told, "customTitle") or self.title
        self.model = fields.word(record, "model") or self.model
        self.spans.extend((line.number, *line.span))
        self.parents.append(parent)
        self.ids.append(id_ or f"@{line.span.start}")
        self.said.append(_is_said(record))

    @property
    def external_id(self) -> str:
        """The conversation's id: the session's, followed by the sub-agent's if it is one."""
        named = self.session_id and self.agent_id
        return f"{self.session_id}/{self.agent_id}" if named else self.session_id

    @property
    def parent(self) -> Parent | None:
        """The session that a sub-agent belongs to; None if it isn't a sub-agent."""
        if self.external_id == self.session_id:
            return None
        return Parent(external_id=self.session_id, relation=Relation.SUBAGENT)

    def row(self, place: int, warnings: list[Warning]) -> Element:
        """A line, read again."""
        number, start, end = self.spans[3 * place : 3 * place + 3]
        span = ByteSpan(start, end)
        value = windows.read_again(self.file, number, span, warnings)
        return Element(value, span, number)


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The session of a file and its branches. Raises Invalid if it holds no message."""
    index = QwenIndex(file)
    for line, value in source.records(file, index.warnings):
        index.add(line, value)
    leaf = len(index.parents) - 1
    found: list[Transcript | None] = []
    ways = branches(
        index.parents, leaf, lambda nodes: [node for node in nodes if index.said[node]]
    )
    for way in ways if leaf >= 0 else ():
        given = branches_left_warning(way.beyond)
        items = Items(partial(_items, index, way.nodes, way.left), given=given)
        made = transcript_of(
            items,
            format=NAME,
            external_id=way.external_id(index.external_id, index.ids),
            strategy="gemini",
            model=index.model,
            parent=way.parent(index.external_id, index.ids, ways)
            if way.number
            else index.parent,
        )
        if made:
            title = fields.one_line(index.title) or made.title
            made = replace(made, title=way.title(title))
        found.append(made)
    return require_transcripts(found, index.warnings, LABEL)


def _is_said(record: dict[str, Any]) -> bool:
    parts = fields.items(record.get("message"), "parts")
    return bool(parts) and fields.text(record, "type") in _ROLES


def _items(
    index: QwenIndex, nodes: Sequence[int], left: Sequence[int], warnings: list[Warning]
) -> Iterator[Item]:
    """The items of a branch, in order, followed by events for the lines on no branch."""
    reader = _Reading()
    for place in nodes:
        row = index.row(place, warnings)
        yield from attempt(partial(reader.take, row), row, warnings)
    for place in left:
        row = index.row(place, warnings)
        yield Event(f"branch/{_kind(fields.mapping(row.value))}"[:64], row.record)


class _Reading:
    """Makes items from lines, and tracks what the model sees."""

    def __init__(self) -> None:
        self._calls = OpenCalls()
        self._view = ContextView()

    def take(self, row: Element) -> list[Item]:
        """The items of a line. Raises Invalid if it is malformed."""
        record = fields.require(row.value, dict, "a record", ())
        kind = _kind(record)
        if kind == COMPRESSION:
            return list(self._compressed(record, row)) or [_event(record, row)]
        if not _is_said(record):
            return [_event(record, row)]
        content = fields.mapping(record, "message")
        role = _ROLES[kind.partition("/")[0]]
        message = gemini.read_content(content, self._calls, at=("message",))
        self._view.add(_key(content))
        is_answer = role is Role.ASSISTANT
        return [
            replace(
                message,
                role=message.role if role is Role.USER else role,
                model=fields.word(record, "model") or None if is_answer else None,
                source_id=fields.word(record, "uuid") or None,
                created_at=fields.moment(record.get("timestamp")),
                usage=gemini.read_usage(record.get("usageMetadata")),
                records=(row.record,),
            )
        ]

    def _compressed(self, record: dict[str, Any], row: Element) -> Iterator[Item]:
        """Compactions for the differences between the new context and the old one."""
        payload = fields.mapping(record, "systemPayload")
        history = fields.items(payload, "compressedHistory")
        for change in list(self._view.become([_key(one) for one in history])):
            made = [
                gemini.read_content(
                    one,
                    OpenCalls(),
                    at=("systemPayload", "compressedHistory"),
                    records=(row.record,),
                )
                for one in history[change.start : change.end]
            ]
            if change.hidden:
                yield Compaction(
                    replaces=change.hidden,
                    messages=tuple(message for message in made if message.parts),
                    record=row.record,
                    created_at=fields.moment(record.get("timestamp")),
                )


def _key(content: JSON) -> Hashable:
    """A key that identifies a content in a rewritten context."""
    given = fields.mapping(content)
    return fields.text(given, "role"), repr(given.get("parts"))


def _kind(record: dict[str, Any]) -> str:
    kind, detail = fields.text(record, "type"), fields.text(record, "subtype")
    return f"{kind}/{detail}" if detail else kind or "record"


def _event(record: dict[str, Any], row: Element) -> Event:
    return Event(_kind(record)[:64], row.record, fields.moment(record.get("timestamp")))


def _score(sample: Sample) -> float:
    return 0.95 if any(map(is_of_qwen, sample.records)) else 0


FORMAT = Format(
    NAME, LABEL, _score, read, gather=lambda folder: qwen_agents.gather(folder, read)
)
