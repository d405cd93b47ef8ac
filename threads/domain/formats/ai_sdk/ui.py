"""UIMessages: what a page of the AI SDK shows and a server stores.

A message has `parts`, since version 5 with a type for each tool (`tool-look`). In version 4 it has
a text as `content` with `toolInvocations`, possibly beside parts. A tool's part holds the call and
its result. One message may be several steps of a model (`step-start`), each of which called tools
and then continued with their results. So it becomes as many messages as were sent to the model.

Source: vercel/ai, packages/ai/src/ui/ui-messages.ts and convert-to-model-messages.ts.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from threads.domain.formats.io import base64_text, fields
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.traces.shape_blocks import (
    read_answer,
    untagged,
    whole_type,
)
from threads.domain.message import Message, Role
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

Block = dict[str, Any]
ROLES = {"system": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT}
UNANSWERED = ("call", "partial-call", "input-streaming", "input-available")
"""The states of a tool's part before its result."""


@dataclass(slots=True)
class _Step:
    """What a model said in one step, and its tools' results."""

    said: list[Part] = field(default_factory=list)
    answers: list[ToolResult] = field(default_factory=list)

    def messages(self, role: Role) -> Iterator[Message]:
        """One message for what was said and one for the results, unless empty."""
        if self.said:
            yield Message(role=role, parts=tuple(self.said))
        if self.answers:
            yield Message(role=Role.TOOL, parts=tuple(self.answers))


def is_ui(message: Block) -> bool:
    """Whether a message is a UIMessage, judged by its calls, or its parts and their types."""
    if "tool_results" in message:  # our own public format
        return False
    if isinstance(message.get("toolInvocations"), list):
        return True
    parts = fields.items(message, "parts")
    kinds = [fields.text(part, "type") for part in parts]
    return bool(parts) and all(map(_is_known, kinds, parts))


def read(message: Block, role: Role, row: Element) -> Iterator[Message]:
    """The messages made from one UIMessage. All have its record; the first has its id."""
    made = [one for step in _steps(message) for one in step.messages(role)]
    if not made:
        made = [Message(role=role, parts=())]
    for number, one in enumerate(made):
        yield replace(
            one,
            source_id=None if number else fields.word(message, "id") or None,
            created_at=fields.moment(message.get("createdAt")),
            records=(row.record,),
        )


def _is_known(kind: str, part: Block) -> bool:
    if kind in ("text", "reasoning"):
        return isinstance(part.get("text", part.get("reasoning")), str)
    return kind in _KNOWN or kind.startswith(("tool-", "data-", "source-"))


def _steps(message: Block) -> Iterator[_Step]:
    """The steps of a message; its attachments are in the last."""
    parts = fields.items(message, "parts") or _parts_before(message)
    step = _Step()
    for part in parts:
        if not isinstance(part, dict):
            step.said.append(Opaque("part", part))
            continue
        kind = fields.text(part, "type")
        if kind == "step-start" or (step.answers and not _tool(part)):
            yield step
            step = _Step()
        if tool := _tool(part):
            call, answer = _invocation(tool, kind)
            step.said.append(call)
            step.answers += answer
        elif kind != "step-start":
            step.said += _said(part, kind)
    for attached in fields.items(message, "experimental_attachments"):
        step.said += _file(fields.mapping(attached))
    yield step


def _parts_before(message: Block) -> Iterable[Any]:
    """The parts for a message of version 4 without `parts`: its text comes after its calls."""
    if words := fields.text(message, "reasoning"):
        yield {"type": "reasoning", "text": words}
    for call in fields.items(message, "toolInvocations"):
        yield {"type": "tool-invocation", "toolInvocation": call}
    content = message.get("content")
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    elif isinstance(content, list):
        yield from content


def _tool(part: Block) -> Block | None:
    """The object that describes a call: the part itself, or its `toolInvocation` in version 4."""
    kind = fields.text(part, "type")
    if kind == "tool-invocation":
        return fields.mapping(part, "toolInvocation")
    return part if kind == "dynamic-tool" or kind.startswith("tool-") else None


def _invocation(tool: Block, kind: str) -> tuple[ToolCall, list[ToolResult]]:
    """A call, and its result if there is one."""
    id_, state = fields.text(tool, "toolCallId"), fields.text(tool, "state")
    name = fields.text(tool, "toolName") or kind.removeprefix("tool-")
    given: JSON = next(
        (tool[n] for n in ("input", "args", "rawInput") if n in tool), {}
    )
    call = ToolCall(id_, name, given)
    approval = fields.mapping(tool, "approval")
    if state == "output-denied" or approval.get("approved") is False:
        return call, [ToolResult(id_, read_denial(approval), name, is_error=True)]
    if state in UNANSWERED or not ({"output", "result", "errorText"} & tool.keys()):
        return call, []
    is_error = state == "output-error"
    answer = (
        tool.get("errorText") if is_error else tool.get("output", tool.get("result"))
    )
    return call, [ToolResult(id_, read_answer(answer), name, is_error)]


def read_denial(told: Block) -> tuple[Text, ...]:
    """What the model is told of a call that the user did not allow."""
    return (Text(fields.text(told, "reason") or "Tool call execution denied."),)


def _said(part: Block, kind: str) -> Iterator[Part]:
    match kind:
        case "text" if isinstance(part.get("text"), str):
            yield from (Text(part["text"]),) if part["text"] else ()
        case "reasoning":
            yield from _reasoning(part)
        case "file" | "image":
            yield from _file(part)
        case _:
            yield Opaque(kind or "part", part)


def _reasoning(part: Block) -> Iterator[Part]:
    """Reasoning, with its signature if the provider's metadata has one."""
    details = fields.items(part, "details")
    for detail in map(fields.mapping, details):
        if data := fields.text(detail, "data"):
            yield Thinking("", data=data)
        else:
            signature = fields.text(detail, "signature") or None
            yield Thinking(fields.text(detail, "text"), signature)
    words = fields.text(part, "text", "reasoning")
    notes = fields.mapping(part, "providerMetadata") or fields.mapping(
        part, "providerOptions"
    )
    said = fields.mapping(notes, "anthropic")
    signature = fields.text(said, "signature") or None
    if data := fields.text(said, "redactedData"):
        yield Thinking("", data=data)
    elif words and not details:
        yield Thinking(words, signature)


def _file(part: Block) -> Iterator[Part]:
    """An image or a file, inline or by its address; kept whole if it has neither."""
    given, part = part, untagged(part)
    media = whole_type(fields.text(part, "mediaType", "mimeType", "contentType"))
    address = fields.text(part, "url", "image", "data")
    name = fields.text(part, "filename", "name") or None
    data = None
    if found := base64_text.split_data_uri(address):
        media, data = media or found[0], found[1]
    elif "://" not in address:
        data = base64_text.decode(address) if address else None
        if data is None:
            yield Opaque(fields.text(part, "type") or "file", given)
            return
    url = None if data is not None else address
    if media.startswith("image/") or part.get("type") == "image":
        yield Image(media or "image/*", data=data, url=url)
    else:
        yield File(media or "application/octet-stream", name, data=data, url=url)


read_file, read_reasoning = _file, _reasoning
_KNOWN = frozenset(
    {"file", "reasoning-file", "step-start", "dynamic-tool", "source", "custom"}
)
