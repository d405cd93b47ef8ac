"""LangSmith's runs: what a program did, as its API and its exports give it.

A file is a list of runs, has one per line or in `runs`, or is a run with its descendants in
`child_runs`. A run's `inputs` and `outputs` are as the program logged them, in the shape of its
framework. Runs of one thread (`metadata.thread_id` …) are combined, else the runs of one trace.

Source: docs.langchain.com/langsmith/run-data-format; langchain-ai/langsmith-sdk, schemas.
"""

from collections.abc import Iterator
from typing import Any, BinaryIO

from threads.domain.formats.format import Format
from threads.domain.formats.io import fields, json_file
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.sample import Sample
from threads.domain.message import Role, Usage
from threads.domain.transcript import Transcript, Warning

from . import shapes, trace_steps, traces
from .langfuse import tool_result
from .trace_steps import GENERATION, OTHER, TOOL, StepMessages, TraceStep

NAME = "langsmith"
LABEL = "runs of LangSmith"
KINDS = {"llm": GENERATION, "tool": TOOL}
THREADS = ("thread_id", "session_id", "conversation_id")
"""Members of a run's metadata that name its thread."""
_OWN = frozenset(
    {"trace_id", "dotted_order", "parent_run_id", "child_runs", "child_run_ids"}
    | {"parent_run_ids", "start_time", "serialized"}
)
"""A run has some of these, besides its type, its inputs and its outputs."""


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The conversations of each trace or thread in a file."""
    skipped: list[Warning] = []
    steps: list[TraceStep] = []
    titles: dict[str, str] = {}
    for span in json_file.held_objects(file, "runs", skipped):
        steps += _run(json_file.in_memory(file, span), span, "", titles, skipped)
    return traces.transcripts(file, FORMAT, steps, titles, read_step_messages, skipped)


def _run(
    file: BinaryIO,
    span: ByteSpan,
    above: str,
    titles: dict[str, str],
    skipped: list[Warning],
) -> Iterator[TraceStep]:
    """The steps of a run and its descendants, which belong to the same group."""
    value = fields.mapping(json_file.known_value(file, span, skipped))
    metadata = fields.mapping(fields.mapping(value, "extra"), "metadata")
    own = fields.word(metadata, *THREADS, limit=200)
    group = above or own or fields.word(value, "trace_id", "id", limit=200)
    titles.setdefault(group, fields.one_line(fields.text(value, "name")))
    kind = KINDS.get(fields.text(value, "run_type"), OTHER)
    model = fields.word(metadata, "ls_model_name")
    parameters = fields.mapping(fields.mapping(value, "extra"), "invocation_params")
    yield trace_steps.step(
        read_step_messages(value),
        span=span,
        kind=kind,
        name=fields.text(value, "name"),
        id=fields.text(value, "id"),
        parent=fields.text(value, "parent_run_id"),
        group=group,
        model=model or fields.word(parameters, "model", "model_name"),
        usage=_usage(value) if kind == GENERATION else None,
        start=fields.moment(value.get("start_time")),
        end=fields.moment(value.get("end_time")),
    )
    if fields.items(value, "child_runs"):
        below = json_file.places(file, span, skipped)["child_runs"]
        for child in json_file.children(file, below.start, skipped):
            yield from _run(file, child.span, group, titles, skipped)


def read_step_messages(value: dict[str, Any]) -> StepMessages:
    """The input and output of a run. Plain text counts as a message only for a generation."""
    given, gave = value.get("inputs"), value.get("outputs")
    kind = KINDS.get(fields.text(value, "run_type"), OTHER)
    if kind == TOOL:
        output = fields.mapping(gave).get("output", gave)
        held = shapes.read_structured(output, Role.TOOL)
        name = fields.text(value, "name")
        return StepMessages([], held[:1] or [tool_result(output, name)])
    if kind == GENERATION:
        inputs = shapes.read_messages(_flat(given), Role.USER)
        return StepMessages(inputs, shapes.read_messages(_flat(gave), Role.ASSISTANT))
    inputs = shapes.read_structured(_flat(given), Role.USER)
    return StepMessages(inputs, shapes.read_structured(_flat(gave), Role.ASSISTANT))


def _flat(said: Any) -> Any:
    """The logged value; of a batch (a list of lists of messages), only the first element."""
    if not isinstance(said, dict):
        return said
    for name in ("messages", "generations", "prompts"):
        listed = said.get(name)
        if isinstance(listed, list) and listed:
            inner = listed[0] if isinstance(listed[0], list) else listed
            return inner if name != "prompts" else listed[0]
    return said


def _usage(run: dict[str, Any]) -> Usage | None:
    """The tokens of a run: its own, or those in the provider's answer."""
    outputs = fields.mapping(run, "outputs")
    if "total_tokens" in run:
        return Usage(
            input_tokens=fields.count(run, "prompt_tokens"),
            output_tokens=fields.count(run, "completion_tokens"),
        )
    said = fields.mapping(outputs, "usage_metadata")
    if said:
        details = fields.mapping(said, "input_token_details")
        return Usage(
            input_tokens=fields.count(said, "input_tokens"),
            output_tokens=fields.count(said, "output_tokens"),
            cached_tokens=fields.count(details, "cache_read"),
        )
    inner = {"usage": fields.mapping(outputs, "llm_output").get("token_usage")}
    return shapes.read_usage(inner if inner["usage"] else outputs)


def _score(sample: Sample) -> float:
    """By a run's type, its inputs, and members that only runs have."""
    rows = [*sample.rows, *map(fields.mapping, fields.items(sample.object, "runs"))]
    for row in rows:
        if {"run_type", "inputs"} <= row.keys() and _OWN & row.keys():
            return 0.95
    # The inputs by themselves may be longer than the sample.
    return 0.9 if "run_type" in sample.object and _OWN & sample.object.keys() else 0


FORMAT = Format(NAME, LABEL, _score, read)
