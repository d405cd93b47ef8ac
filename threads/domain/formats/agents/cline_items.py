"""Makes items from the records of a Cline or Roo Code conversation.

Roo Code keeps the messages that its condensing hid: a message names in `condenseParent` the summary
that replaces it, or in `truncationParent` the marker. The summary or marker comes after the
messages that it hides.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from contextstudio.accounts.domain.errors import Place
from threads.domain.formats import blocks, emptiness
from threads.domain.formats.anthropic import messages as anthropic
from threads.domain.formats.io import base64_text, fields, json_text
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.kit.items import Item
from threads.domain.message import Message, Role, Usage
from threads.domain.part import File, Image, Part, Text, Thinking, ToolCall, ToolResult
from threads.domain.transcript import Compaction

_TOLD = re.compile(r"\[([\w-]{1,64})(?: for (?s:.{0,20000}?))?\] Result:")
"""The start of a result's text: the tool's name, and often what it was used for."""
_BLOCKS = {
    "text": ("text",),
    "image": ("data", "source"),
    "document": ("source",),
    "file": ("content",),
    "media": ("media",),
}
"""Map of each block that a result may hold to its members, of which it has one."""


@dataclass(slots=True)
class ClineItems:
    """Makes items from records, one after the other."""

    _reasoning: Message | None = None
    """Encrypted reasoning, which has a record before that of its answer."""
    _reasoning_parent: str = ""
    _parents: dict[str, str] = field(default_factory=dict)
    """Map of each record that can hide others to the record that hides it."""
    _hidden: dict[str, list[int]] = field(default_factory=dict)
    """Map of summary or marker id to the ordinals of the messages that it hides."""
    _count: int = 0
    _asked: list[ToolCall] = field(default_factory=list)
    """The calls of the last answer."""

    def take(self, row: Element) -> Iterator[Item]:
        """The items of a record. Raises Invalid if it isn't a message."""
        given = fields.require(row.value, dict, "a message", ())
        parent = fields.text(given, "condenseParent", "truncationParent")
        moment = fields.moment(given.get("ts"))
        if given.get("type") == "reasoning":
            yield from self.rest()
            self._reasoning_parent = parent
            self._reasoning = Message(
                role=Role.ASSISTANT,
                parts=tuple(_encrypted(given)),
                created_at=moment,
                records=(row.record,),
            )
            return
        message = self._linked(_message(given))
        message = replace(message, records=(row.record,), created_at=moment)
        if message.role is Role.ASSISTANT and self._reasoning is not None:
            before, self._reasoning = self._reasoning, None
            parts = before.parts + message.parts
            records = before.records + message.records
            message = replace(message, parts=parts, records=records)
        yield from self.rest()
        made = self._compaction(given, message, row, parent)
        yield made or self._counted(message, parent)

    def _linked(self, message: Message) -> Message:
        """The message, with its results if the tool wrote them as text.

        Cline before its SDK does so for API calls, too. Each text that says which tool's result it
        is answers the first open call of that name, else the first open call.
        """
        if message.role is not Role.USER:
            self._asked = [one for one in message.parts if isinstance(one, ToolCall)]
            return message
        waiting, self._asked = self._asked, []
        if any(isinstance(part, ToolResult) for part in message.parts):
            return message
        names: dict[int, str] = {}
        texts = {
            n: part for n, part in enumerate(message.parts) if isinstance(part, Text)
        }
        for place, text in texts.items():
            if told := _TOLD.match(text.text):
                names[place] = told[1]
        parts = list(message.parts)
        for place, call in _pairs(names, waiting).items():
            parts[place] = ToolResult(call.id, (texts[place],), call.name)
        return replace(message, parts=tuple(parts))

    def rest(self) -> Iterator[Item]:
        """Reasoning that was not followed by an answer."""
        if self._reasoning is not None:
            yield self._counted(self._reasoning, self._reasoning_parent)
            self._reasoning = None

    def system(self, message: Message) -> Message:
        """The system prompt, which comes before all records."""
        return self._counted(message, "")

    def _counted(self, message: Message, parent: str) -> Message:
        """Count a message, and remember its ordinal under the summary or marker that hides it."""
        if parent:
            self._hidden.setdefault(parent, []).append(self._count)
        self._count += 1
        return message

    def _compaction(
        self, given: dict[str, Any], message: Message, row: Element, parent: str
    ) -> Compaction | None:
        """A summary or marker in place of the messages that name it; None if none does.

        A summary without an id stands for all messages before it.
        """
        id_ = fields.text(given, "condenseId", "truncationId")
        marks = (given.get("isSummary"), given.get("isTruncationMarker"))
        if not any(mark is True for mark in marks):
            return None
        hidden = self._hidden.pop(id_, [])
        if not hidden and not id_:
            hidden = list(range(self._count))
        if not hidden:
            return None
        if parent:  # hidden itself later, together with the messages it stands for
            self._hidden.setdefault(parent, []).extend(hidden)
        return Compaction(
            replaces=tuple(sorted(hidden)),
            messages=(message,),
            record=row.record,
            created_at=message.created_at,
        )


def _pairs(told: dict[int, str], waiting: list[ToolCall]) -> dict[int, ToolCall]:
    """Map of the place of each result to the call it answers, by the names in the results."""
    found: dict[int, ToolCall] = {}
    for by_name in (True, False):
        for place, name in told.items():
            fits = (call for call in waiting if call.name == name or not by_name)
            call = None if place in found else next(fits, None)
            if call is not None:
                found[place] = call
                waiting.remove(call)
    return found


def _message(given: dict[str, Any]) -> Message:
    content = given.get("content")
    heading = {k: v for k, v in given.items() if k not in emptiness.SPEECH_MEMBERS}
    made = anthropic.read_message({**heading, "content": None})
    parts: list[Part] = []
    if isinstance(content, list):
        for index, block in enumerate(content):
            parts += _block(block, ("content", index))
    else:
        parts += blocks.read_content(content, ("content",))
    words = fields.text(given, "reasoning_content")
    has_thinking = any(isinstance(part, Thinking) for part in parts)
    if words and made.role is Role.ASSISTANT and not has_thinking:
        parts.insert(0, Thinking(words))
    model = fields.word(fields.mapping(given, "modelInfo"), "modelId", "id") or None
    usage = _usage(given.get("metrics"))
    return replace(made, parts=tuple(parts), model=model, usage=usage)


def _block(block: Any, at: Place) -> Iterator[Part]:
    """The part of a block, in Cline's own form or Anthropic's."""
    given = fields.mapping(block)
    match given.get("type"):
        case "file" if isinstance(given.get("content"), str):
            data = given["content"].encode("utf-8", "surrogatepass")
            yield File("text/plain", fields.text(given, "path") or None, data=data)
        case "image" if (data := base64_text.decode(given.get("data"))) is not None:
            kind = fields.text(given, "mediaType", "mimeType")
            yield Image(kind or "image/*", data=data)
        case "media" if made := _media(fields.mapping(given, "media")):
            yield made
        case "reasoning" if words := fields.text(given, "text"):
            yield Thinking(words)
        case "tool_result":
            yield _result(given, at)
        case _:
            yield from blocks.read_block(block, at)


def _media(media: dict[str, Any]) -> Image | File | None:
    """What a model made; None if it is stored elsewhere."""
    source = fields.mapping(media, "source")
    data = base64_text.decode(source.get("data"))
    url = fields.text(source, "url") or None
    if data is None and url is None:
        return None
    kind = fields.text(media, "mediaType")
    if kind.startswith("image/"):
        return Image(kind, data=data, url=url)
    name = fields.text(media, "name") or None
    return File(kind or "application/octet-stream", name, data=data, url=url)


def _result(given: dict[str, Any], at: Place) -> Part:
    """A tool's result: blocks, or the tool's own JSON, which the model is given as text."""
    content = given.get("content")
    at = (*at, "content")
    if isinstance(content, list) and all(map(_is_block, content)):
        found = [p for i, one in enumerate(content) for p in _block(one, (*at, i))]
    elif isinstance(content, str | None):
        found = [*blocks.read_content(content, at)]
    else:
        images: list[Part] = []
        told = json_text.dump(_without_images(content, images))
        found = [Text(json_text.decode(told)), *images]
    return ToolResult(
        fields.text(given, "tool_use_id"),
        tuple(part for part in found if isinstance(part, blocks.RESULT_KINDS)),
        fields.text(given, "name") or None,
        given.get("is_error") is True,
    )


def _is_block(one: Any) -> bool:
    """Whether an element of a result is a block or a text, not the tool's own JSON."""
    member = _BLOCKS.get(fields.text(one, "type"))
    return isinstance(one, str) or (
        member is not None and any(name in one for name in member)
    )


def _without_images(value: Any, images: list[Part]) -> Any:
    """A tool's JSON without its images, which Cline sends after it; they are added to `images`."""
    if isinstance(value, list):
        return [_without_images(v, images) for v in value if not _took(v, images)]
    if _took(value, images):
        return "[image attached]"
    if isinstance(value, dict):
        return {name: _without_images(v, images) for name, v in value.items()}
    return value


def _took(value: Any, images: list[Part]) -> bool:
    """Add the value to `images` if it is an image; whether it is one."""
    kind = fields.text(value, "mediaType")
    if fields.text(value, "type") != "image" or not kind:
        return False
    data = base64_text.decode(value.get("data"))
    if data is not None:
        images.append(Image(kind, data=data))
    return data is not None


def _encrypted(given: dict[str, Any]) -> Iterator[Part]:
    """Reasoning as in OpenAI's Responses: a summary, and data that only the provider can read."""
    summary = [
        fields.text(one, "text") or (one if isinstance(one, str) else "")
        for one in fields.items(given, "summary")
    ]
    words = "\n\n".join(filter(None, summary)) or fields.text(given, "text")
    if words:
        yield Thinking(words)
    if encrypted := fields.text(given, "encrypted_content"):
        yield Thinking("", data=encrypted, signer="openai")


def _usage(metrics: Any) -> Usage | None:
    """The tokens of an answer; in Cline's classic form they are one level deeper."""
    if not isinstance(metrics, dict):
        return None
    told = fields.mapping(metrics, "tokens") or metrics
    return Usage(
        input_tokens=fields.count(told, "inputTokens", "prompt"),
        output_tokens=fields.count(told, "outputTokens", "completion"),
        cached_tokens=fields.count(told, "cacheReadTokens", "cached"),
    )
