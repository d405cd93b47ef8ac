"""Google's Antigravity: the steps of a conversation, `transcript.jsonl`, `transcript_full.jsonl`.

A step is a user's request, a plan by the model (text, reasoning, calls), or a tool's result. Calls
have no ids: a tool's step answers the first call that waits. The same conversation is also in a
database of protocol buffers, which is not read.

Sources: github.com/jazzyalex/agent-sessions, `Resources/Fixtures/stage0/agents/antigravity`;
github.com/Dicklesworthstone/coding_agent_session_search, `tests/fixtures/antigravity`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from threads.domain.formats.io import fields
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.kit.calls import CallLinks
from threads.domain.formats.kit.items import Item
from threads.domain.formats.kit.row_format import RowFormat, event
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.part import Part, Text, Thinking, ToolCall, ToolResult

_PLANS = frozenset({"PLANNER_RESPONSE", "NOTIFY_USER"})
_TOLD = frozenset(
    {"SYSTEM_MESSAGE", "EPHEMERAL_MESSAGE", "CHECKPOINT", "ERROR_MESSAGE"}
)
"""Steps with text by the client, which is given to the model as a user message."""


@dataclass(slots=True)
class AntigravitySteps:
    """Makes messages from steps."""

    links: CallLinks = field(default_factory=CallLinks)

    def take(self, row: Element) -> Iterator[Item]:
        """The messages of a step. Raises Invalid if it isn't one."""
        given = fields.require(row.value, dict, "a step", ())
        kind, words = fields.text(given, "type"), fields.text(given, "content")
        thought = fields.text(given, "thinking")
        said: list[Part] = [Thinking(thought)] if thought else []
        calls = [_call(call) for call in fields.items(given, "tool_calls")]
        is_plan = kind in _PLANS
        if words and is_plan:
            said.append(Text(words))
        found = []
        if said or calls:
            found.append(_message(given, Role.ASSISTANT, (*said, *calls), row))
        if words and not is_plan:
            if kind == "USER_INPUT" or kind in _TOLD:
                found.append(_message(given, Role.USER, (Text(words),), row))
            else:
                is_error = fields.text(given, "status") == "ERROR"
                answer = ToolResult("", (Text(words),), None, is_error)
                found.append(_message(given, Role.TOOL, (answer,), row))
        yield from map(self.links.given, found)
        if not found:
            yield event(row, "type")

    def rest(self) -> Iterable[Item]:
        """Empty: a step is never held."""
        return ()


def _call(call: Any) -> ToolCall:
    fields.require(call, dict, "a tool call", ("tool_calls",))
    name = fields.text(call, "name") or "tool"
    return ToolCall(
        fields.text(call, "id"), name, call.get("args", call.get("arguments", {}))
    )


def _message(
    given: dict[str, Any], role: Role, parts: tuple[Part, ...], row: Element
) -> Message:
    return Message(
        role=role,
        parts=parts,
        created_at=fields.moment(given.get("created_at")),
        records=(row.record,),
    )


def _score(sample: Sample) -> float:
    own = {"step_index", "source", "type"}
    return 0.95 if any(own <= row.keys() for row in sample.records) else 0


FORMAT = RowFormat(
    name="antigravity",
    label="an Antigravity transcript",
    score=_score,
    reader=AntigravitySteps,
    strategy="gemini",
).format
