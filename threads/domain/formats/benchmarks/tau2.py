"""tau2's results: simulations of an agent, a user and tools that both of them call.

`{timestamp, info, tasks, simulations: [{id, task_id, trial, messages, …}]}`; in the form of a
folder the simulations lie beside `results.json`, a file each. Source:
github.com/sierra-research/tau2-bench, `src/tau2/data_model`.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, BinaryIO

from threads.domain.formats import blocks
from threads.domain.formats.format import Format
from threads.domain.formats.io import fields
from threads.domain.formats.io.folder import Folder, Gathered, Member
from threads.domain.formats.io.source import Span
from threads.domain.formats.kit.reading import (
    Item,
    Reading,
    Row,
    attempt,
    conversation,
    conversations,
    elements,
    members,
    objects,
    pieces,
    reading_of,
    value_of,
)
from threads.domain.formats.openai import messages as openai
from threads.domain.formats.sample import HEAD, Sample
from threads.domain.message import Message, Role
from threads.domain.part import Part, Text, ToolCall, ToolResult
from threads.domain.transcript import Event, Transcript, Warning

NAME = "tau2"
LABEL = "a tau2 result"
TALK = "messages"
_ROLES = {
    "system": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
}


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """One conversation a simulation: of a result, or the one of a folder's file.

    Raises Invalid where none holds a message.
    """
    warnings: list[Warning] = []
    [whole, *_] = [*objects(file, warnings), Span(0, 0)]
    found = members(file, whole.start, warnings)
    if "simulations" not in found:
        reading = Reading(partial(_simulation, file, whole), tuple(warnings))
        return conversations([_transcript(file, whole, reading)], LABEL, warnings)
    model = _model(file, found)
    given: list[Transcript | None] = []
    for child in pieces(file, found["simulations"].start, warnings):
        make = partial(_simulation, file, child.span)
        if not given:
            make = partial(_first, file, child.span, found)
        reading = Reading(make, () if given else tuple(warnings))
        given.append(_transcript(file, child.span, reading, model=model))
    return conversations(given, LABEL, warnings)


def gather(folder: Folder) -> list[Gathered]:
    """The simulations that lie in `simulations/` beside a `results.json`, and what it says."""
    found = []
    for results in folder.named("results.json"):
        place = f"{results.name.removesuffix('results.json')}simulations/"
        inside = [one for one in folder.named(".json") if one.name.startswith(place)]
        if inside and _is_result(results):
            found.append(_gathered(results, inside))
    return found


def _is_result(member: Member) -> bool:
    with member.open() as file:
        told = Sample(file.read(HEAD), member.name).object.keys()
    return {"info", "tasks"} <= told


def _gathered(results: Member, inside: list[Member]) -> Gathered:
    with results.open() as file:
        whole = Event("results", f"{results.name}#bytes:0-{results.size}")
        model = _model(file, members(file, 0, []))
    given: list[Transcript] = []
    for member in inside:
        note = None if given else whole
        reading = reading_of(member, partial(_alone, note))
        with member.open() as file:
            span = Span(0, member.size)
            found = _transcript(file, span, reading, model=model, member=member.name)
        given += [found] if found else []
    return Gathered(given, frozenset({results.name, *(one.name for one in inside)}))


def _alone(
    note: Event | None, file: BinaryIO, warnings: list[Warning]
) -> Iterator[Item]:
    """The one simulation of a file; the folder's first has the result's own file as an event."""
    if note:
        yield note
    yield from _simulation(file, Span(0, 0), warnings)


def _first(
    file: BinaryIO, span: Span, notes: dict[str, Span], warnings: list[Warning]
) -> Iterator[Item]:
    """The first simulation of a result, with what the result says beside its simulations."""
    for name, place in notes.items():
        if name != "simulations":
            yield Event(name, place.record)
    yield from _simulation(file, span, warnings)


def _model(file: BinaryIO, found: dict[str, Span]) -> str:
    agent = fields.mapping(value_of(file, found.get("info"))).get("agent_info")
    return fields.word(agent, "llm")


def _transcript(
    file: BinaryIO, span: Span, reading: Reading, **said: Any
) -> Transcript | None:
    transcript = conversation(reading, format=NAME, **said)
    if transcript is None:
        return None
    found = members(file, span.start, [])
    task, trial, id_ = (
        value_of(file, found.get(name)) for name in ("task_id", "trial", "id")
    )
    title = fields.one_line(f"Task {task}, trial {trial}: {transcript.title}")
    named = fields.word({"id": id_}, "id", limit=255) or None
    return replace(transcript, title=title, external_id=named)


def _simulation(file: BinaryIO, span: Span, warnings: list[Warning]) -> Iterator[Item]:
    """The messages, then what is said of them; a voice's ticks are events only."""
    found = members(file, span.start, warnings)
    if TALK in found:
        for row in elements(file, found[TALK].start, warnings):
            yield from attempt(partial(_message, row), row, warnings)
    for name, place in found.items():
        if name != TALK:
            yield Event(name, place.record)


def _message(row: Row) -> Iterator[Item]:
    """A message of any of the three, or several results in one. Raises Invalid for others."""
    given = fields.require(row.value, dict, "a message", ())
    role = _ROLES.get(fields.text(given, "role"))
    parts: list[Part]
    if role is None:
        yield Event(fields.text(given, "role") or "record", row.record)
        return
    if role is Role.TOOL:
        inner = fields.items(given, "tool_messages") or [given]
        parts = [_result(fields.mapping(one)) for one in inner]
    else:
        parts = [*blocks.read_content(given.get("content"), ("content",))]
        parts += [_call(call) for call in fields.items(given, "tool_calls")]
    raw = fields.mapping(given, "raw_data")
    yield Message(
        role=role,
        parts=tuple(parts),
        model=fields.word(raw, "model") or None,
        source_id=fields.word(raw, "id") or None,
        created_at=fields.moment(given.get("timestamp")),
        usage=openai.read_usage(given.get("usage")),
        records=(row.record,),
    )


def _call(call: Any) -> ToolCall:
    fields.require(call, dict, "a tool call", ("tool_calls",))
    name = fields.require(call.get("name"), str, "a word", ("tool_calls", "name"))
    return ToolCall(fields.text(call, "id"), name, call.get("arguments", {}))


def _result(given: dict[str, Any]) -> ToolResult:
    words = fields.text(given, "content")
    content = (Text(words),) if words else ()
    return ToolResult(
        fields.text(given, "id"), content, None, given.get("error") is True
    )


def _score(sample: Sample) -> float:
    """A result, or one simulation of it in a file of its own."""
    if {"info", "tasks", "simulations"} <= sample.object.keys():
        return 0.95
    alone = {"id", "task_id", "termination_reason", "start_time"}
    return 0.9 if alone <= sample.object.keys() else 0


FORMAT = Format(NAME, LABEL, _score, read, gather=gather)
