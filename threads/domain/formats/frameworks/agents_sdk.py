"""The state of a run of OpenAI's Agents SDK (`RunState`), in Python's or JavaScript's spelling.

A conversation is the input of the run (`original_input`), then what the run generated
(`session_items`, else `generated_items`): items of the Responses API, each in an object that names
its agent. Other members (raw responses, traces, approvals) repeat them or belong to the program,
and become events.

Sources: github.com/openai/openai-agents-python, `src/agents/run_state.py`;
github.com/openai/openai-agents-js, `packages/agents-core/src/runState.ts`, `types/protocol.ts`.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import BinaryIO

from threads.domain.formats.format import Format
from threads.domain.formats.io import base64_text, fields, json_file
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.io.source import BROKEN, ByteSpan
from threads.domain.formats.kit.items import Item, Items, attempt, member_events
from threads.domain.formats.kit.transcripts import require_transcripts, transcript_of
from threads.domain.formats.openai.items import (
    AssistantTurn,
    ReadItem,
    message_of,
    read_item,
)
from threads.domain.formats.sample import Sample
from threads.domain.message import Role
from threads.domain.part import JSON, Opaque
from threads.domain.transcript import Event, Transcript, Warning

NAME = "openai_agents"
LABEL = "the state of a run of OpenAI's Agents SDK"
_GIVEN = ("original_input", "originalInput")
_MADE = ("session_items", "generated_items", "generatedItems")
_SNAKE = {"callId": "call_id", "rawContent": "content", "providerData": "provider_data"}
_TYPES = {
    "function_call_result": "function_call_output",
    "computer_call_result": "computer_call_output",
}
_BYTES = "application/octet-stream"
_HOSTED = "hosted_tool_call"
"""A step that the provider ran, in JavaScript; its output is in the item."""


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The conversation of a state. Raises Invalid if it holds no message."""
    warnings: list[Warning] = []
    members = json_file.members(file, 0, warnings)
    items = Items(partial(_items, file, members), given=warnings)
    id_ = json_file.get(file, members, "conversation_id", "conversationId")
    made = transcript_of(
        items, format=NAME, external_id=fields.as_word(id_, 255) or None
    )
    return require_transcripts([made], items.warnings, LABEL)


def _items(
    file: BinaryIO, members: dict[str, ByteSpan], warnings: list[Warning]
) -> Iterator[Item]:
    turn = _Turn()
    said = {name for name in members if name in _GIVEN}
    for name in sorted(said):
        yield from _given(file, members[name], name, turn, warnings)
    for name in _MADE:
        if name in members and _holds(file, members[name]):
            said.add(name)
            for row in json_file.elements(file, members[name].start, warnings):
                yield from attempt(partial(turn.take, row), row, warnings)
            break
    yield from turn.end()
    yield from member_events(members, said)


def _holds(file: BinaryIO, span: ByteSpan) -> bool:
    return any(True for _ in json_file.children(file, span.start, []))


def _given(
    file: BinaryIO,
    span: ByteSpan,
    name: str,
    turn: "_Turn",
    warnings: list[Warning],
) -> Iterator[Item]:
    """The input of the run: a user's text, or a list of items."""
    if json_file.is_list(file, span):
        for row in json_file.elements(file, span.start, warnings):
            yield from attempt(partial(turn.take, row), row, warnings)
        return
    row = json_file.element(file, span, warnings)
    if isinstance(row.value, str) and row.value:
        said = row._replace(value={"role": "user", "content": row.value})
        yield from turn.take(said)
    elif row.value is BROKEN or row.value:
        yield Event(name, row.record)


class _Turn:
    """Joins consecutive items by the model into one message."""

    def __init__(self) -> None:
        self._answer = AssistantTurn()
        self._agent = ""
        self._aside: list[Event] = []

    def take(self, row: Element) -> list[Item]:
        """The messages that an item completes. Raises Invalid if it is malformed."""
        item, agent = _raw(row.value)
        if fields.text(item, "type") == _HOSTED:
            read: ReadItem | None = Role.ASSISTANT, (Opaque(_HOSTED, item),), None
        else:
            read = read_item(item, ())
        if read is None:
            kind = fields.text(item, "type") or "record"
            self._aside.append(Event(kind, row.record))
            return []
        if read[0] is Role.ASSISTANT:
            done = self.end() if agent != self._agent else []
            self._agent = agent
            self._answer.add(read[1], item, row.record)
            return done
        return [*self.end(), message_of(read, item, (row.record,))]

    def end(self) -> list[Item]:
        """The answer that is held, and the events between its items."""
        found: list[Item] = []
        message = self._answer.message()
        if message is not None:
            found.append(replace(message, name=self._agent or None))
        else:
            found += [Event("reasoning", record) for record in self._answer.records]
        found += self._aside
        self._answer, self._aside = AssistantTurn(), []
        return found


def _raw(value: JSON) -> tuple[JSON, str]:
    """The unwrapped item in the API's spelling, and the name of its agent."""
    held = fields.mapping(value)
    raw = held.get("raw_item", held.get("rawItem", value))
    agent = fields.text(fields.mapping(held, "agent"), "name")
    if not isinstance(raw, dict):
        return raw, agent
    item = {_SNAKE.get(name, name): one for name, one in raw.items()}
    kind = fields.text(item, "type")
    item["type"] = _TYPES.get(kind, kind) or "message"
    if item["type"].endswith("_call_output"):
        item["output"] = _output(item.get("output"))
    if item["type"] == "message" and isinstance(item.get("content"), list):
        item["content"] = [*map(_respelled, item["content"])]
    if item["type"] == "reasoning" and isinstance(item.get("content"), list):
        item.setdefault("summary", item["content"])
    if encrypted := fields.text(
        fields.mapping(item, "provider_data"), "encrypted_content"
    ):
        item.setdefault("encrypted_content", encrypted)
    return item, agent


def _output(output: JSON) -> JSON:
    """A tool's output; JavaScript has a single block where the API has text or a list."""
    if isinstance(output, list):
        return [*map(_respelled, output)]
    if fields.text(output, "type") == "text":
        return fields.text(output, "text")
    block = _respelled(output)
    is_listed = fields.text(block, "type") in ("input_image", "input_file")
    return [block] if is_listed else block


def _respelled(block: JSON) -> JSON:
    """JavaScript's block of an image or a file as the API spells it; any other as it is."""
    held = fields.mapping(block)
    kind = fields.text(held, "type")
    if kind in ("image", "input_image") and (url := _address(held.get("image"))):
        return {"type": "input_image", "image_url": url}
    if kind == "computer_screenshot" and (url := _address(held.get("data"))):
        return {"type": kind, "image_url": url}
    file = held.get("file")
    if kind in ("file", "input_file") and (url := _address(file, _BYTES)):
        name = fields.text(file, "filename") or fields.text(held, "filename")
        member = "file_data" if url.startswith("data:") else "file_url"
        return {"type": "input_file", member: url, "filename": name}
    return block


def _address(value: JSON, media_type: str = "image/png") -> str:
    """The address of media, or a data URI for its bytes; empty if it has neither."""
    told = fields.mapping(value)
    words = value if isinstance(value, str) else fields.text(told, "url", "data")
    if words.startswith(("data:", "http://", "https://")):
        return words
    if not words or base64_text.decode(words) is None:
        return ""
    return f"data:{fields.text(told, 'mediaType') or media_type};base64,{words}"


def _score(sample: Sample) -> float:
    told = sample.object.keys()
    has_items = bool(told & {*_MADE, "model_responses", "modelResponses"})
    return 0.95 if "$schemaVersion" in told and (has_items or told & set(_GIVEN)) else 0


FORMAT = Format(NAME, LABEL, _score, read)
