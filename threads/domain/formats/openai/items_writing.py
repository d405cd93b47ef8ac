"""Writes messages as items of OpenAI's Responses API: for its requests and for Codex's rollouts.

Arguments that are text are the input of a custom tool, all others a function's. Reasoning is sent
only with its encrypted data, because the provider refuses it without, and only before the first
changed message. A call must come before its result: a result without its call is sent as a user's
text in a frame. An item can't express that a result was an error.

Sources: platform.openai.com/docs/api-reference/responses, Codex's own protocol.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from threads.domain.formats.arguments import text_of
from threads.domain.formats.format import Heading
from threads.domain.formats.io import base64_text, json_text
from threads.domain.formats.kit.calls import OpenCalls
from threads.domain.message import Message, Role
from threads.domain.part import (
    SIGNING,
    File,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    signer_of,
)

from .items import COMPACTIONS, HOSTED, SEARCH

Item = dict[str, Any]
FRAME = '<tool_result call_id="{}">\n{}\n</tool_result>'
"""Frames a result whose call is missing, as a user's text."""


class Dialect(NamedTuple):
    """What a reader of items accepts: blocks that aren't text or images, and files."""

    blocks: frozenset[str]
    has_files: bool


API = Dialect(
    frozenset({"refusal", "input_file", "input_image", "input_audio"})
    | {"encrypted_content"},
    has_files=True,
)
CODEX = Dialect(frozenset(), has_files=False)
"""Codex drops a whole line because of one unknown block."""


Turn = list[tuple[int, Message]]
"""Messages with their ordinals: one message and the results that follow it."""


def in_turns(messages: Iterable[Message]) -> Iterator[Turn]:
    """The messages with their ordinals, each grouped with the results that follow it."""
    held: Turn = []
    for ordinal, message in enumerate(messages):
        if held and not _results(message):
            yield held
            held = []
        held.append((ordinal, message))
    if held:
        yield held


class ItemWriter:
    """Writes the messages of one conversation, in order, and tracks which calls are open."""

    def __init__(self, heading: Heading, dialect: Dialect) -> None:
        self.heading = heading
        self.dialect = dialect
        self._open: dict[str, str] = {}
        """Map of call id to the type of the call's item."""
        self._nameless = OpenCalls("call_made_")

    def expect(self, ids: Iterable[str]) -> None:
        """Treat these function calls, which are elsewhere, as open."""
        self._open.update(dict.fromkeys(ids, "function_call"))

    def write(self, turn: Turn) -> Iterator[tuple[Message, list[Item]]]:
        """Each message of a turn with its items."""
        answers = [result for _, message in turn for result in _results(message)]
        for ordinal, message in turn:
            yield message, self._items(ordinal, message, answers)

    def _items(
        self, ordinal: int, message: Message, answers: list[ToolResult]
    ) -> list[Item]:
        if message.role is Role.ASSISTANT:
            return list(self._answer(ordinal, message.parts, answers))
        items = [self._result(result) for result in _results(message)]
        rest = [part for part in message.parts if not isinstance(part, ToolResult)]
        if rest or not items:
            role = Role.USER if message.role is Role.TOOL else message.role
            items.append(_message(role, self._blocks(rest, "input_text")))
        return items

    def _is_signed(self, ordinal: int, signer: str) -> bool:
        """Whether a message's encrypted data is OpenAI's, and still valid."""
        first = self.heading.first_changed
        return signer not in SIGNING and (first is None or ordinal < first)

    # The assistant's

    def _answer(
        self, ordinal: int, parts: Iterable[Part], answers: list[ToolResult]
    ) -> Iterator[Item]:
        said: list[Item] = []
        for part in parts:
            item = self._own(ordinal, part, answers)
            if item is None:
                said.extend(self._blocks([part], "output_text"))
                continue
            if said:
                yield _message(Role.ASSISTANT, said)
                said = []
            yield from item
        if said:
            yield _message(Role.ASSISTANT, said)

    def _own(
        self, ordinal: int, part: Part, answers: list[ToolResult]
    ) -> list[Item] | None:
        """The item of a part, or nothing if it is left out; None if it belongs in a message."""
        match part:
            case Thinking(text, _, data):
                signer = signer_of(part, self.heading.strategy)
                is_kept = data is not None and self._is_signed(ordinal, signer)
                return [_reasoning(text, data or "")] if is_kept else []
            case ToolCall():
                return [self._call(part, answers)]
            case ToolResult():
                return [self._result(part)]
            case Image() if (picture := self.heading.data(part)) is not None:
                return [_picture(picture)]
            case Opaque(type_, {"type": kind} as data) if kind == type_ in HOSTED:
                signer = self.heading.strategy
                is_kept = type_ not in COMPACTIONS or self._is_signed(ordinal, signer)
                return [data] if is_kept else []
        return None

    def _call(self, call: ToolCall, answers: list[ToolResult]) -> Item:
        id_ = call.id or self._nameless.begin("", call.name)
        found = next((answer for answer in answers if answer.call_id == id_), None)
        item: Item = {"call_id": id_, **_name(call)}
        if call.name == SEARCH and found and _found_tools(found):
            item = {"type": f"{SEARCH}_call", "call_id": id_, "execution": "client"}
            item["arguments"] = call.arguments
        elif isinstance(call.arguments, str) and call.text is None:
            item = {"type": "custom_tool_call", **item, "input": call.arguments}
        else:
            item = {"type": "function_call", **item, "arguments": text_of(call)}
        self._open[id_] = item["type"]
        return item

    # Results

    def _result(self, result: ToolResult) -> Item:
        id_ = result.call_id or self._nameless.answer("", result.name)
        type_ = self._open.pop(id_, None)
        if type_ is None:
            words = "\n\n".join(p.text for p in result.content if isinstance(p, Text))
            media = [part for part in result.content if not isinstance(part, Text)]
            frame = Text(FRAME.format(id_, words))
            return _message(Role.USER, self._blocks([frame, *media], "input_text"))
        if type_ == f"{SEARCH}_call":
            return {"type": f"{SEARCH}_output", "call_id": id_} | _found_tools(result)
        type_ = type_.removesuffix("_call") + "_call_output"
        blocks = [block for part in result.content for block in self._answered(part)]
        is_text = len(blocks) == 1 and blocks[0]["type"] == "input_text"
        output = blocks[0]["text"] if is_text else blocks or ""
        return {"type": type_, "call_id": id_, "output": output}

    def _answered(self, part: Part) -> Iterator[Item]:
        """The blocks for a part of an output; a part without a matching block is written as JSON.

        An image that can't be read is still sent as an image, also to Codex, if it has an address.
        """
        match part:
            case Opaque(
                "input_image", {"type": "input_image", "image_url": str()} as data
            ):
                yield data
            case Opaque(type_, data) if type_ not in self.dialect.blocks:
                yield {"type": "input_text", "text": json_text.dump(data).decode()}
            case _:
                yield from self._block(part, "input_text")

    # Content

    def _blocks(self, parts: Iterable[Part], text_type: str) -> list[Item]:
        return [block for part in parts for block in self._block(part, text_type)]

    def _block(self, part: Part, text_type: str) -> Iterator[Item]:
        match part:
            case Text(text) if text:
                yield {"type": text_type, "text": text}
            case Image():
                yield {"type": "input_image", "image_url": self.heading.address(part)}
            case File():
                yield self._file(part, text_type)
            case Opaque(type_, {"type": kind} as data) if (
                kind == type_ in self.dialect.blocks
            ):
                yield data
            case Opaque("refusal", {"refusal": str(words)}) if words:
                yield {"type": text_type, "text": words}

    def _file(self, part: File, text_type: str) -> Item:
        """A file as a block; for a dialect without file blocks, its text, or a note about it."""
        name = {"filename": part.name} if part.name else {}
        data = self.heading.data(part)
        if self.dialect.has_files:
            member = "file_data" if data is not None else "file_url"
            return {"type": "input_file"} | name | {member: self.heading.address(part)}
        words = f"{part.media_type}, not in this file"
        if data is not None and part.media_type.startswith("text/"):
            words = data.decode("utf-8", "replace")
        title = part.name or part.url or "file"
        return {"type": text_type, "text": f"<file {title}>\n{words}\n</file>"}


def instructions_of(message: Message) -> str | None:
    """The text of a system prompt that can be sent as `instructions`; else None."""
    match message.parts:
        case (Text(words),) if message.role is Role.SYSTEM and words:
            return words
    return None


def _name(call: ToolCall) -> Item:
    """The name of a tool, apart from its namespace."""
    space = call.namespace or ""
    if not space or not call.name.startswith(space) or call.name == space:
        return {"name": call.name}
    return {"name": call.name.removeprefix(space), "namespace": space}


def _results(message: Message) -> list[ToolResult]:
    return [part for part in message.parts if isinstance(part, ToolResult)]


def _message(role: Role, content: list[Item]) -> Item:
    return {"type": "message", "role": str(role), "content": content}


def _reasoning(summary: str, data: str) -> Item:
    pieces = [{"type": "summary_text", "text": summary}] if summary else []
    return {"type": "reasoning", "summary": pieces, "encrypted_content": data}


def _picture(data: bytes) -> Item:
    words = base64_text.encode(data)
    return {"type": "image_generation_call", "status": "completed", "result": words}


def _found_tools(result: ToolResult) -> Item:
    """What a tool search found, as it was read; empty for any other result."""
    match result.content:
        case (Opaque(type_, {"tools": list()} as found),):
            return found if type_ == f"{SEARCH}_output" else {}
    return {}
