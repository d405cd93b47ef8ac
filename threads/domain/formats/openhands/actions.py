"""OpenHands' events before the SDK: actions, and observations of what they did.

An observation names its action in `cause`, or follows it (2024). With tool calls, both repeat the
model's answer that they come from (`tool_call_metadata.model_response`): the first action of an
answer becomes the message, with all its calls; the other actions stay events.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from threads.domain.formats import blocks
from threads.domain.formats.io import base64_text, fields
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.kit.items import Item, summary_compaction
from threads.domain.formats.openai import messages as openai
from threads.domain.message import Message, Role
from threads.domain.part import Image, Opaque, Text, ToolCall, ToolResult
from threads.domain.transcript import Compaction, Event

_INNER = frozenset(
    {
        "change_agent_state",
        "null",
        "recall",
        "condensation_request",
        "agent_state_changed",
    }
)
"""Actions and observations that only the program sees."""
_OWN_ARGUMENTS = frozenset(
    {"thought", "is_confirmed", "confirmation_state", "action_risk"}
)
"""Members of an action that aren't arguments of its tool."""


@dataclass(slots=True)
class ActionEvents:
    """Makes items from events, one after the other."""

    _answers: set[str] = field(default_factory=set)
    """The ids of the model's answers that were already yielded."""
    _last_call: str = ""
    _calls: int = 0
    _count: int = 0
    _ordinals: dict[int, int] = field(default_factory=dict)
    """Map of an event's number to the ordinal of its message."""

    def take(self, row: Element) -> Iterator[Item]:
        """The item of an event. Raises Invalid if it isn't one."""
        event = fields.require(row.value, dict, "an event", ())
        moment = fields.moment(event.get("timestamp"))
        action, seen = fields.text(event, "action"), fields.text(event, "observation")
        made: Message | Compaction | None = None
        if action == "condensation":
            made = self._condensation(event, row)
        elif action and action not in _INNER:
            made = self._action(event, action)
        elif seen and seen not in _INNER:
            made = self._observation(event, seen)
        if isinstance(made, Message):
            made = replace(made, records=(row.record,), created_at=moment)
            if isinstance(number := event.get("id"), int):
                self._ordinals[number] = self._count
            self._count += 1
        kind = (
            f"action/{action}" if action else f"observation/{seen}" if seen else "event"
        )
        yield made or Event(kind, row.record, moment)

    def rest(self) -> Iterator[Item]:
        """Empty: nothing is held back."""
        return iter(())

    def _action(self, event: dict[str, Any], action: str) -> Message | None:
        arguments = fields.mapping(event, "args")
        if "args" not in event:
            arguments = {name: event[name] for name in event if name != "action"}
        if answer := fields.mapping(_metadata(event), "model_response"):
            return self._answer(event, answer)
        if action == "system":
            return _said(Role.SYSTEM, arguments)
        if action == "message":
            is_agent = fields.text(event, "source") == "agent"
            return _said(Role.ASSISTANT if is_agent else Role.USER, arguments)
        return self._called(event, action, arguments)

    def _answer(self, event: dict[str, Any], answer: dict[str, Any]) -> Message | None:
        """The model's answer, only once; if it can't be read, the action's own call."""
        id_ = fields.text(answer, "id") or str(event.get("id"))
        if id_ in self._answers:
            return None
        self._answers.add(id_)
        made = openai.read_reply(answer)
        if made is not None and made.parts:
            return made
        return self._called(
            event, fields.text(event, "action"), fields.mapping(event, "args")
        )

    def _called(
        self, event: dict[str, Any], action: str, arguments: dict[str, Any]
    ) -> Message:
        """An action without the model's own answer: its thought and a call."""
        thought = fields.text(arguments, "thought")
        self._calls += 1
        told = _metadata(event)
        call_id = fields.text(told, "tool_call_id") or _call_id(event.get("id"))
        self._last_call = call_id or f"call-{self._calls}"
        given = {key: arguments[key] for key in arguments if key not in _OWN_ARGUMENTS}
        name = fields.text(told, "function_name") or action
        call = ToolCall(self._last_call, name, given)
        words = blocks.read_content(thought, ())
        return Message(role=Role.ASSISTANT, parts=(*words, call))

    def _observation(self, event: dict[str, Any], seen: str) -> Message | None:
        """The result of a call; None if no model made the call."""
        told = _metadata(event)
        call_id = fields.text(told, "tool_call_id") or _call_id(event.get("cause"))
        call_id = call_id or ("" if "cause" in event else self._last_call)
        if not call_id:
            return None
        words = fields.text(event, "content", "message")
        said = (Text(words),) if words else ()
        images = _images(fields.mapping(event, "extras").get("image_urls"))
        name = fields.text(told, "function_name") or seen
        part = ToolResult(call_id, (*said, *images), name, seen == "error")
        return Message(role=Role.TOOL, parts=(part,))

    def _condensation(self, event: dict[str, Any], row: Element) -> Compaction | None:
        """The forgotten messages, replaced by the condenser's summary; None without a summary."""
        told = fields.mapping(event, "args")
        named = fields.items(told, "forgotten_event_ids")
        forgotten = {id_ for id_ in named if isinstance(id_, int)}
        start, end = (told.get(f"forgotten_events_{at}_id") for at in ("start", "end"))
        if isinstance(start, int) and isinstance(end, int):
            forgotten |= {id_ for id_ in self._ordinals if start <= id_ <= end}
        known = {self._ordinals[id_] for id_ in forgotten & self._ordinals.keys()}
        return summary_compaction(known, fields.text(told, "summary"), row)


def _metadata(event: dict[str, Any]) -> dict[str, Any]:
    return fields.mapping(event, "tool_call_metadata")


def _call_id(event_id: Any) -> str:
    """An id, made from the event's number, for a call that has none."""
    return f"event-{event_id}" if isinstance(event_id, int) and event_id >= 0 else ""


def _said(role: Role, arguments: dict[str, Any]) -> Message | None:
    """A message by the user, the agent or the system; None if it is empty."""
    words = blocks.read_content(arguments.get("content"), ("args", "content"))
    images = _images(arguments.get("image_urls") or arguments.get("images_urls"))
    parts = (*words, *images)
    return Message(role=role, parts=parts) if parts else None


def _images(urls: Any) -> Iterator[Image | Opaque]:
    """The images at these addresses; one that can't be decoded is kept whole."""
    for url in urls if isinstance(urls, list) else []:
        if isinstance(url, str) and url.startswith("data:"):
            if found := base64_text.split_data_uri(url):
                yield Image(found[0], data=found[1])
            else:
                yield Opaque("image_url", {"type": "image_url", "url": url})
        elif isinstance(url, str) and url:
            yield Image("image/*", url=url)
