"""GitHub Copilot CLI's sessions: `events.jsonl`, one event per line, in chronological order.

Each line is `{type, data, id, timestamp, parentId, agentId?}`; the events are typed in the
public SDK (github.com/github/copilot-sdk, `session-events.ts`). Seen in version 1.0.64.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, BinaryIO

from threads.domain.formats.format import Format
from threads.domain.formats.io import fields, source
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.io.source import ByteSpan, Line
from threads.domain.formats.kit.items import Item, Items, attempt
from threads.domain.formats.kit.transcripts import require_transcripts, transcript_of
from threads.domain.formats.sample import Sample
from threads.domain.transcript import Parent, Relation, Transcript, Warning

from .copilot_items import CopilotItems, agent_of

NAME = "copilot_cli"
LABEL = "a Copilot CLI session (JSONL)"
_TOLD = (
    b'"session.',
    b'"subagent.',
    b'"user.message"',
    b'"agentId"',
    b'"parentToolCallId"',
)
"""Marks of lines that tell something about the session, or belong to a sub-agent."""


@dataclass(slots=True)
class SessionNotes:
    """What the file tells about its session, and where the lines of its sub-agents are."""

    session_id: str = ""
    title: str = ""
    words: str = ""
    """The user's first message, without what Copilot put around it."""
    model: str = ""
    agents: dict[str, list[tuple[int, ByteSpan]]] = field(default_factory=dict)
    begun: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Map of sub-agent id to the data of its `subagent.started` event."""
    assets: dict[str, ByteSpan] = field(default_factory=dict)
    """Map of id to the line of a picture that several events show."""


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The session of a file and of its sub-agents. Raises Invalid if there are no messages."""
    notes = _notes(file)
    transcript = partial(transcript_of, format=NAME, model=notes.model)
    main = Items(partial(_main, file, notes))
    title = notes.title or notes.words
    id_ = fields.as_word(notes.session_id, 255) or None
    found = [transcript(main, title=title, external_id=id_)]
    for agent, lines in notes.agents.items():
        begun = notes.begun.get(agent, {})
        parent = Parent(
            external_id=notes.session_id,
            relation=Relation.SUBAGENT,
            call_id=fields.text(begun, "toolCallId") or agent,
        )
        made = transcript(
            Items(partial(_agent, file, notes, lines)),
            title=fields.text(begun, "agentDisplayName", "agentName"),
            external_id=fields.as_word(f"{notes.session_id}/agent-{agent}", 255)
            or None,
            parent=parent if notes.session_id else None,
        )
        found.append(made)
    return require_transcripts(found, main.warnings, LABEL)


def _notes(file: BinaryIO) -> SessionNotes:
    """Collects the notes before the events are read; lines without a mark aren't parsed."""
    notes = SessionNotes()
    for line in source.lines(file):
        if line.data is None or not any(mark in line.data for mark in _TOLD):
            continue
        value = source.read_line(line, [])
        if isinstance(value, dict):
            _note(notes, value, line)
    return notes


def _note(notes: SessionNotes, value: dict[str, Any], line: Line) -> None:
    data = fields.mapping(value, "data")
    match value.get("type"):
        case "session.start" | "session.resume":
            notes.session_id = fields.text(data, "sessionId") or notes.session_id
            notes.model = fields.word(data, "selectedModel") or notes.model
        case "session.title_changed":
            notes.title = fields.text(data, "title") or notes.title
        case "session.model_change":
            notes.model = fields.word(data, "newModel") or notes.model
        case "user.message" if not agent_of(value):
            notes.words = notes.words or fields.text(data, "content")
        case "session.binary_asset":
            notes.assets[fields.text(data, "assetId")] = line.span
        case "subagent.started":
            for id_ in (value.get("agentId"), data.get("toolCallId")):
                notes.begun.setdefault(str(id_), data)
    if agent := agent_of(value):
        notes.agents.setdefault(agent, []).append((line.number, line.span))


def _main(
    file: BinaryIO, notes: SessionNotes, warnings: list[Warning]
) -> Iterator[Item]:
    rows = (
        Element(value, line.span, line.number)
        for line, value in source.records(file, warnings)
        if not (isinstance(value, dict) and agent_of(value))
    )
    return _items(rows, file, notes, warnings)


def _agent(
    file: BinaryIO,
    notes: SessionNotes,
    lines: list[tuple[int, ByteSpan]],
    warnings: list[Warning],
) -> Iterator[Item]:
    rows = (
        Element(source.read_span(file, span), span, number) for number, span in lines
    )
    return _items(rows, file, notes, warnings)


def _items(
    rows: Iterator[Element],
    file: BinaryIO,
    notes: SessionNotes,
    warnings: list[Warning],
) -> Iterator[Item]:
    def asset(id_: str) -> dict[str, Any]:
        """The data of a picture that has an event of its own; empty if it is missing."""
        span = notes.assets.get(id_)
        return fields.mapping(source.read_span(file, span), "data") if span else {}

    items = CopilotItems(asset)
    for row in rows:
        yield from attempt(partial(items.take, row), row, warnings)
    yield from items.rest()


def _score(sample: Sample) -> float:
    """By the event that begins a session, or by two types that only Copilot has."""
    types = [fields.text(row, "type") for row in sample.records if "data" in row]
    starts = (row for row in sample.records if row.get("type") == "session.start")
    told = (fields.mapping(row, "data").keys() for row in starts)
    if any(keys & {"copilotVersion", "producer"} for keys in told):
        return 0.95
    own = {"assistant.turn_start", "tool.execution_start", "hook.start", "user.message"}
    return 0.85 if len(own & set(types)) > 1 else 0


FORMAT = Format(NAME, LABEL, _score, read)
