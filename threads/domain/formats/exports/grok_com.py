"""grok.com's data export: `prod-grok-backend.json`, `{"conversations": [{"conversation",
"responses": [{"response"}]}]}`.

A response names its parent (`parent_response_id`). The times of responses are in a database's form
(`{"$date": {"$numberLong"}}`).

The format is not published; the shapes are those that its readers describe: see `docs/formats.md`.
"""

from collections.abc import Iterator
from typing import Any, BinaryIO

from threads.domain.formats.io import fields, json_file
from threads.domain.formats.io.source import ByteSpan
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.part import JSON, Image, Opaque, Part, Text, Thinking
from threads.domain.transcript import Event, Warning

from .conversations import ConversationTree, ExportFormat
from .trees import TreeNode, conversation_of, list_objects

_MAX_TIME_DIGITS = 20
"""The most digits in a time."""
_BESIDE = ("file_attachments", "card_attachments_json", "web_search_results", "steps")
"""Members of a response that are kept whole unless they are empty."""


def _index(
    file: BinaryIO,
    span: ByteSpan,
    said: dict[str, Any],
    _beside: Any,
    _skipped: list[Warning],
) -> ConversationTree | None:
    members = json_file.members(file, span.start, [])
    if "responses" not in members:
        return None
    about = fields.mapping(said, "conversation")
    nodes: list[TreeNode] = []
    for place, value in list_objects(
        file, members["responses"], fields.items(said, "responses")
    ):
        given = fields.mapping(value, "response")
        parent = fields.text(given, "parent_response_id")
        if not parent and nodes and "parent_response_id" not in given:
            parent = nodes[-1].id
        id_ = fields.text(given, "_id", "id") or f"@{place.start}"
        nodes.append(TreeNode(id_, parent, place, value))
    return conversation_of(
        nodes,
        read_message,
        id=fields.word(about, "id", limit=200),
        title=fields.text(about, "title"),
        leaf=fields.text(about, "leaf_response_id"),
        beside=[Event("conversation", place.record) for place in _about(members)],
    )


def _about(members: dict[str, ByteSpan]) -> Iterator[ByteSpan]:
    if "conversation" in members:
        yield members["conversation"]


def read_message(value: dict[str, Any], record: str) -> list[Message]:
    """The message of a response; none if it says nothing."""
    given = fields.mapping(value, "response")
    is_human = fields.text(given, "sender").lower() in ("human", "user")
    parts = tuple(_parts(given))
    if not parts:
        return []
    return [
        Message(
            role=Role.USER if is_human else Role.ASSISTANT,
            parts=parts,
            model=None if is_human else fields.word(given, "model") or None,
            source_id=fields.word(given, "_id", "id") or None,
            created_at=fields.moment(_time(given.get("create_time"))),
            records=(record,),
            partial=given.get("partial") is True,
        )
    ]


def _parts(given: dict[str, Any]) -> Iterator[Part]:
    if words := fields.text(given, "thinking_trace"):
        yield Thinking(words)
    for trace in fields.items(given, "agent_thinking_traces"):
        if words := fields.text(trace, "thinking_trace"):
            yield Thinking(words)
    if words := fields.text(given, "message", "query", "error"):
        yield Text(words)
    for url in fields.items(given, "generated_image_urls"):
        if isinstance(url, str) and url:
            yield Image("image/*", url=url)
    for name in _BESIDE:
        held = given.get(name)
        if isinstance(held, list) and held:
            yield Opaque(name, {"type": name, name: held})


def _time(value: JSON) -> JSON:
    """A time, unwrapped from the database's form if necessary."""
    held = fields.mapping(value).get("$date", value)
    number = fields.text(held, "$numberLong")
    if number.isascii() and number.isdigit() and len(number) <= _MAX_TIME_DIGITS:
        return int(number)
    return held


def _score(sample: Sample) -> float:
    for row in [*sample.rows, *fields.items(sample.object, "conversations")]:
        told = fields.mapping(row)
        responses = fields.items(told, "responses")
        if "conversation" in told and any(
            "response" in fields.mapping(r) for r in responses
        ):
            return 0.95
    return 0


FORMAT = ExportFormat(
    name="grok_com",
    label="a grok.com conversation",
    score=_score,
    index=_index,
    untitled="Grok conversation",
    strategy="openai",
).format
