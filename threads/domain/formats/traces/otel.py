"""OpenTelemetry traces: spans of requests to models and of tool executions.

A file is OTLP as JSON (`resourceSpans`; the collector writes one object per line), or has spans as
rows of a list or of JSON Lines, as written by Phoenix and the SDKs' exporters.

Sources: opentelemetry-proto `trace/v1/trace.proto` in JSON, Phoenix `get_spans`.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, BinaryIO

from threads.domain.formats.format import Format
from threads.domain.formats.io import fields, json_file
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.sample import Sample
from threads.domain.part import JSON
from threads.domain.transcript import Transcript, Warning

from . import otel_messages, trace_steps, traces
from .langfuse import tool_result
from .otel_messages import Tree, attributes, get, word
from .trace_steps import TOOL, StepMessages, TraceStep

NAME = "otel"
LABEL = "a trace of OpenTelemetry"
NESTED = ("resourceSpans", "scopeSpans", "instrumentationLibrarySpans", "spans")
"""The nested lists of OTLP, from the outermost."""
GROUPS = ("gen_ai.conversation.id", "session.id")
TOOL_NAMES = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name")
TOOL_IDS = ("gen_ai.tool.call.id", "ai.toolCall.id", "tool_call.id")
TOOL_ANSWERS = (
    *("gen_ai.tool.call.result", "ai.toolCall.result", "output.value"),
    *("traceloop.entity.output", "tool_response"),
)
FAMILIES = ("gen_ai", "llm", "openinference", "traceloop", "ai")


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The conversations of the traces in a file."""
    skipped: list[Warning] = []
    steps = [
        _step(fields.mapping(json_file.known_value(row, place, skipped)), place)
        for span in json_file.held_objects(file, "data", skipped)
        for row in [json_file.in_memory(file, span)]
        for place in _spans(row, span, skipped)
    ]
    return traces.transcripts(
        file, FORMAT, _joined(steps), {}, read_step_messages, skipped
    )


def _joined(steps: list[tuple[TraceStep, str]]) -> Iterator[TraceStep]:
    """The steps with their groups: if a trace names one conversation, all of it belongs to that."""
    named: dict[str, set[str]] = {}
    for one, trace in steps:
        named.setdefault(trace, set()).update({one.group} - {""})
    for one, trace in steps:
        whole = next(iter(named[trace])) if len(named[trace]) == 1 else trace
        yield replace(one, group=one.group or whole)


def _spans(file: BinaryIO, row: ByteSpan, skipped: list[Warning]) -> Iterator[ByteSpan]:
    """The places of spans: the row itself, or the spans in OTLP's lists."""
    members = json_file.places(file, row, skipped)
    held = [members[name] for name in NESTED if name in members]
    if not held:
        yield row
    for span in held:
        if json_file.is_list(file, span):
            for child in json_file.children(file, span.start, skipped):
                yield from _spans(file, child.span, skipped)


def _step(value: dict[str, Any], place: ByteSpan) -> tuple[TraceStep, str]:
    """A span as a step, and the id of its trace."""
    context = fields.mapping(value, "context")
    tree = _attributes(value)
    trace = fields.text(value, "traceId", "trace_id", "context.trace_id")
    trace = trace or fields.text(context, "trace_id")
    kind = otel_messages.kind(tree)
    name = word(tree, *TOOL_NAMES) if kind == TOOL else ""
    step = trace_steps.step(
        read_step_messages(value),
        span=place,
        kind=kind,
        name=name or fields.text(value, "name"),
        id=fields.text(value, "spanId", "span_id", "context.span_id")
        or fields.text(context, "span_id"),
        parent=fields.text(value, "parentSpanId", "parent_id", "parent_span_id"),
        group=word(tree, *GROUPS, limit=200),
        model=word(tree, *otel_messages.MODELS),
        usage=otel_messages.usage(tree),
        start=_moment(value, "startTimeUnixNano", "start_time"),
        end=_moment(value, "endTimeUnixNano", "end_time"),
    )
    return step, trace


def read_step_messages(value: dict[str, Any]) -> StepMessages:
    """The input and output of a span."""
    tree = _attributes(value)
    kind = otel_messages.kind(tree)
    if kind == TOOL:
        name = word(tree, *TOOL_NAMES) or fields.text(value, "name")
        answer = get(tree, *TOOL_ANSWERS)
        return StepMessages([], [tool_result(answer, name, word(tree, *TOOL_IDS))])
    events = [
        (fields.text(one, "name"), attributes(fields.mapping(one).get("attributes")))
        for one in fields.items(value, "events")
    ]
    return otel_messages.said(tree, events, kind)


def _attributes(value: dict[str, Any]) -> Tree:
    """A span's attributes, which may also be columns (`attributes.llm.model_name`)."""
    prefix = "attributes."
    columns = {
        name.removeprefix(prefix): inner
        for name, inner in value.items()
        if name.startswith(prefix) and inner is not None
    }
    return attributes(value.get("attributes", columns))


def _moment(value: dict[str, Any], *names: str) -> Any:
    """A time, given in nanoseconds since 1970 or as text."""
    for name in names:
        said: JSON = value.get(name)
        if isinstance(said, str) and said.isdecimal():
            said = int(said[:24])
        if isinstance(said, int) and name.endswith("Nano"):
            said = said / 1e9
        if found := fields.moment(said):
            return found
    return None


def _score(sample: Sample) -> float:
    """By OTLP's list, or by rows with attributes of one of the conventions for models."""
    rows = [*sample.rows, *map(fields.mapping, fields.items(sample.object, "data"))]
    for row in rows:
        if "resourceSpans" in row:
            return 0.95
        tree = _attributes(row)
        if any(name in tree for name in FAMILIES):
            return 0.9
    return 0


FORMAT = Format(NAME, LABEL, _score, read)
