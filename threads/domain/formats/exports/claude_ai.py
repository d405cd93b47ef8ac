"""Claude.ai's data export: conversations of messages that may branch.

`conversations.json` is a list of conversations; `projects.json` and `users.json` beside it hold
none. In newer exports, a message names its parent (`parent_message_uuid`): the path to the last
message is the conversation, others are branches.

An answer with tools is one message there, with its calls and their results. For the API it was
several messages, so it is split at the results. Most blocks have no id: a result answers the first
open call of its name in its message, else the first open call.

The format is not published; the shapes are those that schemas inferred from real exports describe
(polylogue's `claude-ai`), and `docs/formats.md` lists them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Any, BinaryIO

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats import blocks
from threads.domain.formats.io import fields, json_file, source
from threads.domain.formats.io.folder import Member
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.kit.items import Item
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.part import (
    JSON,
    File,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from threads.domain.transcript import Event, Warning

from .conversations import ConversationTree, ExportFormat

ROLES = {"human": Role.USER, "user": Role.USER, "assistant": Role.ASSISTANT}
NO_CONTEXT = frozenset({"token_budget"})
"""Blocks that only count tokens."""
PAGE = ("title", "url", "text")
"""Members of a search result, in reading order."""

# Conversations


@dataclass(slots=True)
class MessageIndex:
    """An index of a conversation: a place and a few facts per message."""

    project: str = ""
    """The locator of its project's record."""
    ids: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    spans: list[ByteSpan] = field(default_factory=list)
    runs: list[int] = field(default_factory=list)
    """The number of API messages that each message becomes; 0 if it says nothing."""
    words: str | None = None
    """The person's first text."""


def _projects(own: dict[str, Member]) -> dict[str, str]:
    """Map of project id to the locator of the project."""
    found = {}
    for name, member in own.items():
        if "projects" not in name:
            continue
        with member.open() as file:
            for span in json_file.held_objects(file, "projects", []):
                uuid = fields.text(json_file.known_value(file, span, []), "uuid")
                found[uuid] = f"{member.name}#{span.record}"
    return found


def _index(
    file: BinaryIO,
    span: ByteSpan,
    said: dict[str, Any],
    projects: dict[str, str],
    skipped: list[Warning],
) -> ConversationTree | None:
    """An index of a conversation's messages, by place and parent; None without messages."""
    messages = fields.items(said, "chat_messages")
    if not messages:
        return None
    project = fields.text(fields.mapping(said, "project"), "uuid")
    known = MessageIndex(projects.get(project, ""))
    numbers: dict[str, int] = {}
    placed = zip(_places(file, span, skipped), messages, strict=False)
    for number, (place, message) in enumerate(placed):
        uuid = fields.text(message, "uuid")
        known.ids.append(uuid or str(number))
        known.spans.append(place)
        runs = read_runs(fields.mapping(message))
        known.runs.append(len(runs))
        is_human = fields.text(message, "sender") == "human"
        if is_human and runs and known.words is None:
            known.words = Message(role=Role.USER, parts=runs[0]).text
        if uuid:
            numbers.setdefault(uuid, number)
    named = [fields.text(one, "parent_message_uuid") for one in messages]
    is_tree = any(named)
    known.parents = [
        numbers.get(parent, -1) if is_tree else number - 1
        for number, parent in enumerate(named[: len(known.ids)])
    ]
    leaf = fields.text(said, "current_leaf_message_uuid", "current_leaf_message_id")
    return ConversationTree(
        id=fields.word(said, "uuid", limit=200),
        title=fields.text(said, "name").strip() or (known.words or "").strip(),
        model=fields.word(said, "model"),
        ids=known.ids,
        parents=known.parents,
        leaf=known.ids.index(leaf) if leaf in known.ids else len(known.ids) - 1,
        spoken=lambda nodes: [(n, run) for n in nodes for run in range(known.runs[n])],
        read=partial(_read, known),
    )


def _places(
    file: BinaryIO, span: ByteSpan, skipped: list[Warning]
) -> Iterator[ByteSpan]:
    try:
        for child in source.children(file, span.start):
            if child.key == "chat_messages":
                for inner in source.children(file, child.span.start):
                    yield inner.span
                return
    except Invalid as error:
        skipped.append(Warning(error.code, f"At byte {span.start:,}: {error.message}"))


def _read(
    known: MessageIndex,
    nodes: Sequence[int],
    left: Sequence[int],
    file: BinaryIO,
    warnings: list[Warning],
) -> Iterator[Item]:
    """The items of a path; `left` are the messages on no path, which become events."""
    if known.project:
        yield Event("project", known.project)
    for node in nodes:
        value = json_file.known_value(file, known.spans[node], warnings)
        yield from _messages(fields.mapping(value), known.spans[node].record)
    for node in left:
        value = json_file.known_value(file, known.spans[node], warnings)
        yield _event(fields.mapping(value), known.spans[node].record, "branch/")


def _messages(message: dict[str, Any], record: str) -> Iterator[Item]:
    """The API messages made from a message of the export; an event if it says nothing."""
    runs = read_runs(message)
    if not runs:
        yield _event(message, record, "empty/")
    role = ROLES.get(fields.text(message, "sender"), Role.ASSISTANT)
    uuid = fields.word(message, "uuid", limit=120)
    for number, parts in enumerate(runs):
        is_result = isinstance(parts[0], ToolResult)
        yield Message(
            role=Role.USER if is_result else role,
            parts=parts,
            source_id=(f"{uuid}/{number}" if number and uuid else uuid) or None,
            created_at=fields.moment(message.get("created_at")),
            model=fields.word(message, "model") or None,
            records=(record,),
        )


def _event(message: dict[str, Any], record: str, before: str) -> Event:
    kind = before + (fields.text(message, "sender") or "message")
    return Event(kind, record, fields.moment(message.get("created_at")))


# Messages


def read_runs(message: dict[str, Any]) -> list[tuple[Part, ...]]:
    """The parts of a message in alternating runs of results and other parts."""
    content = _Content(fields.text(message, "uuid") or "call")
    read = map(content.read, fields.items(message, "content"))
    said = [part for part in read if part is not None]
    if not said and fields.text(message, "text"):
        # `text` is a flattened copy of the blocks, with placeholders for other kinds of content.
        said = [Text(message["text"])]
    runs = groupby(
        (*_attached(message), *said), key=lambda part: isinstance(part, ToolResult)
    )
    return [tuple(run) for _, run in runs]


@dataclass(slots=True)
class _Content:
    uuid: str
    count: int = 0
    open: list[ToolCall] = field(default_factory=list)

    def read(self, block: JSON) -> Part | None:
        """The part of a block; None if it is empty."""
        kind = fields.text(block, "type")
        if kind == "text":
            words = fields.text(block, "text")
            return Text(words) if words else None
        if kind == "thinking":
            signature = fields.text(block, "signature") or None
            words = fields.text(block, "thinking")
            return Thinking(words, signature, signer="anthropic" if signature else None)
        if kind == "tool_use":
            return self._call(block)
        if kind == "tool_result":
            return self._result(block)
        return None if kind in NO_CONTEXT else _other(block)

    def _call(self, block: dict[str, Any]) -> ToolCall:
        self.count += 1
        id_ = fields.text(block, "id") or f"{self.uuid}/{self.count}"
        name = fields.text(block, "name") or "tool"
        self.open.append(ToolCall(id_, name, block.get("input", {})))
        return self.open[-1]

    def _result(self, block: dict[str, Any]) -> ToolResult:
        id_, name = fields.text(block, "tool_use_id"), fields.text(block, "name")
        exact = (call for call in self.open if call.id == id_)
        named = (call for call in self.open if call.name == name)
        call = next(exact, None) or next(named, None) or next(iter(self.open), None)
        if call is not None:
            self.open.remove(call)
        self.count += call is None
        call_id = call.id if call else id_ or f"{self.uuid}/{self.count}"
        content = tuple(_found(block.get("content")))
        is_error = block.get("is_error") is True
        return ToolResult(call_id, content, name or None, is_error)


def _found(content: JSON) -> Iterator[Text | File | Opaque | Any]:
    """The content of a result: text, search results, images; other blocks are kept whole."""
    for block in content if isinstance(content, list) else [content]:
        if isinstance(block, str) and block:
            yield Text(block)
        elif fields.text(block, "type") in ("text", "knowledge"):
            words = filter(None, (fields.text(block, name) for name in PAGE))
            if text := "\n".join(words):
                yield Text(text)
        elif isinstance(block, dict):
            yield _other(block)


def _other(block: JSON) -> Part:
    """The part of an API block (an image, a document); any other block is kept whole."""
    kind = fields.text(block, "type") or "block"
    try:
        found = [*blocks.read_block(block, ())]
    except Invalid:
        found = []
    return found[0] if found else Opaque(kind, block)


def _attached(message: dict[str, Any]) -> Iterator[Part]:
    """Files with the text extracted from them; opaque parts for files missing from the export."""
    names = set()
    for attached in fields.items(message, "attachments"):
        name = fields.text(attached, "file_name")
        names.add(name)
        if words := fields.text(attached, "extracted_content"):
            type_ = fields.text(attached, "file_type")
            media_type = type_ if type_.startswith("text/") else "text/plain"
            data = words.encode("utf-8", "surrogatepass")
            yield File(media_type, name or None, data=data)
        else:
            yield Opaque("attachment", attached)
    for file in fields.items(message, "files") + fields.items(message, "files_v2"):
        name = fields.text(file, "file_name")
        if not name or name not in names:
            names.add(name)
            yield Opaque("file", file)


def _score(sample: Sample) -> float:
    for row in [*sample.rows, *fields.items(sample.object, "conversations")]:
        has_messages = isinstance(fields.mapping(row).get("chat_messages"), list)
        if has_messages and ("uuid" in row or "name" in row):
            return 0.95
    return 0


EXPORT = ExportFormat(
    name="claude_ai",
    label="a Claude.ai conversation",
    score=_score,
    index=_index,
    own=re.compile(r"(?:projects|users|memories)\.json|projects/[^/]+\.json"),
    beside=_projects,
    untitled="Claude.ai conversation",
    strategy="anthropic",
)
FORMAT = EXPORT.format
