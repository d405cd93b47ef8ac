"""Factory's Droid: its sessions, and the output of `droid exec --output-format stream-json`.

- `~/.factory/sessions/**/<id>.jsonl`: `session_start`, then `message`s in Anthropic's form.
  `compaction_state` holds the summary that replaces everything before it.
- The output of a run: `system`, `message`, `tool_call`, `tool_result` and `completion`. Some
  versions also print the final text of `completion` as a message before it.

Sources: github.com/specstoryai/getspecstory, `specstory-cli/pkg/providers/droidcli`;
github.com/jazzyalex/agent-sessions, `Resources/Fixtures/stage0/agents/droid`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from threads.domain.formats import blocks
from threads.domain.formats.anthropic import messages as anthropic
from threads.domain.formats.io import fields, json_text
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.kit.items import Item, summary_compaction
from threads.domain.formats.kit.model_context import ModelContext
from threads.domain.formats.kit.row_format import RowFormat, event
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role, Usage
from threads.domain.part import JSON, Part, Text, Thinking, ToolCall, ToolResult

_ROLES = {role.value: role for role in (Role.USER, Role.ASSISTANT, Role.SYSTEM)}
_THOUGHTS = frozenset({"thinking", "reasoning", "thought"})


@dataclass(slots=True)
class DroidEntries:
    """Makes items from a session's lines."""

    context: ModelContext = field(default_factory=ModelContext)

    def take(self, row: Element) -> Iterator[Item]:
        """The item of a line. Raises Invalid if it is malformed."""
        given = fields.require(row.value, dict, "an entry", ())
        kind = fields.text(given, "type")
        item: Item | None = None
        if kind == "message" and isinstance(given.get("message"), dict):
            item = _message(given, row)
        elif kind == "compaction_state":
            words = fields.text(given, "summaryText", "summary")
            words = words or fields.text(fields.mapping(given, "summary"), "body")
            item = summary_compaction(
                self.context.hide(len(self.context)) if words else set(), words, row
            )
        item = item or event(row, "type")
        self.context.note(item)
        yield item

    def rest(self) -> Iterable[Item]:
        """Empty: each line is an item of its own."""
        return ()


def _message(given: dict[str, Any], row: Element) -> Message | None:
    said = fields.mapping(given, "message")
    role = blocks.read_role(said, _ROLES, ("message",))
    content = said.get("content")
    if isinstance(content, list):
        content = [_block(block) for block in content]
    parts = blocks.read_content(content, ("message", "content"))
    if not parts:
        return None
    return Message(
        role=role,
        parts=parts,
        model=fields.word(said, "model") or fields.word(given, "model") or None,
        source_id=fields.word(given, "id") or None,
        created_at=fields.moment(given.get("timestamp")),
        usage=anthropic.read_usage(said.get("usage")),
        records=(row.record,),
    )


def _block(block: JSON) -> JSON:
    """A block in Anthropic's form: some versions use other names for reasoning."""
    if fields.text(block, "type") in _THOUGHTS:
        words = fields.text(block, "thinking", "text")
        return {**block, "type": "thinking", "thinking": words}
    return block


def _session_score(sample: Sample) -> float:
    first = sample.records[0] if sample.records else {}
    if first.get("type") == "session_start" and "id" in first:
        return 0.95
    spoken = [row for row in sample.records if row.get("type") == "message"]
    has_state = any(
        fields.text(row, "type") in ("todo_state", "compaction_state")
        for row in sample.records
    )
    return 0.9 if has_state and any("message" in row for row in spoken) else 0


SESSION = RowFormat(
    name="droid",
    label="a Factory Droid session",
    score=_session_score,
    reader=DroidEntries,
    strategy="anthropic",
    known=lambda first: {
        "title": fields.text(first[0] if first else {}, "sessionTitle", "title"),
        "external_id": fields.word(first[0] if first else {}, "id", limit=255),
    },
)

# The output of a run


@dataclass(slots=True)
class DroidRun:
    """Makes items from the output of a run."""

    said: str = ""
    """The model's last text."""
    model: str = ""
    names: dict[str, str] = field(default_factory=dict)

    def take(self, row: Element) -> Iterator[Item]:
        """The item of a line. Raises Invalid if it isn't an object."""
        given = fields.require(row.value, dict, "a line of Droid's output", ())
        kind = fields.text(given, "type")
        self.model = fields.word(given, "model") or self.model
        role, parts, usage = Role.ASSISTANT, tuple[Part, ...](), None
        if kind == "message":
            role = _ROLES.get(fields.text(given, "role"), Role.USER)
            parts = _text(fields.text(given, "text"))
        elif kind == "reasoning":
            words = fields.text(given, "text", "thinking")
            parts = (Thinking(words),) if words else ()
        elif kind == "tool_call":
            parts = (self._call(given),)
        elif kind == "tool_result":
            role, parts = Role.TOOL, (self._result(given),)
        elif kind == "completion" and fields.text(given, "finalText") != self.said:
            parts = _text(fields.text(given, "finalText"))
            usage = anthropic.read_usage(given.get("usage"))
        if not parts:
            yield event(row, "type")
            return
        if role is Role.ASSISTANT and isinstance(parts[0], Text):
            self.said = parts[0].text
        yield _printed(given, row, role, parts, usage, self.model)

    def rest(self) -> Iterable[Item]:
        """Empty: each line is an item of its own."""
        return ()

    def _call(self, given: dict[str, Any]) -> ToolCall:
        name = fields.text(given, "toolName", "toolId") or "tool"
        id_ = fields.text(given, "toolCallId", "id")
        self.names[id_] = name
        return ToolCall(id_, name, given.get("parameters", {}))

    def _result(self, given: dict[str, Any]) -> ToolResult:
        id_ = fields.text(given, "toolCallId", "id")
        value = given.get("value", given.get("error"))
        words = value if isinstance(value, str) else ""
        if value is not None and not isinstance(value, str):
            words = json_text.decode(json_text.dump(value))
        content = (Text(words),) if words else ()
        is_error = given.get("isError") is True
        return ToolResult(id_, content, self.names.get(id_), is_error)


def _text(words: str) -> tuple[Part, ...]:
    return (Text(words),) if words else ()


def _printed(
    given: dict[str, Any],
    row: Element,
    role: Role,
    parts: tuple[Part, ...],
    usage: Usage | None,
    model: str,
) -> Message:
    return Message(
        role=role,
        parts=parts,
        model=(model or None) if role is Role.ASSISTANT else None,
        source_id=fields.word(given, "id") or None,
        created_at=fields.moment(given.get("timestamp")),
        usage=usage,
        records=(row.record,),
    )


def _stream_score(sample: Sample) -> float:
    """By calls or an end as only Droid prints them, in a run with messages or system events."""
    rows = sample.records
    kinds = {fields.text(row, "type") for row in rows}
    own = any(
        ("toolName" in row and "parameters" in row) or "finalText" in row
        for row in rows
    )
    spoken = any("role" in row and "text" in row for row in rows)
    is_run = any("session_id" in row or "sessionId" in row for row in rows)
    return 0.95 if own and is_run and (spoken or "system" in kinds) else 0


STREAM = RowFormat(
    name="droid_stream",
    label="the output of a Factory Droid run",
    score=_stream_score,
    reader=DroidRun,
    strategy="anthropic",
    known=lambda first: {
        "external_id": next(
            (
                id_
                for row in first
                if (id_ := fields.word(row, "session_id", "sessionId", limit=255))
            ),
            "",
        ),
    },
)
FORMATS = (SESSION.format, STREAM.format)
