"""LibreChat's export of a conversation (JSON): messages in a list, or nested in their parents.

Source: github.com/danny-avila/LibreChat, `client/src/hooks/Conversations/useExportConversation.ts`,
`packages/data-provider/src/types/assistants.ts`.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import Any, BinaryIO

from threads.domain.formats import blocks
from threads.domain.formats.arguments import read_call
from threads.domain.formats.io import fields, json_file
from threads.domain.formats.io.json_text import MAX_DEPTH
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.part import JSON, Image, Opaque, Part, Text, Thinking, ToolResult
from threads.domain.transcript import Event, Warning

from .conversations import ConversationTree, ExportFormat
from .trees import TreeNode, conversation_of, list_objects, with_root

_LISTS = ("messages", "messagesTree")
_SAID = frozenset({"conversationId", "title", *_LISTS})
_PROMPT = "promptPrefix"


def _index(
    file: BinaryIO,
    span: ByteSpan,
    said: dict[str, Any],
    _beside: Any,
    _skipped: list[Warning],
) -> ConversationTree | None:
    """The messages of a conversation, after the instructions that were sent with it."""
    members = json_file.members(file, span.start, [])
    name = next((name for name in _LISTS if name in members), "")
    if not name:
        return None
    options = fields.mapping(said, "options")
    nodes = list(_nodes(file, members[name], fields.items(said, name), "", 0))
    if fields.text(options, _PROMPT):
        first = TreeNode(_PROMPT, "", members["options"], options)
        nodes = with_root(first, nodes)
    return conversation_of(
        nodes,
        read_message,
        id=fields.word(said, "conversationId", limit=200),
        title=fields.text(said, "title"),
        model=fields.word(options, "model"),
        beside=[
            Event(name, place.record)
            for name, place in members.items()
            if name not in _SAID
        ],
    )


def _nodes(
    file: BinaryIO, span: ByteSpan, values: list[Any], parent: str, depth: int
) -> Iterator[TreeNode]:
    """The messages of a list, each before its children."""
    for place, value in list_objects(file, span, values):
        id_ = fields.text(value, "messageId") or f"@{place.start}"
        above = fields.text(value, "parentMessageId") or parent
        yield TreeNode(id_, above, place, value)
        inner = fields.items(value, "children")
        if inner and depth < MAX_DEPTH:
            below = json_file.members(file, place.start, [])["children"]
            yield from _nodes(file, below, inner, id_, depth + 1)


def read_message(given: dict[str, Any], record: str) -> list[Message]:
    """The messages made from one: an answer is split at the results of its calls."""
    if _PROMPT in given and "messageId" not in given:
        prompt = Text(fields.text(given, _PROMPT))
        return [Message(role=Role.SYSTEM, parts=(prompt,), records=(record,))]
    role = Role.USER if given.get("isCreatedByUser") is True else Role.ASSISTANT
    parts = [part for one in fields.items(given, "content") for part in _part(one)]
    if not parts:
        parts = [*blocks.read_content(fields.text(given, "text"), ("text",))]
    parts = [*_files(given), *parts]
    found: list[Message] = []
    for is_result, run in groupby(parts, key=lambda part: isinstance(part, ToolResult)):
        id_ = fields.word(given, "messageId", limit=120)
        model = fields.word(given, "model") if role is Role.ASSISTANT else ""
        found.append(
            Message(
                role=Role.TOOL if is_result else role,
                parts=tuple(run),
                model=None if is_result else model or None,
                source_id=(f"{id_}/{len(found)}" if found and id_ else id_) or None,
                created_at=fields.moment(given.get("createdAt")),
                records=(record,),
                partial=given.get("unfinished") is True,
            )
        )
    return found


def _part(block: JSON) -> Iterator[Part]:
    """The parts of a block; a call may include its result."""
    kind = fields.text(block, "type")
    held = fields.mapping(block).get(kind)
    words = held if isinstance(held, str) else fields.text(held, "value")
    if kind == "text":
        if words:
            yield Text(words)
    elif kind == "think":
        if words:
            yield Thinking(words)
    elif kind == "tool_call" and isinstance(held, dict):
        function = fields.mapping(held, "function")
        id_ = fields.text(held, "id")
        name = fields.text(held, "name") or fields.text(function, "name") or "tool"
        given = held.get("args", function.get("arguments"))
        yield read_call(id_, name, {} if given is None else given)
        output = fields.text(held, "output") or fields.text(function, "output")
        if output:
            yield ToolResult(id_, (Text(output),), name)
    elif kind == "error" and words:
        yield Text(words)
    elif isinstance(block, dict):
        yield Opaque(kind or "block", block)


def _files(given: dict[str, Any]) -> Iterator[Part]:
    for one in fields.items(given, "files"):
        kind, path = fields.text(one, "type"), fields.text(one, "filepath")
        if kind.startswith("image/") and path:
            yield Image(kind, url=path)
        else:
            yield Opaque("file", one)


def _score(sample: Sample) -> float:
    for row in sample.rows:
        has_messages = any(name in row for name in _LISTS)
        if has_messages and "conversationId" in row and "endpoint" in row:
            return 0.95
    return 0


FORMAT = ExportFormat(
    name="librechat",
    label="a LibreChat conversation",
    score=_score,
    index=_index,
    untitled="LibreChat conversation",
    strategy="openai",
).format
