"""Events of a session of Claude's managed agents, as Anthropic's API lists or streams them.

They come as a page of the API (`data`), a list, or lines; some programs keep each event in `raw`,
beside their own description. The answer to one request to the model is one message. Thinking comes
without its text. The events have neither the session's id nor its model.

Source: platform.claude.com/docs/en/managed-agents/events-and-streaming.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from threads.domain.formats import blocks
from threads.domain.formats.anthropic import messages as anthropic
from threads.domain.formats.io import fields
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.kit.items import Item
from threads.domain.formats.kit.row_format import RowFormat
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role, Usage
from threads.domain.part import Part, Text, ToolCall
from threads.domain.transcript import Event

_SAID = {"user.message": Role.USER, "system.message": Role.SYSTEM}
_CALLS = frozenset({"agent.tool_use", "agent.custom_tool_use", "agent.mcp_tool_use"})
_RESULTS = {
    "agent.tool_result": "tool_use_id",
    "agent.mcp_tool_result": "mcp_tool_use_id",
    "user.tool_result": "tool_use_id",
    "user.custom_tool_result": "custom_tool_use_id",
}
"""Map of each event with a tool's result to the member that names its call."""
_OUTCOME = "user.define_outcome"
_ANSWER = "agent.message"
_KNOWN = frozenset({_OUTCOME, _ANSWER, *_SAID, *_CALLS, *_RESULTS})


@dataclass(slots=True)
class ManagedEvents:
    """Makes messages from events; an answer continues up to the end of its request."""

    _parts: list[Part] = field(default_factory=list)
    _records: list[str] = field(default_factory=list)
    _created_at: datetime | None = None
    _usage: Usage | None = None
    _behind: list[Event] = field(default_factory=list)
    """Events among the lines of an answer."""
    _tools: dict[str, str] = field(default_factory=dict)
    """Map of call id to the name of its tool."""

    def take(self, row: Element) -> Iterator[Item]:
        """The items that an event completes. Raises Invalid if it is malformed."""
        given = _event_in(fields.require(row.value, dict, "an event", ()))
        kind = fields.text(given, "type")
        stamp = fields.moment(given.get("processed_at"))
        if kind == _ANSWER or kind in _CALLS:
            self._parts += [self._call(given)] if kind in _CALLS else _content(given)
            self._records.append(row.record)
            self._created_at = self._created_at or stamp
        elif (said := self._said(kind, given)) is not None:
            yield from self.rest()
            role, parts = said
            yield Message(
                role=role, parts=parts, created_at=stamp, records=(row.record,)
            )
        else:
            if kind == "span.model_request_end":
                self._usage = anthropic.read_usage(given.get("model_usage"))
            self._behind.append(Event(kind[:64] or "record", row.record, stamp))
            if kind.startswith("span.model_request") or not self._parts:
                yield from self.rest()

    def rest(self) -> Iterator[Item]:
        """The answer that is held, and the events among its lines."""
        if self._parts:
            yield Message(
                role=Role.ASSISTANT,
                parts=tuple(self._parts),
                created_at=self._created_at,
                usage=self._usage,
                records=tuple(self._records),
            )
        yield from self._behind
        self._parts, self._records, self._behind = [], [], []
        self._created_at = self._usage = None

    def _said(
        self, kind: str, given: dict[str, Any]
    ) -> tuple[Role, tuple[Part, ...]] | None:
        """The role and parts of an event that is a message of its own; None for other events."""
        if kind in _SAID:
            return _SAID[kind], tuple(_content(given))
        if kind == _OUTCOME:
            rubric = fields.mapping(given, "rubric")
            texts = fields.text(given, "description"), fields.text(rubric, "content")
            return Role.USER, tuple(Text(text) for text in texts if text)
        if kind in _RESULTS:
            id_ = fields.text(given, _RESULTS[kind])
            name = self._tools.get(id_)
            return Role.TOOL, (blocks.read_result(given, id_, (), name=name),)
        return None

    def _call(self, given: dict[str, Any]) -> ToolCall:
        id_, server = fields.text(given, "id"), fields.text(given, "mcp_server_name")
        name = fields.require(given.get("name"), str, "the name of a tool", ("name",))
        name = f"mcp__{server}__{name}" if server else name
        self._tools[id_] = name
        return ToolCall(id_, name, given.get("input", {}))


def _event_in(value: dict[str, Any]) -> dict[str, Any]:
    held = fields.mapping(value, "raw")
    return held if "type" in held else value


def _content(given: dict[str, Any]) -> tuple[Part, ...]:
    return blocks.read_content(given.get("content"), ("content",))


def _score(sample: Sample) -> float:
    """By a known type of event with the time when it was processed."""
    listed = map(fields.mapping, fields.items(sample.object, "data"))
    found = map(_event_in, [*sample.records, *sample.elements, *listed])
    is_own = (
        "processed_at" in event and fields.text(event, "type") in _KNOWN
        for event in found
    )
    return 0.95 if any(is_own) else 0


FORMAT = RowFormat(
    name="claude_managed",
    label="events of a session of Claude's managed agents",
    score=_score,
    reader=ManagedEvents,
    lists=("data",),
    strategy="anthropic",
).format
