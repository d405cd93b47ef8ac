"""DeepSeek's data export, and a chat as its web page fetches it.

In the export (`conversations.json`), a conversation is a `mapping` of ids to nodes. In the page's
response, it is a `chat_session` with `chat_messages` that name their parents. In both, a message
has `fragments`: the question (`REQUEST`), reasoning (`THINK`) and the answer (`RESPONSE`); older
messages have `content` and `thinking_content`. Other fragments (searches, files) are kept whole.

The formats are not published: a real chat is in ceyaima/deepseek-exporter, `samples/`.
"""

import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from threads.domain.formats.io import fields, json_file
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.part import JSON, Opaque, Part, Text, Thinking
from threads.domain.transcript import Warning

from .conversations import ConversationTree, ExportFormat
from .trees import TreeNode, conversation_of, list_objects

_ENVELOPE = ("data", "biz_data")
"""Members that enclose the chat in the response to the page's request."""


def _index(
    file: BinaryIO,
    span: ByteSpan,
    said: dict[str, Any],
    _beside: Any,
    _skipped: list[Warning],
) -> ConversationTree | None:
    members: dict[str, ByteSpan] = json_file.members(file, span.start, [])
    for name in _ENVELOPE:
        if name in members:
            said = fields.mapping(said, name)
            members = json_file.members(file, members[name].start, [])
    about = fields.mapping(said, "chat_session") or said
    nodes = (
        _nodes(file, members["mapping"], said)
        if "mapping" in members
        else _messages(file, members, said)
    )
    return conversation_of(
        nodes,
        read_message,
        id=fields.word(about, "id", limit=200),
        title=fields.text(about, "title"),
        leaf=_name(about.get("current_message_id")),
    )


def _nodes(
    file: BinaryIO, mapping: ByteSpan, said: dict[str, Any]
) -> Iterator[TreeNode]:
    values = fields.mapping(said, "mapping")
    for child in json_file.children(file, mapping.start, []):
        value = fields.mapping(values.get(str(child.key)))
        if value.get("message") is not None:
            id_, parent = _name(value.get("id")), _name(value.get("parent"))
            yield TreeNode(id_, parent, child.span, value)


def _messages(
    file: BinaryIO, members: dict[str, ByteSpan], said: dict[str, Any]
) -> Iterator[TreeNode]:
    if "chat_messages" in members:
        values = fields.items(said, "chat_messages")
        for place, value in list_objects(file, members["chat_messages"], values):
            id_, parent = _name(value.get("message_id")), _name(value.get("parent_id"))
            yield TreeNode(id_, parent, place, value)


def _name(value: JSON) -> str:
    return str(value) if isinstance(value, str | int) else ""


def read_message(value: dict[str, Any], record: str) -> list[Message]:
    """The message of a node; none if it says nothing."""
    given = fields.mapping(value, "message") or value
    parts = tuple(_parts(given))
    kinds = {fields.text(one, "type") for one in fields.items(given, "fragments")}
    is_asked = fields.text(given, "role") == "USER" or "REQUEST" in kinds
    if not parts:
        return []
    return [
        Message(
            role=Role.USER if is_asked else Role.ASSISTANT,
            parts=parts,
            model=None if is_asked else fields.word(given, "model") or None,
            created_at=fields.moment(given.get("inserted_at")),
            records=(record,),
        )
    ]


def _parts(given: dict[str, Any]) -> Iterator[Part]:
    if words := fields.text(given, "thinking_content"):
        yield Thinking(words)
    if words := fields.text(given, "content"):
        yield Text(words)
    for fragment in map(fields.mapping, fields.items(given, "fragments")):
        kind, words = fields.text(fragment, "type"), fields.text(fragment, "content")
        if kind == "THINK" and words:
            yield Thinking(words)
        elif kind in ("REQUEST", "RESPONSE") and words:
            yield Text(words)
        elif kind not in ("REQUEST", "RESPONSE", "THINK"):
            yield Opaque(kind or "fragment", fragment)
    if files := fields.items(given, "files"):
        yield Opaque("files", {"type": "files", "files": files})


def _score(sample: Sample) -> float:
    """By a chat with its messages, or a tree of nodes whose messages have fragments."""
    held: JSON = sample.object
    for name in _ENVELOPE:
        held = fields.mapping(held).get(name, held)
    if isinstance(held, dict) and {"chat_session", "chat_messages"} <= held.keys():
        return 0.95
    for row in sample.rows:
        for node in fields.mapping(row, "mapping").values():
            if "fragments" in fields.mapping(node, "message"):
                return 0.95
    return 0


FORMAT = ExportFormat(
    name="deepseek",
    label="a DeepSeek conversation",
    score=_score,
    index=_index,
    own=re.compile(r"user\.json"),
    untitled="DeepSeek conversation",
    strategy="openai",
).format
