"""Pydantic AI's messages, as dumped by `ModelMessagesTypeAdapter` and `all_messages_json`.

A request holds parts by several speakers (system prompts, a user's text, tool results), so it
becomes one message for each run of parts by one speaker. Instructions are sent with every request;
they become a message whenever they change.

Source: github.com/pydantic/pydantic-ai, `pydantic_ai_slim/pydantic_ai/messages.py`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from contextstudio.accounts.domain.errors import Place
from threads.domain.formats.arguments import read_call
from threads.domain.formats.io import base64_text, fields, json_text
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.kit.items import Item
from threads.domain.formats.kit.row_format import RowFormat, event
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role, Usage
from threads.domain.part import (
    JSON,
    File,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolResult,
)

Block = dict[str, Any]
_SPEAKERS = {
    "system-prompt": Role.SYSTEM,
    "instruction": Role.SYSTEM,
    "user-prompt": Role.USER,
    "tool-return": Role.TOOL,
    "retry-prompt": Role.TOOL,
}
_STANDARD = str.maketrans("-_", "+/")


@dataclass(slots=True)
class PydanticMessages:
    """Makes messages from requests and responses, one after the other."""

    instructions: str = ""

    def take(self, row: Element) -> Iterator[Item]:
        """The messages of one request or response. Raises Invalid if it is neither."""
        given = fields.require(row.value, dict, "a message", ())
        parts = fields.require(given.get("parts"), list, "a list of parts", ("parts",))
        for place, part in enumerate(parts):
            fields.require(part, dict, "a part", ("parts", place))
        made = [
            *(
                self._request(given, parts)
                if given.get("kind") == "request"
                else [_response(given, parts)]
            )
        ]
        for message in made:
            if message.parts:
                yield replace(message, records=(row.record,))
        if not any(message.parts for message in made):
            yield event(row, "kind")

    def rest(self) -> Iterable[Item]:
        """Empty: a message is never held."""
        return ()

    def _request(self, given: Block, parts: list[Block]) -> Iterator[Message]:
        instructions = fields.text(given, "instructions")
        if instructions and instructions != self.instructions:
            self.instructions = instructions
            yield Message(role=Role.SYSTEM, parts=(Text(instructions),))
        for role, run in groupby(parts, key=_speaker):
            said = list(run)
            yield Message(
                role=role,
                parts=tuple(part for one in said for part in _asked(one)),
                created_at=fields.moment(
                    said[0].get("timestamp") or given.get("timestamp")
                ),
            )


def _speaker(part: Block) -> Role:
    kind = fields.text(part, "part_kind")
    if kind == "retry-prompt" and not fields.text(part, "tool_name"):
        return Role.USER
    return _SPEAKERS.get(kind, Role.USER)


def _asked(part: Block) -> Iterator[Part]:
    """The parts made from a part of a request."""
    kind, content = fields.text(part, "part_kind"), part.get("content")
    if kind == "tool-return":
        yield _result(part, is_error=part.get("outcome") in ("failed", "denied"))
    elif kind == "retry-prompt" and fields.text(part, "tool_name"):
        yield _result(part, is_error=True)
    elif kind in _SPEAKERS:
        yield from _contents(content)
    else:
        yield Opaque(kind or "part", part)


def _result(part: Block, *, is_error: bool) -> ToolResult:
    name = fields.text(part, "tool_name") or None
    found = [
        item
        for item in _contents(part.get("content"))
        if isinstance(item, Text | Image | File | Opaque)
    ]
    return ToolResult(fields.text(part, "tool_call_id"), tuple(found), name, is_error)


def _contents(content: JSON) -> Iterator[Text | Image | File | Opaque]:
    """The parts of a content: text, a list of texts and media, or any other value as JSON."""
    is_list = isinstance(content, list) and all(map(_is_content, content))
    for one in content if is_list else [content]:
        if isinstance(one, str):
            if one:
                yield Text(one)
        elif isinstance(one, dict) and (found := _media(one)):
            yield found
        elif one is not None:
            yield Text(json_text.decode(json_text.dump(one)))


def _is_content(one: JSON) -> bool:
    return isinstance(one, str) or bool(fields.text(one, "kind"))


def _media(one: Block) -> Text | Image | File | Opaque | None:
    """The part of a content with a `kind`; None if it has none."""
    kind, media_type = fields.text(one, "kind"), fields.text(one, "media_type")
    if kind == "text-content":
        return Text(fields.text(one, "content"))
    if kind == "binary":
        data = base64_text.decode(fields.text(one, "data").translate(_STANDARD))
        if data is None:
            return Opaque(kind, one)
        if media_type.startswith("image/"):
            return Image(media_type, data=data)
        name = fields.text(one, "identifier") or None
        return File(media_type or "application/octet-stream", name, data=data)
    if kind.endswith("-url") and (url := fields.text(one, "url")):
        if kind == "image-url":
            return Image(media_type or "image/*", url=url)
        return File(media_type or "application/octet-stream", url=url)
    return Opaque(kind, one) if kind else None


def _response(given: Block, parts: list[Block]) -> Message:
    """An answer by the model."""
    return Message(
        role=Role.ASSISTANT,
        parts=tuple(part for one in parts for part in _answered(one)),
        model=fields.word(given, "model_name") or None,
        source_id=fields.word(given, "provider_response_id", "vendor_id") or None,
        created_at=fields.moment(given.get("timestamp")),
        usage=_usage(given.get("usage")),
        partial=given.get("state") == "interrupted",
    )


def _answered(part: Block) -> Iterator[Part]:
    kind, words = fields.text(part, "part_kind"), fields.text(part, "content")
    if kind == "text":
        if words:
            yield Text(words)
    elif kind == "thinking":
        signature = fields.text(part, "signature") or None
        if words or signature:
            is_sealed = signature is not None and not words
            yield (
                Thinking("", data=signature)
                if is_sealed
                else Thinking(words, signature)
            )
    elif kind == "tool-call":
        name = fields.require(part.get("tool_name"), str, "the name of a tool", _NAME)
        arguments = part.get("args")
        id_ = fields.text(part, "tool_call_id")
        yield read_call(id_, name, {} if arguments is None else arguments)
    elif kind == "file" and (media := _media(fields.mapping(part, "content"))):
        yield media
    else:
        yield Opaque(kind or "part", part)


_NAME: Place = ("tool_name",)


def _usage(usage: JSON) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    found = Usage(
        input_tokens=fields.count(usage, "input_tokens", "request_tokens"),
        output_tokens=fields.count(usage, "output_tokens", "response_tokens"),
        cached_tokens=fields.count(usage, "cache_read_tokens"),
    )
    return found if found != Usage() else None


def _score(sample: Sample) -> float:
    rows = sample.rows or []
    if "messages" in sample.object:
        rows = fields.items(sample.object, "messages")
    for row in rows:
        parts = fields.items(row, "parts")
        if any(fields.text(part, "part_kind") for part in parts):
            return 0.95
    return 0


FORMAT = RowFormat(
    name="pydantic_ai",
    label="a list of Pydantic AI messages",
    score=_score,
    reader=PydanticMessages,
    lists=("messages", "message_history"),
    known=lambda first: {
        "external_id": next(
            (id_ for row in first if (id_ := fields.word(row, "conversation_id"))), ""
        )
    },
).format
