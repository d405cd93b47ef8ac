"""One step of an ATIF trajectory, as messages.

ContextStudio's exports put what ATIF has no member for into `extra.contextstudio`: thinking in
several pieces or with its provider's signature, arguments that are not an object, which results
came in one message, and that a result was an error.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from contextstudio.accounts.domain.errors import Invalid, Place
from threads.domain.body import decode_part
from threads.domain.formats.io import fields
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

OWN = "contextstudio"
"""ContextStudio's own member of `extra`."""
ROLES = {"system": Role.SYSTEM, "user": Role.USER, "agent": Role.ASSISTANT}
OWN_ROLES = {role.value: role for role in Role}
_INSIDE = (Text, Image, File, Opaque)


def own_extra(holder: JSON) -> dict[str, Any]:
    """What ContextStudio's export says about a step, a call or a result."""
    return fields.mapping(fields.mapping(holder, "extra"), OWN)


@dataclass(frozen=True)
class AtifStep:
    """A step, whose messages are made on request.

    Raises Invalid at the place of a value of the wrong type.
    """

    value: Mapping[str, Any]
    at: Place

    def __post_init__(self) -> None:
        fields.require(self.value, dict, "a step", self.at)
        if self.source not in ROLES:
            words = f"A step's source is one of {', '.join(ROLES)}."
            raise Invalid(words, at=(*self.at, "source"))

    @property
    def source(self) -> str:
        """Who took the step."""
        return fields.text(self.value, "source")

    @property
    def is_copied(self) -> bool:
        """Whether it is only context, copied from the trajectory before."""
        return self.value.get("is_copied_context") is True

    @property
    def created_at(self) -> datetime | None:
        """When it began, if known."""
        return fields.moment(self.value.get("timestamp"))

    def messages(self) -> Iterator[Message]:
        """The message of the step, if it says anything, then the results."""
        said = own_extra(self.value)
        words = read_content(self.value.get("message"), (*self.at, "message"))
        parts = (*self._thinking(), *words, *self._calls())
        results = list(self._results())
        is_silent = self.source == "agent" and "observation" in self.value
        if parts or not is_silent:
            yield Message(
                role=OWN_ROLES.get(fields.text(said, "role"), ROLES[self.source]),
                parts=parts,
                name=fields.text(said, "name") or None,
                model=fields.word(self.value, "model_name") or None,
                source_id=fields.word(said, "source_id") or None,
                created_at=self.created_at,
                usage=read_usage(self.value.get("metrics")),
                partial=said.get("partial") is True,
            )
        for role, found in results:
            yield Message(role=role, parts=tuple(found))

    def _thinking(self) -> Iterator[Part]:
        kept = fields.items(own_extra(self.value), "thinking")
        try:
            yield from (decode_part({**part, "type": "thinking"}) for part in kept)
        except (KeyError, TypeError) as error:
            at = (*self.at, "extra")
            raise Invalid("Expected thinking here.", at=at) from error
        words = fields.text(self.value, "reasoning_content")
        if words and not kept:
            yield Thinking(words)

    def _calls(self) -> Iterator[ToolCall]:
        for index, call in enumerate(fields.items(self.value, "tool_calls")):
            name = fields.text(call, "function_name")
            if not name:
                at = (*self.at, "tool_calls", index)
                raise Invalid("Expected the name of a tool here.", at=at)
            arguments = fields.mapping(call).get("arguments", {})
            arguments = own_extra(call).get("arguments", arguments)
            yield ToolCall(self._call_id(index), name, arguments)

    def _call_id(self, index: int) -> str:
        """The id of a call; if it has none, one made from its place in the trajectory."""
        call = fields.items(self.value, "tool_calls")[index]
        without = f"call_{self.value.get('step_id')}_{index}"
        return fields.text(call, "tool_call_id") or without

    def _results(self) -> Iterator[tuple[Role, list[Part]]]:
        """The results, grouped by message: tool messages for calls, else user messages.

        A result without a call comes from the environment, in the form in which the agent read it.
        """
        results = fields.items(fields.mapping(self.value, "observation"), "results")
        calls = fields.items(self.value, "tool_calls")
        are_paired = bool(calls) and len(calls) == len(results)
        group: list[Part] = []
        number: Any = None
        for index, result in enumerate(results):
            said = own_extra(result)
            at = (*self.at, "observation", "results", index, "content")
            content = tuple(_read_result(result, at))
            call_id: str | None = fields.text(result, "source_call_id")
            if not call_id and said.get("is_result") is not True:
                call_id = self._call_id(index) if are_paired else None
            if group and (call_id is None or said.get("message") != number):
                yield Role.TOOL, group
                group = []
            number = said.get("message")
            if call_id is not None:
                extra = fields.mapping(result, "extra")
                is_error = any(one.get("is_error") is True for one in (said, extra))
                inside = tuple(part for part in content if isinstance(part, _INSIDE))
                name = fields.text(said, "name") or None
                group.append(ToolResult(call_id, inside, name, is_error))
            elif content:
                yield ROLES["system" if self.source == "system" else "user"], [*content]
        if group:
            yield Role.TOOL, group


def _read_result(result: JSON, at: Place) -> Iterator[Part]:
    """The parts of a result; one that isn't an object is kept whole."""
    if isinstance(result, dict):
        yield from read_content(result.get("content"), at)
    elif result is not None:
        yield Opaque("result", result)


def read_content(content: JSON, at: Place) -> Iterator[Part]:
    """The parts of a message or a result: text, or a list with pictures and recordings.

    Raises Invalid at the place of a value of the wrong type.
    """
    if content is None or isinstance(content, str):
        content = [{"type": "text", "text": content or ""}]
    for index, part in enumerate(fields.require(content, list, "text or a list", at)):
        place = (*at, index)
        fields.require(part, dict, "a part", place)
        text = fields.text(part, "text")
        source = fields.mapping(part, "source")
        path = fields.text(source, "path")
        media_type = fields.text(source, "media_type")
        if text:
            yield Text(text)
        elif path and part.get("type") == "image":
            yield Image(media_type or "image/*", url=path)
        elif path:
            yield File(media_type or "application/octet-stream", url=path)
        elif part.get("type") != "text":
            yield Opaque(fields.text(part, "type") or "part", part)


def read_usage(metrics: JSON) -> Usage | None:
    """The `metrics` of a step; None if it counts no tokens."""
    usage = Usage(
        input_tokens=fields.count(metrics, "prompt_tokens"),
        output_tokens=fields.count(metrics, "completion_tokens"),
        cached_tokens=fields.count(metrics, "cached_tokens"),
    )
    return usage if usage != Usage() else None
