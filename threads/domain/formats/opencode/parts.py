"""Reads the parts of an opencode message: content, and parts that become events.

Source: packages/opencode/src/session/message-v2.ts of sst/opencode.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from threads.domain.formats.io import base64_text, fields
from threads.domain.message import Usage
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
from threads.domain.transcript import Event

SPELLED_OUT = frozenset({"text/plain", "application/x-directory"})
"""Files of these types are spelled out in texts beside them: the part only names them."""
IDS = frozenset({"id", "sessionID", "messageID"})


class Located(NamedTuple):
    """A part and its record."""

    value: dict[str, Any]
    record: str


class SessionTurn(NamedTuple):
    """A message of opencode: its facts, its parts in order, and its record.

    If `is_apart`, the parts are records of their own, which the message's records include.
    """

    info: dict[str, Any]
    parts: list[Located]
    record: str
    is_apart: bool = False

    @property
    def id(self) -> str:
        """Its own id, by which later messages refer to it."""
        return fields.text(self.info, "id")

    @property
    def created_at(self) -> datetime | None:
        """When it began."""
        return fields.moment(fields.mapping(self.info, "time").get("created"))


@dataclass
class Read:
    """The contents of a turn's parts."""

    parts: list[Part] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)
    records: list[str] = field(default_factory=list)
    before: list[Event] = field(default_factory=list)
    after: list[Event] = field(default_factory=list)
    cleared: dict[str, float] = field(default_factory=dict)
    """Map of call id to when its output was cleared, in milliseconds since 1970."""


def read_turn(turn: SessionTurn) -> Read:
    """Read the parts of a turn."""
    read = Read()
    for part in turn.parts:
        if found := list(_content(part.value, read)):
            read.parts += found
            read.records.append(part.record)
            continue
        time = fields.mapping(part.value, "time")
        at = fields.moment(time.get("start", time.get("created")))
        event = Event(fields.text(part.value, "type") or "part", part.record, at)
        (read.after if read.parts else read.before).append(event)
    return read


def _content(part: dict[str, Any], read: Read) -> Iterator[Part]:
    """The content of a part; nothing if it has none."""
    text = fields.text(part, "text")
    match part.get("type"):
        case "text" if text and part.get("ignored") is not True:
            yield Text(text)
        case "reasoning":
            yield from read_thinking(text, fields.mapping(part, "metadata"))
        case "tool":
            yield from _tool(part, read)
        case "file" if fields.text(part, "mime") not in SPELLED_OUT:
            if media := read_file(part):
                yield media
        case "subtask":
            yield Opaque("subtask", {k: v for k, v in part.items() if k not in IDS})


_SIGNERS = (("anthropic", "anthropic"), ("gemini", "google"), ("openai", "openai"))


def read_thinking(text: str, metadata: dict[str, Any]) -> Iterator[Thinking]:
    """Reasoning with its provider's signature; encrypted data is a part of its own."""
    anthropic, google, openai = (
        fields.mapping(metadata, name) for name in ("anthropic", "google", "openai")
    )
    signature = fields.text(anthropic, "signature")
    signature = signature or fields.text(google, "thoughtSignature")
    data = fields.text(anthropic, "redactedData")
    data = data or fields.text(openai, "reasoningEncryptedContent")
    signer = next(
        (name for name, said in _SIGNERS if fields.mapping(metadata, said)), None
    )
    if text:
        yield Thinking(text, signature or None, signer=signer if signature else None)
    if data:
        yield Thinking("", data=data, signer=signer)


def _tool(part: dict[str, Any], read: Read) -> Iterator[Part]:
    """The call of a tool's part; its result, if any, is added to `read`."""
    # A run of opencode 2 prints a part's id as `partID`, and the call's as `id`.
    id_ = fields.text(part, "callID", *(("id",) if "partID" in part else ()))
    name = fields.text(part, "tool")
    state = fields.mapping(part, "state")
    yield ToolCall(id_, name, state.get("input", {}))
    words, status = fields.text(state, "output"), state.get("status")
    if status not in ("completed", "error") and not words:
        return
    is_error = status == "error"
    if is_error:
        so_far = fields.text(fields.mapping(state, "metadata"), "output")
        words = so_far or fields.text(state, "error")
    files = (read_file(item) for item in fields.items(state, "attachments"))
    content = (*((Text(words),) if words else ()), *(file for file in files if file))
    read.results.append(ToolResult(id_, content, name or None, is_error))
    when = fields.mapping(state, "time").get("compacted")
    if isinstance(when, int | float):
        read.cleared[id_] = when


def read_file(part: JSON) -> Image | File | None:
    """The image or file of a part; None if it has no address."""
    url = fields.text(part, "url")
    media_type = fields.text(part, "mime") or "application/octet-stream"
    name = fields.text(part, "filename") or None
    if not url:
        return None
    found = base64_text.split_data_uri(url)
    data = found[1] if found else None
    address = None if found else url
    if media_type.startswith("image/"):
        return Image(media_type, url=address, data=data)
    return File(media_type, name, url=address, data=data)


def begun_by(part: dict[str, Any]) -> str:
    """The session of the sub-agent that a tool's part started; empty for other parts."""
    metadata = fields.mapping(fields.mapping(part, "state"), "metadata")
    return fields.text(metadata, "sessionId", "sessionID")


def read_usage(tokens: JSON, *, is_split: bool = False) -> Usage | None:
    """The `tokens` of a message, in which `input` excludes cached tokens.

    Newer versions count reasoning separately from the output, older ones within it; the total
    shows which. `is_split` says that it is separate, where there is no total.
    """
    if not isinstance(tokens, dict):
        return None
    cache = fields.mapping(tokens, "cache")
    cached = fields.count(cache, "read")
    input_ = fields.count(tokens, "input") + cached + fields.count(cache, "write")
    output = fields.count(tokens, "output")
    reasoning = fields.count(tokens, "reasoning")
    if is_split or fields.count(tokens, "total") == input_ + output + reasoning:
        output += reasoning
    usage = Usage(input_tokens=input_, output_tokens=output, cached_tokens=cached)
    return usage if usage != Usage() else None
