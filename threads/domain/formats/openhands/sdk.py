"""Events of OpenHands' SDK: each has a `kind`, and events for the model hold its message."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from threads.domain.formats import blocks
from threads.domain.formats.arguments import read_call
from threads.domain.formats.io import fields
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.kit import spoken
from threads.domain.formats.kit.items import Item, summary_compaction
from threads.domain.message import Message, Role
from threads.domain.part import (
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from threads.domain.transcript import Compaction, Event


@dataclass(slots=True)
class SdkEvents:
    """Makes items from events; the calls of one answer, which are consecutive, are joined."""

    _held: Message | None = None
    _between: list[Event] = field(default_factory=list)
    """Events that came after the held message."""
    _ids: list[str] = field(default_factory=list)
    """The ids of the events in the held message."""
    _count: int = 0
    _ordinals: dict[str, int] = field(default_factory=dict)
    """Map of an event's id to the ordinal of its message."""

    def take(self, row: Element) -> Iterator[Item]:
        """The items made from an event. Raises Invalid if it isn't one."""
        event = fields.require(row.value, dict, "an event", ())
        moment = fields.moment(event.get("timestamp"))
        kind = fields.text(event, "kind") or "event"
        reader = _READERS.get(kind)
        made = reader(event) if reader else None
        if made is not None:
            made = replace(made, records=(row.record,), created_at=moment)
            yield from self._join(made, fields.text(event, "id"))
            return
        if kind == "Condensation":
            yield from self.rest()
            if found := self._condensation(event, row):
                yield found
                return
        other = Event(kind, row.record, moment)
        if self._held is not None:
            self._between.append(other)
        else:
            yield other

    def rest(self) -> Iterator[Item]:
        """The message that is still held, and the events after it."""
        if self._held is not None:
            self._ordinals.update(dict.fromkeys(self._ids, self._count))
            self._count += 1
            yield self._held
        yield from self._between
        self._held, self._between, self._ids = None, [], []

    def _join(self, made: Message, id_: str) -> Iterator[Item]:
        """Hold a message until one comes that belongs to another answer."""
        held = self._held
        if held is not None and made.source_id and made.source_id == held.source_id:
            records = held.records + made.records
            self._held = replace(held, parts=held.parts + made.parts, records=records)
            self._ids.append(id_)
            return
        yield from self.rest()
        self._held, self._ids = made, [id_]

    def _condensation(self, event: dict[str, Any], row: Element) -> Compaction | None:
        """The forgotten messages, replaced by the condenser's summary; None without a summary."""
        forgotten = set(map(str, fields.items(event, "forgotten_event_ids")))
        known = {self._ordinals[id_] for id_ in forgotten & self._ordinals.keys()}
        return summary_compaction(known, fields.text(event, "summary"), row)


def _system(event: dict[str, Any]) -> Message:
    prompts = (event.get("system_prompt"), event.get("dynamic_context"))
    found = [fields.text(prompt, "text") for prompt in prompts]
    return Message(role=Role.SYSTEM, parts=tuple(Text(text) for text in found if text))


def _message(event: dict[str, Any]) -> Message:
    """A message, with the text that the agent's skills added to it."""
    given = fields.require(
        event.get("llm_message"), dict, "a message", ("llm_message",)
    )
    role = spoken.ROLES.get(fields.text(given, "role"), Role.USER)
    said = _content([*_list(given, "content"), *_list(event, "extended_content")])
    calls = (_call(call) for call in fields.items(given, "tool_calls"))
    return Message(
        role=role,
        parts=(*_thinking(given), *said, *calls),
        source_id=fields.word(event, "llm_response_id") or None,
    )


def _action(event: dict[str, Any]) -> Message:
    call = event.get("tool_call")
    if not isinstance(call, dict):
        call = {"id": event.get("tool_call_id"), "name": event.get("tool_name")}
        action = fields.mapping(event, "action")
        arguments = {name: action[name] for name in action if name != "kind"}
        call = {**call, "arguments": arguments}
    return Message(
        role=Role.ASSISTANT,
        parts=(*_thinking(event), *_content(_list(event, "thought")), _call(call)),
        source_id=fields.word(event, "llm_response_id") or None,
    )


def _observation(event: dict[str, Any]) -> Message:
    seen = fields.mapping(event, "observation")
    given = [*_list(seen, "content"), *_list(event, "extended_content")]
    content = tuple(
        part for part in _content(given) if isinstance(part, Text | Image | Opaque)
    )
    return _result(event, content, seen.get("is_error") is True)


def _summary(event: dict[str, Any]) -> Message | None:
    words = fields.text(event, "summary")
    return Message(role=Role.USER, parts=(Text(words),)) if words else None


def _result(
    event: dict[str, Any], content: tuple[Text | Image | Opaque, ...], is_error: bool
) -> Message:
    call_id, name = fields.text(event, "tool_call_id"), fields.text(event, "tool_name")
    part = ToolResult(call_id, content, name or None, is_error)
    return Message(role=Role.TOOL, parts=(part,))


def _failed(event: dict[str, Any], words: str) -> Message:
    return _result(event, (Text(words),), True)


def _list(value: Any, name: str) -> list[Any]:
    """The member if it is a list; a text becomes a list of one block."""
    words = fields.text(value, name)
    return [{"type": "text", "text": words}] if words else fields.items(value, name)


def _thinking(value: dict[str, Any]) -> Iterator[Part]:
    """Reasoning in any of the forms that providers use."""
    signed = fields.items(value, "thinking_blocks")
    for index, block in enumerate(signed):
        yield from blocks.read_block(block, ("thinking_blocks", index))
    words = fields.text(value, "reasoning_content")
    if words and not signed:
        yield Thinking(words)
    item = fields.mapping(value, "responses_reasoning_item")
    summary = [one for one in fields.items(item, "summary") if isinstance(one, str)]
    if summary and not words:
        yield Thinking("\n\n".join(summary))
    if encrypted := fields.text(item, "encrypted_content"):
        yield Thinking("", data=encrypted, signer="openai")


def _content(given: list[Any]) -> Iterator[Part]:
    """The parts of text blocks, and of images by address."""
    for index, block in enumerate(given):
        urls = fields.items(block, "image_urls")
        for url in urls:
            picture = {"type": "image_url", "image_url": {"url": url}}
            yield from blocks.read_block(picture, ("content", index))
        if not urls:
            yield from blocks.read_block(block, ("content", index))


def _call(call: Any) -> ToolCall:
    """A call in the SDK's form or in OpenAI's."""
    given = fields.mapping(call, "function") or fields.mapping(call)
    at = ("tool_call", "name")
    name = fields.require(given.get("name"), str, "the name of a tool", at)
    return read_call(fields.text(call, "id"), name, given.get("arguments", {}))


_READERS: dict[str, Callable[[dict[str, Any]], Message | None]] = {
    "SystemPromptEvent": _system,
    "MessageEvent": _message,
    "ActionEvent": _action,
    "ObservationEvent": _observation,
    "AgentErrorEvent": lambda event: _failed(event, fields.text(event, "error")),
    "UserRejectObservation": lambda event: _failed(
        event, f"Action rejected: {fields.text(event, 'rejection_reason')}"
    ),
    "CondensationSummaryEvent": _summary,
}
