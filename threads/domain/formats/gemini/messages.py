"""Contents of the Gemini API: request bodies, responses, and what clients store of them.

A conversation is `{"contents"}` (a request), `{"request", "response"}` (a log or a line of a batch;
the response may be a recorded stream), `{"candidates"}` (a response, or a list of a stream's
chunks), `{"history"}` or a bare list of contents (written by Gemini CLI's `/chat save`), or JSON
Lines of contents.

Source: ai.google.dev/api/generate-content.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from contextstudio.accounts.domain.errors import Invalid, Place
from threads.domain.formats.format import Format, Writer
from threads.domain.formats.io import fields, json_file
from threads.domain.formats.io.json_file import Element, Members
from threads.domain.formats.io.source import BROKEN, ByteSpan
from threads.domain.formats.io.streams import (
    assemble_if_streamed,
    other_choices_warning,
)
from threads.domain.formats.io.streams.gemini import joined_parts
from threads.domain.formats.io.streams.gemini_calls import GrowingCall
from threads.domain.formats.kit.calls import OpenCalls
from threads.domain.formats.kit.items import Conversation, member_events
from threads.domain.formats.kit.transcripts import title_of, transcripts_with_messages
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role, Usage
from threads.domain.part import JSON, ToolResult
from threads.domain.transcript import Event, Transcript, Warning

from .parts import read_parts
from .writing import write

NAME = "gemini"
ROLES = {
    "user": Role.USER,
    "model": Role.ASSISTANT,
    "function": Role.TOOL,
    "tool": Role.TOOL,
    "system": Role.SYSTEM,
}
LISTS = ("contents", "history")
_TELLING = {*LISTS, "parts", "request", "response", "candidates"}
"""Members of which every row in Gemini's form has one."""
SYSTEMS = ("systemInstruction", "system_instruction")
MODELS = ("modelVersion", "model_version", "model")
IDS = ("external_id", "session_id", "conversation_id", "key")
_READ = frozenset(
    {*LISTS, *SYSTEMS, *MODELS, *IDS, "title", "request", "response", "config"}
    | {"candidates", "usageMetadata", "usage_metadata", "responseId", "response_id"}
    | {"createTime", "create_time"}
)
"""Members that are read; every other one (`tools`, `safetySettings`) becomes an event."""


def read_content(
    content: JSON, calls: OpenCalls, *, at: Place = (), records: tuple[str, ...] = ()
) -> Message:
    """The message of one content. Raises Invalid at the place that is malformed.

    A content with only function responses is a tool message, whoever sends it.
    """
    if isinstance(content, str):
        content = {"parts": content}
    fields.require(content, dict, "a content", at)
    role = ROLES.get(fields.text(content, "role") or "user")
    if role is None:
        known = ", ".join(ROLES)
        raise Invalid(f"A content's role must be one of {known}.", at=(*at, "role"))
    parts = read_parts(content.get("parts"), (*at, "parts"), calls)
    if parts and all(isinstance(part, ToolResult) for part in parts):
        role = Role.TOOL
    return Message(role=role, parts=parts, records=records)


def read_usage(usage: JSON) -> Usage | None:
    """The `usageMetadata` of a response: thoughts count as output, tool use as input."""
    if not isinstance(usage, dict):
        return None

    def count(camel: str, snake: str) -> int:
        return fields.count(usage, camel, snake)

    return Usage(
        input_tokens=count("promptTokenCount", "prompt_token_count")
        + count("toolUsePromptTokenCount", "tool_use_prompt_token_count"),
        output_tokens=count("candidatesTokenCount", "candidates_token_count")
        + count("thoughtsTokenCount", "thoughts_token_count"),
        cached_tokens=count("cachedContentTokenCount", "cached_content_token_count"),
    )


def read_reply(chunks: list[JSON], calls: OpenCalls) -> Message | None:
    """The message of a response, or of the chunks of a stream; None if there is none.

    The usage is that of the last chunk that has one; the model is the last chunk's. Raises
    Invalid with the place.
    """
    at = ("candidates", 0, "content")
    found = [read_content(one, calls, at=at) for one in _contents(chunks)]
    if not found:
        return None
    usages = (
        read_usage(
            fields.mapping(chunk).get("usageMetadata", chunk.get("usage_metadata"))
        )
        for chunk in reversed(chunks)
    )
    last = chunks[-1]
    return replace(
        found[-1],
        role=Role.ASSISTANT,
        parts=tuple(part for message in found for part in message.parts),
        model=fields.word(last, *MODELS) or None,
        source_id=fields.word(last, "responseId", "response_id") or None,
        created_at=fields.moment(last.get("createTime", last.get("create_time"))),
        usage=next((usage for usage in usages if usage), None),
    )


def _contents(chunks: list[JSON]) -> list[dict[str, Any]]:
    """The contents of the chunks, one by one; joined into one if a call comes in pieces."""
    found = []
    for chunk in chunks:
        candidate = next(iter(fields.items(chunk, "candidates")), None)
        content = fields.mapping(candidate).get("content")
        if isinstance(content, dict):
            found.append({**content, "role": "model"})
    parts = [part for one in found for part in fields.items(one, "parts")]
    if any(GrowingCall.begins(fields.mapping(part)) for part in parts):
        return [{"role": "model", "parts": joined_parts(map(fields.mapping, parts))}]
    return found


@dataclass(frozen=True, slots=True)
class Contents(Conversation):
    """One conversation: contents in a document, the reply to them, or JSON Lines."""

    file: BinaryIO
    members: Members
    replies: tuple[ByteSpan, ...] = ()
    is_lines: bool = False

    def items(self) -> Iterator[Message | Event]:
        """The system prompt, the contents, the reply, and events for other members."""
        calls = OpenCalls()
        for name in SYSTEMS:
            if name in self.members:
                yield self._system(name)
        for piece in self._contents():
            yield self._message(piece, calls)
        yield from self._reply(calls)
        yield from member_events(self.members, _READ)

    def _system(self, name: str) -> Message | Event:
        piece = json_file.member(self.file, self.members, name, self.warnings)
        found = self._message(piece, OpenCalls())
        return replace(found, role=Role.SYSTEM) if isinstance(found, Message) else found

    def _contents(self) -> Iterator[Element]:
        if self.is_lines:
            yield from json_file.lines(self.file, self.warnings)
        for name in LISTS:
            if name not in self.members:
                continue
            span = self.members[name]
            if json_file.is_list(self.file, span):
                yield from json_file.named_elements(
                    self.file, span, (name,), self.warnings
                )
            else:
                yield json_file.member(self.file, self.members, name, self.warnings)

    def _message(self, piece: Element, calls: OpenCalls) -> Message | Event:
        """The message of a content; an event if it can't be read."""
        record = piece.record
        if piece.value is BROKEN:
            return Event("unreadable", record)
        try:
            return read_content(piece.value, calls, at=piece.at, records=(record,))
        except Invalid as error:
            self.warnings.append(json_file.warning(error, piece.at))
            return Event("unreadable", record)

    def _reply(self, calls: OpenCalls) -> Iterator[Message | Event]:
        found = [
            json_file.value(self.file, span, ("response",), self.warnings)
            for span in self.replies
        ]
        whole = (assemble_if_streamed(NAME, value) for value in found)
        chunks = [value for value in whole if isinstance(value, dict)]
        records = tuple(span.record for span in self.replies)
        self.warnings.extend(other_choices_warning(chunks[0] if chunks else None))
        try:
            message = read_reply(chunks, calls)
        except Invalid as error:
            self.warnings.append(json_file.warning(error))
            message = None
        if message is not None:
            yield replace(message, records=records)
        else:
            yield from (Event("response", record) for record in records)


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The conversations of a file. Raises Invalid if it holds no message at all."""
    skipped: list[Warning] = []
    found = _conversations(file, skipped)
    return transcripts_with_messages(found, skipped, _transcript)


def _conversations(file: BinaryIO, skipped: list[Warning]) -> Iterator[Contents]:
    whole = json_file.whole(file)
    is_list = json_file.is_list(file, whole)
    first = next(json_file.documents(file, []), whole)
    keys = json_file.places(file, first, []).keys()
    if "parts" in keys:
        is_lines = not is_list and first != whole
        yield Contents(file, {} if is_lines else {"contents": whole}, is_lines=is_lines)
    elif is_list and "candidates" in keys:
        yield Contents(file, {}, tuple(json_file.documents(file, skipped)))
    else:
        for span in json_file.documents(file, skipped):
            yield _envelope(file, span)


def _envelope(file: BinaryIO, span: ByteSpan) -> Contents:
    """The conversation of a request, a response, or a log of both."""
    warnings: list[Warning] = []
    members: dict[str | int, ByteSpan] = dict(json_file.places(file, span, warnings))
    for outer in ("request", "config"):
        if outer in members:
            members |= json_file.places(file, members[outer], warnings)
    replies = [members["response"]] if "response" in members else []
    if "candidates" in members:
        replies.append(span)
    return Contents(file, members, tuple(replies), given=warnings)


def _transcript(items: Contents, opening: list[Message]) -> Transcript:
    title = fields.text({"t": json_file.get(items.file, items.members, "title")}, "t")
    said = {
        name: json_file.get(items.file, items.members, name) for name in (*IDS, "model")
    }
    models = (message.model for message in opening if message.model)
    return Transcript(
        format=NAME,
        title=fields.one_line(title) or title_of(opening),
        items=items,
        external_id=fields.word(said, *IDS, limit=255) or None,
        strategy="gemini",
        model=(fields.word(said, "model") or next(models, "")).removeprefix("models/"),
        warnings=items.warnings,
    )


def _is_content(row: JSON) -> bool:
    """Whether a value is a content: it has one of Gemini's roles, and parts without a `type`."""
    if fields.text(row, "role") not in ROLES or "parts" not in row:
        return False
    return not any("type" in fields.mapping(p) for p in fields.items(row, "parts"))


def _score(sample: Sample) -> float:
    """0.9 if contents or a response are Gemini's."""
    for row in sample.rows:
        if _TELLING.isdisjoint(row):
            continue
        request = fields.mapping(row, "request")
        lists = [fields.items(one, name) for one in (row, request) for name in LISTS]
        contents = [row, *(content for found in lists for content in found[:9])]
        reply = fields.mapping(row, "response") or row
        candidate = next(iter(fields.items(reply, "candidates")), None)
        given = fields.items(row, "contents")
        if (
            "content" in fields.mapping(candidate)
            or any(_is_content(content) for content in contents)
            or any("parts" in fields.mapping(content) for content in given)
        ):
            return 0.9
    return 0


FORMAT = Format(NAME, "a list of Gemini contents", _score, read)
WRITER = Writer("Gemini contents", "json", "application/json", write)
