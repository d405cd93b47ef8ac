"""Results of tau-bench and tau2: simulations of an agent, a user and tools.

tau-bench: a list of `{task_id, reward, info, traj, trial}`. `traj` has OpenAI's messages; the other
members describe the outcome and become events.

tau2: `{timestamp, info, tasks, simulations: [{id, task_id, trial, messages, …}]}`; the user calls
tools, too. As a folder, the simulations are beside `results.json`, one file each.

Sources: github.com/sierra-research/tau-bench; github.com/sierra-research/tau2-bench,
`src/tau2/data_model`.
"""

from collections.abc import Iterable, Iterator
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
from threads.domain.formats.kit.list_format import (
    ListFormat,
    Values,
    has_members,
    per_element,
)
from threads.domain.formats.kit.transcripts import require_transcripts
from threads.domain.formats.openai import messages as openai
from threads.domain.formats.sample import HEAD, Sample
from threads.domain.message import Message, Role
from threads.domain.part import JSON, Part, Text, ToolCall, ToolResult
from threads.domain.transcript import Event, Transcript, Warning

NAME = "tau2"
LABEL = "a tau2 result"
_ROLES = {
    role.value: role for role in (Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL)
}


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """One conversation per simulation in a result, or the only one of a folder's file.

    Raises Invalid if none holds a message.
    """
    warnings: list[Warning] = []
    [whole, *_] = [*json_file.objects(file, warnings), ByteSpan(0, 0)]
    members = json_file.members(file, whole.start, warnings)
    if "simulations" not in members:
        items = Items(partial(_simulation, whole, [], file), given=warnings[:])
        return require_transcripts([_transcript(file, whole, items)], warnings, LABEL)
    model = _model(Values(file, members))
    notes = [Event(n, span.record) for n, span in members.items() if n != "simulations"]
    found: list[Transcript | None] = []
    for child in json_file.children(file, members["simulations"].start, warnings):
        read = partial(_simulation, child.span, [] if found else notes, file)
        items = Items(read, given=[] if found else warnings[:])
        found.append(_transcript(file, child.span, items, model=model))
    return require_transcripts(found, warnings, LABEL)


def gather(folder: Folder) -> list[Gathered]:
    """The simulations in `simulations/` beside a `results.json`, and its facts about them."""
    found = []
    for results in folder.named("results.json"):
        place = f"{results.name.removesuffix('results.json')}simulations/"
        inside = [one for one in folder.named(".json") if one.name.startswith(place)]
        with results.open() as file:
            told = Sample(file.read(HEAD), results.name).object.keys()
        if inside and {"info", "tasks"} <= told:
            found.append(_gathered(results, inside))
    return found


def _gathered(results: Member, inside: list[Member]) -> Gathered:
    """The simulations of a folder; the first one has an event for the results file."""
    with results.open() as file:
        whole = Event("results", f"{results.name}#bytes:0-{results.size}")
        model = _model(Values(file, json_file.members(file, 0, [])))
    found: list[Transcript] = []
    for member in inside:
        read = partial(_simulation, ByteSpan(0, 0), [] if found else [whole])
        items = items_in(member.open, read)
        known = {"model": model, "member": member.name}
        with member.open() as file:
            if made := _transcript(file, ByteSpan(0, 0), items, **known):
                found.append(made)
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


def _simulation(
    span: ByteSpan, notes: list[Event], file: BinaryIO, warnings: list[Warning]
) -> Iterator[Item]:
    """The result's members as events, then the items of the simulation at a place."""
    yield from notes
    members = json_file.members(file, span.start, warnings)
    yield from SIMULATION.items(file, members, warnings)


def _message(row: Element) -> Iterator[Item]:
    """A message, which may hold several results; an event if its role is unknown.

    Raises Invalid if it is malformed.
    """
    given = fields.require(row.value, dict, "a message", ())
    role = _ROLES.get(fields.text(given, "role"))
    parts: Iterable[Part]
    if role is None:
        yield Event(fields.text(given, "role") or "record", row.record)
        return
    if role is Role.TOOL:
        parts = map(_result, fields.items(given, "tool_messages") or [given])
    else:
        said = blocks.read_content(given.get("content"), ("content",))
        parts = (*said, *map(_call, fields.items(given, "tool_calls")))
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
    at = ("tool_calls", "name")
    name = fields.require(call.get("name"), str, "the name of a tool", at)
    return ToolCall(fields.text(call, "id"), name, call.get("arguments", {}))


def _result(given: JSON) -> ToolResult:
    words = fields.text(given, "content")
    content = (Text(words),) if words else ()
    is_error = fields.mapping(given).get("error") is True
    return ToolResult(fields.text(given, "id"), content, None, is_error)


def _score(sample: Sample) -> float:
    """By a result, or by a single simulation in a file of its own."""
    if {"info", "tasks", "simulations"} <= sample.object.keys():
        return 0.95
    alone = {"id", "task_id", "termination_reason", "start_time"}
    return 0.9 if alone <= sample.object.keys() else 0


def _title(said: Values, words: str) -> str:
    return f"Task {said['task_id']}, trial {said['trial']}: {words}"


TAU_BENCH = ListFormat(
    name="tau_bench",
    label="a tau-bench result",
    score=has_members("task_id", "reward", "traj", score=0.95),
    lists={"traj": per_element(openai.read_element)},
    title=_title,
)
SIMULATION = ListFormat(
    name=NAME,
    label=LABEL,
    score=_score,
    lists={"messages": per_element(_message)},
    known=lambda said, _: {"external_id": fields.as_word(said["id"], 255) or None},
    title=_title,
)
"""A simulation; the ticks of a voice simulation are only events."""
FORMATS = (
    TAU_BENCH.format,
    Format(NAME, LABEL, _score, read, gather=gather),
)
