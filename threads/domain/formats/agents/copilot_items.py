"""Makes items from the events of a Copilot CLI session: messages, compactions or events."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats import blocks
from threads.domain.formats.arguments import read_call
from threads.domain.formats.io import base64_text, fields
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.kit.items import Item, summary_compaction
from threads.domain.formats.kit.model_context import ModelContext
from threads.domain.message import Message, Role, Usage
from threads.domain.part import (
    File,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from threads.domain.transcript import Compaction, Event

from .copilot_summary import summary_message

Asset = Callable[[str], dict[str, Any]]
"""Returns the data of a picture or file that has an event of its own, by its id."""


def agent_of(value: dict[str, Any]) -> str:
    """The sub-agent that an event belongs to; empty for the session's own events."""
    data = value.get("data")
    return fields.word(value, "agentId") or fields.word(data, "parentToolCallId")


@dataclass(slots=True)
class CopilotItems:
    """Makes items from events, one after the other, and tracks the model's context."""

    asset: Asset
    _held: Message | None = None
    """An answer that more chunks belong to."""
    _system: tuple[Part, ...] = ()
    _tools: dict[str, str] = field(default_factory=dict)
    _context: ModelContext = field(default_factory=ModelContext)
    _begun: int | None = None
    """How many messages were in the context when a compaction began."""
    _asked: list[str] = field(default_factory=list)
    _skills: dict[str, tuple[str, str]] = field(default_factory=dict)

    def take(self, row: Element) -> Iterator[Item]:
        """The items made from a line. Raises Invalid if it isn't an event."""
        for item in self._read(row):  # note each before making the next
            self._context.note(item)
            yield item

    def _read(self, row: Element) -> Iterator[Item]:
        value = fields.require(row.value, dict, "an event", ())
        data = fields.mapping(value, "data")
        type_ = fields.text(value, "type")
        moment = fields.moment(value.get("timestamp"))
        made: Item | None = None
        if type_ == "session.compaction_start":
            self._begun = len(self._context) + (self._held is not None)
        elif type_ == "session.compaction_complete":
            yield from self.rest()
            made = self._compaction(data, row)
        elif type_ == "skill.invoked":
            name = fields.text(data, "name")
            self._skills.pop(name, None)
            told = fields.text(data, "path"), fields.text(data, "content")
            self._skills[name] = told
        elif type_ == "tool.execution_start":
            tool = fields.text(data, "toolName")
            self._tools[fields.text(data, "toolCallId")] = tool
        elif reader := _READERS.get(type_):
            made = reader(self, data)
        if isinstance(made, Message):
            made = replace(made, records=(row.record,), created_at=moment)
            if type_ == "assistant.message":
                yield from self._chunk(made, data)
                return
            yield from self.rest()
        yield made or Event(type_ or "event", row.record, moment)

    def rest(self) -> Iterator[Item]:
        """The answer that is still held, if any."""
        if self._held is not None:
            yield self._held
            self._held = None

    def _chunk(self, made: Message, data: dict[str, Any]) -> Iterator[Message]:
        """Join the consecutive chunks of one API call into one message."""
        held = self._held
        if held is not None and held.source_id == made.source_id:
            self._held = None
            made = replace(
                held,
                parts=held.parts + made.parts,
                usage=made.usage or held.usage,
                records=held.records + made.records,
            )
        yield from self.rest()  # type: ignore[misc]  # only messages are held
        if fields.count(data, "chunkIndex") + 1 < fields.count(data, "chunkCount"):
            self._held = made
        else:
            yield made

    def _compaction(self, data: dict[str, Any], row: Element) -> Compaction | None:
        """The messages in the context when the compaction began, replaced by the summary.

        If its beginning wasn't recorded: as many messages as were removed, else all.
        """
        summary = fields.text(data, "summaryContent")
        begun, self._begun = self._begun, None
        if not summary or data.get("success") is False or not self._context:
            return None
        size = fields.count(data, "messagesRemoved") or len(self._context)
        size = self._context.whole(size if begun is None else begun)
        words = summary_message(summary, self._asked, self._skills)
        return summary_compaction(self._context.hide(size), words, row)

    def system(self, data: dict[str, Any]) -> Message | None:
        """A system prompt; None if it only repeats the current one."""
        role = Role.DEVELOPER if data.get("role") == "developer" else Role.SYSTEM
        parts = blocks.read_content(data.get("content"), ("content",))
        if parts == self._system:
            return None
        self._system = parts
        return Message(role=role, parts=parts, name=fields.text(data, "name") or None)

    def user(self, data: dict[str, Any]) -> Message:
        """A user's message as it was sent, with what Copilot put around the text."""
        self._asked.append(fields.text(data, "content"))
        sent = fields.text(data, "transformedContent", "content")
        parts: list[Part] = [Text(sent)] if sent else []
        for one in fields.items(data, "attachments"):
            part = self._binary(fields.mapping(one))
            parts.append(part or Opaque(fields.text(one, "type") or "attachment", one))
        return Message(role=Role.USER, parts=tuple(parts))

    def _binary(self, one: dict[str, Any]) -> Image | File | None:
        """A picture or file with its bytes, which are inline or in an event of their own."""
        held = one if "data" in one else self.asset(fields.text(one, "assetId"))
        data = base64_text.decode(held.get("data"))
        if data is None:
            return None
        kind = fields.text(one, "mimeType") or fields.text(held, "mimeType")
        if kind.startswith("image/"):
            return Image(kind, data=data)
        name = fields.text(one, "displayName", "description") or None
        return File(kind or "application/octet-stream", name, data=data)

    def assistant(self, data: dict[str, Any]) -> Message:
        """An answer: reasoning, text and calls."""
        output = fields.count(data, "outputTokens")
        text = fields.text(data, "content")
        said = (Text(text),) if text else ()
        return Message(
            role=Role.ASSISTANT,
            parts=(*_thinking(data), *said, *_calls(data)),
            model=fields.word(data, "model") or None,
            source_id=fields.word(data, "apiCallId", "messageId") or None,
            usage=Usage(output_tokens=output) if output else None,
        )

    def called(self, data: dict[str, Any]) -> Message:
        """The call of a tool that a user ran."""
        name = fields.text(data, "toolName") or "tool"
        call = ToolCall(fields.text(data, "toolCallId"), name, data.get("arguments"))
        return Message(role=Role.USER, parts=(call,))

    def result(self, data: dict[str, Any]) -> Message:
        """A tool's result as given to the model."""
        call_id = fields.text(data, "toolCallId")
        result = fields.mapping(data, "result")
        error = fields.mapping(data, "error")
        words = fields.text(result, "content") or fields.text(error, "message")
        binaries = map(fields.mapping, fields.items(result, "binaryResultsForLlm"))
        shown = (one for one in map(self._binary, binaries) if one is not None)
        given = (*([Text(words)] if words else []), *shown)
        name = self._tools.get(call_id) or None
        part = ToolResult(call_id, given, name, data.get("success") is False)
        return Message(role=Role.TOOL, parts=(part,))


def _thinking(data: dict[str, Any]) -> Iterator[Thinking]:
    words = fields.text(data, "reasoningText")
    signature = fields.text(data, "reasoningOpaque") or None
    if words:
        yield Thinking(words, signature)
    elif signature:
        yield Thinking("", data=signature)
    if encrypted := fields.text(data, "encryptedContent"):
        yield Thinking("", data=encrypted)


def _calls(data: dict[str, Any]) -> Iterator[ToolCall]:
    for index, call in enumerate(fields.items(data, "toolRequests")):
        name = fields.text(call, "name")
        if not name:
            at = ("toolRequests", index, "name")
            raise Invalid("Expected the name of a tool here.", at=at)
        arguments = fields.mapping(call).get("arguments")
        yield read_call(fields.text(call, "toolCallId"), name, arguments)


_READERS: dict[str, Callable[[CopilotItems, dict[str, Any]], Message | None]] = {
    "system.message": CopilotItems.system,
    "user.message": CopilotItems.user,
    "assistant.message": CopilotItems.assistant,
    "tool.user_requested": CopilotItems.called,
    "tool.execution_complete": CopilotItems.result,
}
