"""The output of Cursor's command line with `--output-format stream-json`: one event per line.

It begins like Claude Code's, but reasoning comes in pieces, and calls and their results are events
of their own. With `--stream-partial-output`, text comes in pieces too, and is then repeated as a
whole. Source: cursor.com/docs/cli/reference/output-format.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, BinaryIO

from threads.domain.formats import blocks
from threads.domain.formats.arguments import read_call
from threads.domain.formats.format import Format
from threads.domain.formats.io import fields, json_text
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.kit import stream_runs
from threads.domain.formats.kit.items import Item, attempt
from threads.domain.formats.kit.stream_runs import MAX_HELD_BYTES, StreamRun
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role, Usage
from threads.domain.part import JSON, Part, Text, Thinking, ToolCall, ToolResult
from threads.domain.transcript import Event, Transcript, Warning

NAME = "cursor_run"
LABEL = "the stream-json output of Cursor's command line"
_CALL = "ToolCall"
"""The suffix of the member that names a call's tool."""
_CONTENT = ("message", "content")
_FAILED = frozenset({"error", "failure", "rejected", "timeout", "permissionDenied"})
_OUTCOMES = _FAILED | {"success"}
"""Members that tell how a call ended, and hold its result."""


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The sessions in a run's output. Raises Invalid if it holds no message."""
    found = stream_runs.find(file, _begins, _note)
    items = partial(_items, file)
    return stream_runs.transcripts(found, items, LABEL, "Cursor run", format=NAME)


def _begins(record: dict[str, Any]) -> str:
    """The session's id, which is on every line."""
    return fields.word(record, "session_id", limit=255)


def _note(run: StreamRun, record: dict[str, Any], _place: int) -> None:
    run.speaks = run.speaks or record.get("type") in ("user", "assistant", "tool_call")
    if record.get("type") == "system":
        run.model = fields.word(record, "model") or run.model


def _items(file: BinaryIO, run: StreamRun, warnings: list[Warning]) -> Iterator[Item]:
    items = _RunItems(run.model)
    for row in stream_runs.rows(file, run, warnings):
        yield from attempt(partial(items.take, row), row, warnings)
    yield from items.rest()


@dataclass
class _Answer:
    """What the model says up to the next result."""

    model: str
    said: list[tuple[type[Text | Thinking], list[str]] | ToolCall] = field(
        default_factory=list
    )
    """Text and reasoning in pieces, and calls."""
    records: list[str] = field(default_factory=list)
    created_at: datetime | None = None
    size: int = 0

    def add(self, row: Element) -> None:
        """Record one more line."""
        self.created_at = self.created_at or _moment(fields.mapping(row.value))
        self.records.append(row.record)
        self.size += row.span.end - row.span.start

    def add_text(
        self, kind: type[Text | Thinking], words: str, *, joined: bool
    ) -> None:
        """Add text or reasoning; with `joined`, it continues the last one of its kind."""
        last = self.said[-1] if self.said else None
        if joined and isinstance(last, tuple) and last[0] is kind:
            last[1].append(words)
        else:
            self.said.append((kind, [words]))

    def repeats(self, words: str) -> bool:
        """Whether the words repeat the last text, which came in pieces, as a whole."""
        last = self.said[-1] if self.said else None
        return isinstance(last, tuple) and "".join(last[1]) == words

    def message(self, usage: Usage | None) -> Iterator[Message]:
        """The message of what was said; nothing if nothing was."""
        parts: list[Part] = [
            one if isinstance(one, ToolCall) else one[0]("".join(one[1]))
            for one in self.said
        ]
        if parts:
            yield Message(
                role=Role.ASSISTANT,
                parts=tuple(parts),
                model=self.model or None,
                created_at=self.created_at,
                usage=usage,
                records=tuple(self.records),
            )


class _RunItems:
    """Makes items from events, one after the other."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._answer = _Answer(model)
        self._behind: list[Event] = []
        """Events that follow the answer while it may continue."""
        self._called: set[str] = set()

    def take(self, row: Element) -> Iterator[Item]:
        """The items made from a line. Raises Invalid if it isn't an event."""
        value = fields.require(row.value, dict, "an event", ())
        if self._answer.size > MAX_HELD_BYTES:
            yield from self.rest()
        match value.get("type"), value.get("subtype"):
            case ("user", _):
                yield from self._asked(value, row)
            case ("assistant", _):
                self._words(value, row)
            case ("thinking", "delta"):
                self._answer.add_text(Thinking, fields.text(value, "text"), joined=True)
                self._answer.add(row)
            case ("tool_call", "started" | "completed"):
                yield from self._call(value, row)
            case ("system" | "result", _):
                yield from self.rest(_usage(value))
                yield _event(value, row)
            case _:
                self._behind.append(_event(value, row))

    def rest(self, usage: Usage | None = None) -> Iterator[Item]:
        """The answer that is still held, if any, and the events that followed it."""
        yield from self._answer.message(usage)
        yield from self._behind
        self._answer, self._behind = _Answer(self._model), []

    def _asked(self, value: dict[str, Any], row: Element) -> Iterator[Item]:
        content = fields.mapping(value, "message").get("content")
        parts = blocks.read_content(content, _CONTENT)
        yield from self.rest()
        yield Message(
            role=Role.USER,
            parts=parts,
            created_at=_moment(value),
            records=(row.record,),
        )

    def _words(self, value: dict[str, Any], row: Element) -> None:
        """Take text, in pieces or as a whole; a repetition becomes an event."""
        content = fields.mapping(value, "message").get("content")
        parts = blocks.read_content(content, _CONTENT)
        words = "".join(part.text for part in parts if isinstance(part, Text))
        is_piece = "timestamp_ms" in value and "model_call_id" not in value
        if not words or (not is_piece and self._answer.repeats(words)):
            self._behind.append(_event(value, row))
            return
        self._answer.add_text(Text, words, joined=is_piece)
        self._answer.add(row)

    def _call(self, value: dict[str, Any], row: Element) -> Iterator[Item]:
        """Take a call or its result; with a result, also the call if its start was not printed."""
        id_ = fields.text(value, "call_id")
        name, held = _named(fields.mapping(value, "tool_call"))
        if id_ not in self._called:
            self._called.add(id_)
            given = held.get("args", held.get("arguments", {}))
            self._answer.said.append(read_call(id_, name, given))
            self._answer.add(row)
        if value["subtype"] == "completed":
            yield from self.rest()
            yield Message(
                role=Role.TOOL,
                parts=(_result(id_, name, held),),
                created_at=_moment(value),
                records=(row.record,),
            )


def _named(call: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The name of a call's tool, and the object with its arguments and result."""
    held = {name: one for name, one in call.items() if isinstance(one, dict)}
    name = next((name for name in held if name.endswith(_CALL)), next(iter(held), ""))
    about = held.get(name, {})
    if name == "function":
        return fields.text(about, "name"), {"result": call.get("result"), **about}
    return name.removesuffix(_CALL), about


def _result(id_: str, name: str, held: dict[str, Any]) -> ToolResult:
    """A tool's result: its text, or the whole value as JSON."""
    said: JSON = held.get("result")
    outcome = next(iter(fields.mapping(said)), "")
    if outcome in _OUTCOMES and len(fields.mapping(said)) == 1:
        said = fields.mapping(said)[outcome]
    words = said if isinstance(said, str) else json_text.decode(json_text.dump(said))
    content = (Text(words),) if said else ()
    return ToolResult(id_, content, name or None, outcome in _FAILED)


def _event(value: dict[str, Any], row: Element) -> Event:
    """An event for a record that is not a message, named by its type and subtype."""
    name = fields.text(value, "type") or "event"
    detail = fields.text(value, "subtype")
    return Event(f"{name}/{detail}" if detail else name, row.record, _moment(value))


def _moment(value: dict[str, Any]) -> datetime | None:
    return fields.moment(value.get("timestamp_ms"))


def _usage(value: dict[str, Any]) -> Usage | None:
    """The tokens of a whole run, reported at its end; they are given to the last answer."""
    counts = fields.mapping(value, "usage")
    cached = fields.count(counts, "cacheReadTokens")
    usage = Usage(
        input_tokens=fields.count(counts, "inputTokens"),
        output_tokens=fields.count(counts, "outputTokens"),
        cached_tokens=cached,
    )
    return usage if usage != Usage() else None


def _score(sample: Sample) -> float:
    """By a call or reasoning as only Cursor prints them, or text with a time."""
    return 0.95 if any(map(_is_own, sample.records)) else 0


def _is_own(record: dict[str, Any]) -> bool:
    match record.get("type"), record.get("subtype"):
        case ("tool_call", "started" | "completed"):
            return isinstance(record.get("tool_call"), dict) and "call_id" in record
        case ("thinking", "delta" | "completed"):
            return "session_id" in record
        case ("assistant", _):
            return {"session_id", "timestamp_ms", "message"} <= record.keys()
    return False


FORMAT = Format(NAME, LABEL, _score, read)
