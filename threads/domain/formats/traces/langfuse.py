"""Langfuse's traces of what a program did, as exported by its web page and its API.

A file has `{"trace": …, "observations": […]}`, or a trace that contains its observations: one, a
list, or a page with `data`. The input and output of an observation are JSON, often in a string, in
the shape of the traced framework.

Source: langfuse `packages/shared/src/domain/observations.ts`, `utils/chatml`.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, BinaryIO

from threads.domain.formats.format import Format
from threads.domain.formats.io import fields, json_file
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role, Usage
from threads.domain.part import ToolResult
from threads.domain.transcript import Transcript, Warning

from . import shapes, trace_steps, traces
from .shape_blocks import read_answer
from .trace_steps import GENERATION, OTHER, TOOL, StepMessages, TraceStep

NAME = "langfuse"
LABEL = "a Langfuse trace"
KINDS = {"GENERATION": GENERATION, "TOOL": TOOL}
CACHED = (
    *("input_cache_read", "input_cached_tokens", "cache_read_input_tokens"),
    "prompt_details.cache_read",
)
"""Names that integrations use for cached tokens."""


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The conversations of each trace in a file; traces of one session are combined."""
    skipped: list[Warning] = []
    steps: list[TraceStep] = []
    titles: dict[str, str] = {}
    called: dict[str, Message] = {}
    for span in json_file.held_objects(file, "data", skipped):
        steps += _trace(file, span, titles, called, skipped)
    reading = partial(read_step_messages, called=called)
    return traces.transcripts(file, FORMAT, steps, titles, reading, skipped)


def _trace(
    file: BinaryIO,
    span: ByteSpan,
    titles: dict[str, str],
    called: dict[str, Message],
    skipped: list[Warning],
) -> Iterator[TraceStep]:
    """The observations of one trace as steps, and the trace itself if none holds a message."""
    file = json_file.in_memory(file, span)
    members = json_file.places(file, span, skipped)
    own = members.get("trace", span)
    trace = fields.mapping(json_file.known_value(file, own, skipped))
    group = fields.word(trace, "sessionId", "id", limit=200)
    titles.setdefault(group, fields.one_line(fields.text(trace, "name")))
    found = []
    if (held := members.get("observations")) and json_file.is_list(file, held):
        places = [one.span for one in json_file.children(file, held.start, skipped)]
        values = (
            (place, fields.mapping(json_file.known_value(file, place, skipped)))
            for place in places
        )
        found = [_step(value, place, group, called) for place, value in values]
        _note_calls(file, found, called)
    yield from found
    if not any(one.marks for one in found):
        whole = {name: trace.get(name) for name in ("id", "name", "input", "output")}
        yield _step(whole | {"startTime": trace.get("timestamp")}, own, group, called)


def _note_calls(
    file: BinaryIO, found: list[TraceStep], called: dict[str, Message]
) -> None:
    """Find the calls of requests that are logged twice, once with a printed `None` as the answer.

    The inner log, by the provider's client, is then read like the outer one, by the framework.
    """
    around = {one.id: one for one in found if one.kind == GENERATION and one.calls}
    for place, one in enumerate(found):
        outer = around.get(one.parent) if one.kind == GENERATION else None
        if outer is None or one.calls:
            continue
        inner = fields.mapping(json_file.known_value(file, one.span, []))
        if not shapes.is_printed(shapes.unwrapped(inner.get("output"))):
            continue
        value = fields.mapping(json_file.known_value(file, outer.span, []))
        answers = shapes.read_messages(value.get("output"), Role.ASSISTANT)
        if len(answers) == 1 and not answers[0].text:
            called[outer.id] = answers[0]
            found[place] = _step(inner, one.span, one.group, called)


def _step(
    value: dict[str, Any], span: ByteSpan, group: str, called: dict[str, Message]
) -> TraceStep:
    kind = KINDS.get(fields.text(value, "type"), OTHER)
    return trace_steps.step(
        read_step_messages(value, called),
        span=span,
        kind=kind,
        name=fields.text(value, "name"),
        id=fields.text(value, "id"),
        parent=fields.text(value, "parentObservationId"),
        group=group,
        model=fields.word(value, "model"),
        usage=_usage(value) if kind == GENERATION else None,
        start=fields.moment(value.get("startTime")),
        end=fields.moment(value.get("endTime")),
    )


def read_step_messages(
    value: dict[str, Any], called: Mapping[str, Message]
) -> StepMessages:
    """The input and output of an observation. Plain text counts as a message only for a generation.

    `called` maps the id of an observation to its answer with calls. It replaces the answer of an
    inner log of the same request that printed the missing content.
    """
    given, gave = value.get("input"), value.get("output")
    kind = fields.text(value, "type")
    if kind == "TOOL":
        return StepMessages([], [tool_result(gave, fields.text(value, "name"))])
    if kind == "GENERATION":
        inputs = shapes.read_messages(given, Role.USER)
        answer = called.get(fields.text(value, "parentObservationId"))
        if answer and shapes.is_printed(shapes.unwrapped(gave)):
            return StepMessages(inputs, [answer])
        return StepMessages(inputs, shapes.read_messages(gave, Role.ASSISTANT))
    inputs = shapes.read_structured(given, Role.USER)
    return StepMessages(inputs, shapes.read_structured(gave, Role.ASSISTANT))


def tool_result(answer: Any, name: str, call_id: str = "") -> Message:
    """A tool's result as the message that the model is sent."""
    answer = shapes.unwrapped(answer)
    if isinstance(answer, dict) and isinstance(answer.get("content"), list):
        answer = answer["content"]
    result = ToolResult(call_id, read_answer(answer), name or None)
    return Message(role=Role.TOOL, parts=(result,))


def _usage(value: dict[str, Any]) -> Usage | None:
    """Tokens by kind; tokens of a more specific kind (`input_…`) are not included in `input`."""
    said = fields.mapping(value, "usageDetails")
    if not said:
        return shapes.read_usage(value.get("output"))
    return Usage(
        input_tokens=sum(fields.count(said, k) for k in said if k.startswith("input")),
        output_tokens=sum(
            fields.count(said, k) for k in said if k.startswith("output")
        ),
        cached_tokens=max(fields.count(said, name) for name in CACHED),
    )


def _score(sample: Sample) -> float:
    """By a trace beside its observations, or containing them."""
    rows = [*sample.rows, *map(fields.mapping, fields.items(sample.object, "data"))]
    for row in rows:
        if isinstance(row.get("trace"), dict) and "observations" in row:
            return 0.95
        if "observations" in row and row.keys() & {"projectId", "sessionId", "latency"}:
            return 0.95
    # The trace by itself may be longer than the sample.
    whole = fields.mapping(sample.object, "trace")
    return 0.9 if {"id", "projectId"} <= whole.keys() else 0


FORMAT = Format(NAME, LABEL, _score, read)
