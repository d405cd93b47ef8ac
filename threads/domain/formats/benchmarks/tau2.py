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
from threads.domain.formats.io import fields, json_file
from threads.domain.formats.io.folder import Folder, Gathered, Member
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.kit.items import Item, Items, items_in
from threads.domain.formats.kit.list_format import ListFormat, Values, each
from threads.domain.formats.kit.transcripts import at_least_one
from threads.domain.formats.openai import messages as openai
from threads.domain.formats.sample import HEAD, Sample
from threads.domain.message import Message, Role
from threads.domain.part import Part, Text, ToolCall, ToolResult
from threads.domain.transcript import Event, Transcript, Warning

NAME = "tau2"
LABEL = "a tau2 result"
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
    [whole, *_] = [*json_file.objects(file, warnings), ByteSpan(0, 0)]
    members = json_file.members(file, whole.start, warnings)
    if "simulations" not in members:
        items = Items(partial(_simulation, whole, [], file), warnings[:])
        return at_least_one([_transcript(file, whole, items)], warnings, LABEL)
    model = _model(Values(file, members))
    notes = [Event(n, span.record) for n, span in members.items() if n != "simulations"]
    found: list[Transcript | None] = []
    for child in json_file.children(file, members["simulations"].start, warnings):
        read = partial(_simulation, child.span, [] if found else notes, file)
        items = Items(read, [] if found else warnings[:])
        found.append(_transcript(file, child.span, items, model=model))
    return at_least_one(found, warnings, LABEL)


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
    """The simulations of a folder, the first with the result's own file as an event."""
    with results.open() as file:
        whole = Event("results", f"{results.name}#bytes:0-{results.size}")
        model = _model(Values(file, json_file.members(file, 0, [])))
    found: list[Transcript] = []
    for member in inside:
        read = partial(_simulation, ByteSpan(0, 0), [] if found else [whole])
        items = items_in(member.open, read)
        with member.open() as file:
            made = _transcript(
                file, ByteSpan(0, 0), items, model=model, member=member.name
            )
        found += [made] if made else []
    return Gathered(found, frozenset({results.name, *(one.name for one in inside)}))


def _model(result: Values) -> str:
    agent = fields.mapping(result["info"]).get("agent_info")
    return fields.word(agent, "llm")


def _transcript(
    file: BinaryIO, span: ByteSpan, items: Items, **known: Any
) -> Transcript | None:
    said = Values(file, json_file.members(file, span.start, []))
    made = SIMULATION.transcript(items, said, "")
    return made and replace(made, **known)


def _known(said: Values, _file_name: str) -> dict[str, Any]:
    return {"external_id": fields.word({"id": said["id"]}, "id", limit=255) or None}


def _simulation(
    span: ByteSpan, notes: list[Event], file: BinaryIO, warnings: list[Warning]
) -> Iterator[Item]:
    """What a result says beside its simulations, and the simulation that stands here."""
    yield from notes
    members = json_file.members(file, span.start, warnings)
    yield from SIMULATION.items(file, members, warnings)


def _message(row: Element) -> Iterator[Item]:
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


SIMULATION = ListFormat(
    name=NAME,
    label=LABEL,
    score=_score,
    lists={"messages": each(_message)},
    known=_known,
    title=lambda said, words: f"Task {said['task_id']}, trial {said['trial']}: {words}",
)
"""A simulation; a voice's ticks are events only."""
FORMAT = Format(NAME, LABEL, _score, read, gather=gather)
