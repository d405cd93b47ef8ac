"""Continue's sessions: `~/.continue/sessions/<id>.json`, a `history` of messages.

Attachments (`contextItems`) are sent before the text of their message. A tool's result is beside
its call (`toolCallStates`) if it has no message of its own.

Source: github.com/continuedev/continue, `core/index.d.ts`, `core/util/history.ts`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from threads.domain.formats import blocks
from threads.domain.formats.io import fields
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.kit.items import Item, summary_compaction
from threads.domain.formats.kit.row_format import RowFormat, event
from threads.domain.formats.openai import messages as openai
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.part import JSON, Part, Text, Thinking, ToolResult


@dataclass(slots=True)
class ContinueHistory:
    """Makes messages from the entries of a history."""

    thoughts: list[Part] = field(default_factory=list)
    records: tuple[str, ...] = ()
    outputs: dict[str, tuple[Text, ...]] = field(default_factory=dict)
    """Map of call id to a tool's result that no message has brought yet."""
    record: str = ""
    count: int = 0

    def take(self, row: Element) -> Iterator[Item]:
        """The items of an entry. Raises Invalid if it is malformed."""
        for item in self._read(row):
            self.count += isinstance(item, Message)
            yield item

    def rest(self) -> Iterable[Item]:
        """Results without a message, and reasoning without an answer."""
        yield from self._returned()
        if self.thoughts:
            yield Message(
                role=Role.ASSISTANT,
                parts=tuple(self.thoughts),
                records=self.records,
                partial=True,
            )

    def _read(self, row: Element) -> Iterator[Item]:
        entry = fields.require(row.value, dict, "an entry", ())
        given = fields.mapping(entry, "message") or entry
        role = fields.text(given, "role")
        if role == "thinking":
            words = blocks.read_content(given.get("content"), ("content",))
            signature = fields.text(given, "signature") or None
            said = [part.text for part in words if isinstance(part, Text)]
            self.thoughts += [Thinking(text, signature) for text in said]
            if redacted := fields.text(given, "redactedThinking"):
                sealed = Thinking("", data=redacted, signer="anthropic")
                self.thoughts.append(sealed)
            self.records += (row.record,)
            return
        message = _message(given, entry)
        if message.role is Role.TOOL:
            for part in message.parts:
                self.outputs.pop(getattr(part, "call_id", ""), None)
        elif message.role is not Role.ASSISTANT:
            yield from self._returned()
        if message.role is Role.ASSISTANT:
            yield from self._returned()
            parts = (*self.thoughts, *message.parts)
            message = replace(message, parts=parts, records=self.records)
            self.thoughts, self.records = [], ()
            self._hold(entry)
        self.record = row.record
        if not message.parts:
            yield event(row, "type")
            return
        yield replace(message, records=(*message.records, row.record))
        summary = fields.text(entry, "conversationSummary")
        if made := summary_compaction(
            set(range(self.count)) if summary else set(), summary, row
        ):
            yield made

    def _hold(self, entry: dict[str, Any]) -> None:
        for state in fields.items(entry, "toolCallStates"):
            id_ = fields.text(state, "toolCallId")
            texts = (
                fields.text(one, "content") for one in fields.items(state, "output")
            )
            if found := tuple(Text(text) for text in texts if text):
                self.outputs[id_] = found

    def _returned(self) -> Iterator[Item]:
        """Messages for results that are only beside their calls."""
        for id_, content in self.outputs.items():
            result = ToolResult(id_, content)
            yield Message(role=Role.TOOL, parts=(result,), records=(self.record,))
        self.outputs = {}


def _message(given: dict[str, Any], entry: dict[str, Any]) -> Message:
    """An OpenAI message in Continue's spelling, with its attachments."""
    content = given.get("content")
    if isinstance(content, list):
        content = [_block(block) for block in content]
    calls = given.get("toolCalls")
    renamed: dict[str, Any] = {"role": given.get("role"), "content": content}
    if calls:
        renamed["tool_calls"] = calls
    if call_id := fields.text(given, "toolCallId"):
        renamed["tool_call_id"] = call_id
    made = openai.read_message(renamed)
    attached = tuple(_attached(entry)) if made.role is Role.USER else ()
    reasoning = fields.text(fields.mapping(entry, "reasoning"), "text")
    has_thought = made.role is Role.ASSISTANT and reasoning
    thoughts = (Thinking(reasoning),) if has_thought else ()
    usage = openai.read_usage(_snake(given.get("usage")))
    parts = (*attached, *thoughts, *made.parts)
    return replace(made, parts=parts, usage=usage, source_id=None)


def _block(block: JSON) -> JSON:
    if fields.text(block, "type") == "imageUrl":
        return {"type": "image_url", "image_url": fields.mapping(block, "imageUrl")}
    return block


def _attached(entry: dict[str, Any]) -> Iterator[Text]:
    for one in fields.items(entry, "contextItems"):
        if words := fields.text(one, "content"):
            yield Text(words)


def _snake(usage: JSON) -> JSON:
    if not isinstance(usage, dict):
        return None
    return {
        "prompt_tokens": usage.get("promptTokens"),
        "completion_tokens": usage.get("completionTokens"),
    }


def _score(sample: Sample) -> float:
    told = sample.object.keys()
    history = fields.items(sample.object, "history")
    has_messages = any("message" in fields.mapping(one) for one in history)
    if {"sessionId", "workspaceDirectory", "history"} <= told:
        return 0.95
    return 0.9 if has_messages and "sessionId" in told else 0


FORMAT = RowFormat(
    name="continue",
    label="a Continue session",
    score=_score,
    reader=ContinueHistory,
    lists=("history",),
    known=lambda first: {
        "title": fields.text(first[0] if first else {}, "title"),
        "external_id": fields.word(first[0] if first else {}, "sessionId", limit=255),
        "model": fields.word(first[0] if first else {}, "chatModelTitle"),
    },
).format
