"""The output of `codex exec --json`: events of a thread, its turns and their items.

An item is reported when it begins (`item.started`), while it changes, and when it ends
(`item.completed`). The prompt is not printed. Source: exec_events.rs and its event processors in
openai/codex (`codex-rs/exec/src`). The first versions, of September 2025, use `session.created`,
`item_type` and `assistant_message`.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, BinaryIO, NamedTuple

from threads.domain.formats.format import Format
from threads.domain.formats.io import base64_text, fields, json_text
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.kit import stream_runs
from threads.domain.formats.kit.items import Item, attempt
from threads.domain.formats.kit.stream_runs import StreamedMessage, StreamRun
from threads.domain.formats.openai.items import read_usage
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role, Usage
from threads.domain.part import (
    JSON,
    File,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from threads.domain.transcript import Event, Transcript, Warning

NAME = "codex_exec"
LABEL = "the JSON output of codex exec"
ITEMS = frozenset({"item.started", "item.updated", "item.completed"})
TURN = frozenset({"turn.started", "turn.completed", "turn.failed"})
"""Events of turns, at which an answer ends."""
BEGINS = {"thread.started": "thread_id", "session.created": "session_id"}
_FAILED = frozenset({"failed", "declined"})
_AT = ("item",)


class AnswerPart(NamedTuple):
    """A part of an answer and, if it is a call, its result."""

    part: Part
    result: Message | None = None


ReadAnswer = Callable[[dict[str, Any], str], AnswerPart | None]
"""Reads an item, given its members and the id of its call; None if it says nothing."""


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The threads in a run's output. Raises Invalid if it holds no message."""
    found = stream_runs.find(file, _begins, _note)
    items = partial(_items, file)
    return stream_runs.transcripts(found, items, LABEL, "Codex run", format=NAME)


def _begins(record: dict[str, Any]) -> str:
    name = BEGINS.get(fields.text(record, "type"), "")
    return fields.word(record, name, limit=255) if name else ""


def _note(run: StreamRun, record: dict[str, Any], place: int) -> None:
    """Note whether a run speaks, and which items begin but never end."""
    type_ = fields.text(record, "type")
    if type_ not in ITEMS:
        return
    item = fields.mapping(record, "item")
    id_ = fields.text(item, "id")
    if kind_of(item) in READERS:
        run.speaks = True
        if type_ == "item.completed":
            run.open.pop(id_, None)
        elif id_:
            run.open[id_] = place


def _items(file: BinaryIO, run: StreamRun, warnings: list[Warning]) -> Iterator[Item]:
    items = _ExecItems(run)
    for row in stream_runs.rows(file, run, warnings):
        yield from attempt(partial(items.take, row), row, warnings)
    yield from items.rest()


class _ExecItems:
    """Makes items from events, one after the other.

    The items of an answer become one message, up to the results of its calls. Concurrent calls
    belong to one answer, even if one ended before the other.
    """

    def __init__(self, run: StreamRun) -> None:
        self._run = run
        self._begun = 0
        """How many runs of the thread have begun: each restarts the numbers of its items."""
        self._answer = StreamedMessage()
        self._number = 0
        """The number of the answer that is held."""
        self._open: dict[str, tuple[int, int]] = {}
        """Map of each open call's id to the number of its answer and its place in it."""
        self._total = Usage()

    def take(self, row: Element) -> Iterator[Item]:
        """The items made from a line. Raises Invalid if it isn't an event."""
        value = fields.require(row.value, dict, "an event", ())
        type_ = fields.text(value, "type")
        item = fields.mapping(value, "item") if type_ in ITEMS else {}
        kind = kind_of(item)
        if type_ in BEGINS or type_ in TURN:
            self._answer.usage = self._usage(value)
            yield from self.rest()
            self._begun += type_ in BEGINS
        elif kind in READERS and (
            type_ == "item.completed" or row.span.start in self._run.unfinished
        ):  # the last line of its item
            if told := READERS[kind](item, self._id(item)):
                yield from self._add_item(told, item, row, type_ == "item.completed")
                return
        elif kind in CALLS and type_ == "item.started":
            if self._answer.has_results:
                yield from self.rest()
            self._open[self._id(item)] = self._number, row.span.start
        name = f"{type_}/{kind}" if kind else type_ or "event"
        event = Event(name, row.record, fields.moment(value.get("timestamp")))
        yield from self._answer.followed_by(event, row)

    def rest(self) -> Iterator[Item]:
        """The answer that is still held, and the results of its calls."""
        yield from self._answer.items()
        self._number += bool(self._answer)
        self._answer = StreamedMessage()

    def _add_item(
        self, told: AnswerPart, item: dict[str, Any], row: Element, is_whole: bool
    ) -> Iterator[Item]:
        """Add an item to the answer that it belongs to."""
        id_ = self._id(item)
        number, place = self._open.pop(id_, (None, row.span.start))
        if self._is_next(told, number) or self._answer.is_full:
            yield from self.rest()
        self._answer.id = self._answer.id or fields.as_word(id_)
        self._answer.is_partial = self._answer.is_partial or not is_whole
        self._answer.add(told.part, row, place=place if told.result else 0)
        if told.result is not None and is_whole:
            self._answer.keep(replace(told.result, records=(row.record,)), row)

    def _is_next(self, told: AnswerPart, number: int | None) -> bool:
        """Whether an item belongs to the next answer, not to the one that is held.

        `number` is the number of the answer in which a call began.
        """
        if told.result is None:
            return self._answer.has_calls
        if number is None:
            return self._answer.has_results
        return number != self._number

    def _id(self, item: dict[str, Any]) -> str:
        id_ = fields.text(item, "id")
        return f"{id_}/{self._begun}" if id_ and self._begun > 1 else id_

    def _usage(self, value: dict[str, Any]) -> Usage | None:
        """The tokens of a turn; the event reports the total of the thread up to here."""
        usage = fields.mapping(value, "usage")
        if value.get("type") != "turn.completed" or not usage:
            return None
        told, before = read_usage(usage, usage) or Usage(), self._total
        self._total = told
        turn = Usage(
            input_tokens=told.input_tokens - before.input_tokens,
            output_tokens=told.output_tokens - before.output_tokens,
            cached_tokens=told.cached_tokens - before.cached_tokens,
        )
        counts = (turn.input_tokens, turn.output_tokens, turn.cached_tokens)
        turn = told if min(counts) < 0 else turn
        return turn if turn != Usage() else None


def kind_of(item: dict[str, Any]) -> str:
    """The type of an item, in either spelling."""
    return fields.text(item, "type", "item_type")


def _text_reader(part: type[Text] | type[Thinking]) -> ReadAnswer:
    def read(item: dict[str, Any], _id: str) -> AnswerPart | None:
        text = fields.require(item.get("text"), str, "text", (*_AT, "text"))
        return AnswerPart(part(text)) if text else None

    return read


def _command(item: dict[str, Any], id_: str) -> AnswerPart:
    command = item.get("command")
    command = fields.require(command, str, "a command", (*_AT, "command"))
    call = ToolCall(id_, "command_execution", {"command": command})
    return _answered(call, item, _texts(item.get("aggregated_output")))


def _change(item: dict[str, Any], id_: str) -> AnswerPart:
    changes = item.get("changes")
    fields.require(changes, list, "a list of changes", (*_AT, "changes"))
    return _answered(ToolCall(id_, "file_change", {"changes": changes}), item, ())


def _mcp(item: dict[str, Any], id_: str) -> AnswerPart:
    """The call of an MCP server's tool, named as in rollouts."""
    tool = fields.require(item.get("tool"), str, "the name of a tool", (*_AT, "tool"))
    server = fields.text(item, "server")
    name = f"mcp__{server}__{tool}" if server else tool
    arguments = item.get("arguments")
    call = ToolCall(id_, name, {} if arguments is None else arguments)
    result, error = item.get("result"), fields.mapping(item, "error")
    content = tuple(_block(block) for block in fields.items(result, "content"))
    structured = fields.mapping(result).get("structured_content")
    if not content and structured is not None:
        content = _texts(structured)
    return _answered(call, item, content or _texts(error.get("message")))


def _collaboration(item: dict[str, Any], id_: str) -> AnswerPart:
    """The call of a tool for other agents: its arguments, and the agents' states as its result."""
    tool = fields.require(item.get("tool"), str, "the name of a tool", (*_AT, "tool"))
    given = {
        name: item[name]
        for name in ("prompt", "receiver_thread_ids")
        if item.get(name) is not None
    }
    states = _texts(item.get("agents_states") or None)
    return _answered(ToolCall(id_, tool, given), item, states)


def _answered(
    call: ToolCall,
    item: dict[str, Any],
    content: tuple[Text | Image | File | Opaque, ...],
) -> AnswerPart:
    is_error = fields.text(item, "status") in _FAILED
    result = ToolResult(call.id, content, call.name, is_error)
    return AnswerPart(call, Message(role=Role.TOOL, parts=(result,)))


def _texts(value: JSON) -> tuple[Text, ...]:
    """A text as it is, any other value as JSON; nothing for an empty one."""
    if isinstance(value, str):
        return (Text(value),) if value else ()
    if value is None:
        return ()
    return (Text(json_text.dump(value).decode()),)


def _block(block: JSON) -> Text | Image | File | Opaque:
    """The part of an MCP block in a tool's result."""
    kind = fields.text(block, "type")
    if kind == "text" and fields.text(block, "text"):
        return Text(block["text"])
    data = base64_text.decode(fields.mapping(block).get("data"))
    if kind == "image" and data is not None:
        return Image(fields.text(block, "mimeType") or "image/*", data=data)
    return Opaque(kind or "block", block)


_CALL_READERS: dict[str, ReadAnswer] = {
    "command_execution": _command,
    "file_change": _change,
    "mcp_tool_call": _mcp,
    "collab_tool_call": _collaboration,
}
CALLS = _CALL_READERS.keys()
READERS: dict[str, ReadAnswer] = {
    "agent_message": _text_reader(Text),
    "assistant_message": _text_reader(Text),
    "plan": _text_reader(Text),
    "reasoning": _text_reader(Thinking),
    **_CALL_READERS,
    # The provider ran this itself; its results are not printed.
    "web_search": lambda item, _id: AnswerPart(Opaque("web_search", item)),
}
"""Readers of the items that belong to the conversation; task lists and errors are events."""


def _score(sample: Sample) -> float:
    """By the beginning of a thread; less surely by its items alone."""
    if any(_begins(record) for record in sample.records):
        return 0.95
    items = (
        fields.mapping(record, "item")
        for record in sample.records
        if fields.text(record, "type") in ITEMS
    )
    return 0.9 if any("id" in item and kind_of(item) for item in items) else 0


FORMAT = Format(NAME, LABEL, _score, read)
