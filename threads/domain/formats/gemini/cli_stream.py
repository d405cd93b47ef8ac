"""The output of Gemini CLI with `--output-format stream-json`: one event per line.

The model's text comes in pieces (`delta`), thoughts not at all. Source: packages/core/src/output
(types.ts, stream-json-formatter.ts) and packages/cli/src/nonInteractiveCli.ts of
google-gemini/gemini-cli.
"""

from collections.abc import Iterator
from datetime import datetime
from functools import partial
from typing import Any, BinaryIO

from threads.domain.formats.format import Format
from threads.domain.formats.io import fields
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.kit import stream_runs
from threads.domain.formats.kit.items import Item, attempt
from threads.domain.formats.kit.stream_runs import StreamedMessage, StreamRun
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role, Usage
from threads.domain.part import Text, ToolCall, ToolResult
from threads.domain.transcript import Event, Transcript, Warning

NAME = "gemini_cli_stream"
LABEL = "the stream-json output of Gemini CLI"


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The sessions in a run's output. Raises Invalid if it holds no message."""
    found = stream_runs.find(file, _begins, _note)
    items = partial(_items, file)
    members = {"format": NAME, "strategy": "gemini"}
    return stream_runs.transcripts(found, items, LABEL, "Gemini CLI run", **members)


def _begins(record: dict[str, Any]) -> str:
    is_beginning = record.get("type") == "init" and "model" in record
    return fields.word(record, "session_id", limit=255) if is_beginning else ""


def _note(run: StreamRun, record: dict[str, Any], _place: int) -> None:
    """Note whether a run speaks, and its model: the only one in its statistics, if there is one."""
    match record.get("type"):
        case "init":
            run.model = fields.word(record, "model") or run.model
        case "message" | "tool_use":
            run.speaks = run.speaks or bool(fields.text(record, "content", "tool_name"))
        case "result":
            models = list(fields.mapping(fields.mapping(record, "stats"), "models"))
            named = fields.as_word(models[0]) if len(models) == 1 else ""
            run.model = named or run.model


def _items(file: BinaryIO, run: StreamRun, warnings: list[Warning]) -> Iterator[Item]:
    items = _StreamItems(run.model)
    for row in stream_runs.rows(file, run, warnings):
        yield from attempt(partial(items.take, row), row, warnings)
    yield from items.rest()


class _StreamItems:
    """Makes items from events; an answer continues up to its first result."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._answer = StreamedMessage(model)
        self._tools: dict[str, str] = {}
        """Map of the id of each call without a result to the name of its tool."""

    def take(self, row: Element) -> Iterator[Item]:
        """The items made from a line. Raises Invalid if it isn't an event."""
        value = fields.require(row.value, dict, "an event", ())
        match value.get("type"):
            case "message":
                yield from self._message(value, row)
            case "tool_use":
                yield from self._call(value, row)
            case "tool_result":
                yield from self._result(value, row)
            case type_:
                if type_ == "result":
                    self._answer.usage = _usage(value)
                if type_ in ("init", "result"):
                    yield from self.rest()
                event = _event(value, row, "severity", "status")
                yield from self._answer.followed_by(event, row)

    def rest(self) -> Iterator[Item]:
        """The answer that is still held, if any."""
        yield from self._answer.items()
        self._answer = StreamedMessage(self._model)

    @property
    def _is_next(self) -> bool:
        """Whether the model's next output belongs to the next answer."""
        return self._answer.has_results or self._answer.is_full

    def _message(self, value: dict[str, Any], row: Element) -> Iterator[Item]:
        role = value.get("role")
        words = fields.require(value.get("content"), str, "text", ("content",))
        if role not in ("user", "assistant") or not words:
            yield from self._answer.followed_by(_event(value, row, "role"), row)
        elif role == "assistant":
            if self._is_next or value.get("delta") is not True:
                yield from self.rest()
            self._answer.add(words, row, _moment(value))
        else:
            yield from self.rest()
            yield Message(
                role=Role.USER,
                parts=(Text(words),),
                created_at=_moment(value),
                records=(row.record,),
            )

    def _call(self, value: dict[str, Any], row: Element) -> Iterator[Item]:
        name = value.get("tool_name")
        name = fields.require(name, str, "the name of a tool", ("tool_name",))
        id_ = fields.text(value, "tool_id")
        if self._is_next:
            yield from self.rest()
        self._tools[id_] = name
        call = ToolCall(id_, name, value.get("parameters", {}))
        self._answer.add(call, row, _moment(value))

    def _result(self, value: dict[str, Any], row: Element) -> Iterator[Item]:
        """A tool's result: its output, and its error."""
        id_ = fields.text(value, "tool_id")
        error = fields.mapping(value, "error")
        said = [fields.text(value, "output"), fields.text(error, "message")]
        content = tuple(Text(words) for words in dict.fromkeys(said) if words)
        is_error = value.get("status") == "error"
        result = ToolResult(id_, content, self._tools.pop(id_, None), is_error)
        message = Message(
            role=Role.TOOL,
            parts=(result,),
            created_at=_moment(value),
            records=(row.record,),
        )
        if self._answer.is_full:
            yield from self.rest()
        yield from self._answer.followed_by(message, row)


def _event(value: dict[str, Any], row: Element, *details: str) -> Event:
    """An event for a record that is not a message, named by its type and a detail."""
    name = fields.text(value, "type") or "event"
    detail = fields.text(value, *details)
    return Event(f"{name}/{detail}" if detail else name, row.record, _moment(value))


def _moment(value: dict[str, Any]) -> datetime | None:
    return fields.moment(value.get("timestamp"))


def _usage(value: dict[str, Any]) -> Usage | None:
    """The tokens of a whole run, reported at its end."""
    stats = fields.mapping(value, "stats")
    usage = Usage(
        input_tokens=fields.count(stats, "input_tokens"),
        output_tokens=fields.count(stats, "output_tokens"),
        cached_tokens=fields.count(stats, "cached"),
    )
    return usage if usage != Usage() else None


def _score(sample: Sample) -> float:
    """By the beginning of a run; less surely by its calls, results, or text in pieces."""
    if any(_begins(record) for record in sample.records):
        return 0.95
    told = [record for record in sample.records if "timestamp" in record]
    return 0.9 if any(_is_told(record) for record in told) else 0


def _is_told(record: dict[str, Any]) -> bool:
    match record.get("type"):
        case "tool_use":
            return {"tool_name", "tool_id", "parameters"} <= record.keys()
        case "tool_result":
            return {"tool_id", "status"} <= record.keys()
        case "message":
            return record.get("delta") is True and "content" in record
    return False


FORMAT = Format(NAME, LABEL, _score, read)
