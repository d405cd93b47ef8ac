"""Reads one line of Claude Code's: a message with its contents, or a kind of event.

The same records occur in session files (`sessionId`, `parentUuid`) and in the output of
`--output-format stream-json` (`session_id`, no parents); both spellings are read.
"""

from typing import Any, NamedTuple

from threads.domain.formats import blocks
from threads.domain.formats.anthropic import messages as anthropic
from threads.domain.formats.io import fields
from threads.domain.formats.io.source import BROKEN
from threads.domain.formats.kit.graph import record_graph
from threads.domain.formats.kit.transcripts import MACHINE_TEXT
from threads.domain.formats.sample import Sample
from threads.domain.message import Usage
from threads.domain.part import JSON, Part

OWN_TYPES = frozenset(
    {"summary", "file-history-snapshot", "queue-operation", "custom-title", "ai-title"}
    | {"last-prompt", "mode", "pr-link", "frame-link", "attachment", "progress"}
)
"""Types of records that, with a `sessionId`, only Claude Code writes."""
SUMMARY = "user/compact_summary"
BOUNDARY = "system/compact_boundary"
CLEARING = "system/microcompact_boundary"
QUEUED = "queued_command"
"""The type of attachments that hold what was said while the model was working."""
SPAWNS = frozenset({"Task", "Agent"})
"""The tool that starts a sub-agent, by its old and its new name."""
_MARKS = (
    ("isCompactSummary", "compact_summary"),
    ("isApiErrorMessage", "api_error"),
    ("is_api_error_message", "api_error"),
    ("isVirtual", "virtual"),
)
"""Marks of user and assistant lines that are not messages: the tool didn't send them as such."""
_ANSWER = record_graph.MESSAGE | record_graph.ANSWER | record_graph.SPINE
_CARRIED = record_graph.MESSAGE | record_graph.CARRIED | record_graph.SPINE
_TAKEN = (
    *("retractedMessageUuids", "retracted_message_uuids"),
    *("supersedesUuids", "supersedes"),
)
"""Members that name the lines of a retracted answer."""
_BEGUN = ("agentId", "runId")
"""Members of a result that name a sub-agent or a workflow run."""
_MAX_TYPE = 64
CONTENT = ("message", "content")
MessageLine = tuple[tuple[Part, ...], bool, str | None, str | None, Usage | None]
"""The parts, whether they are by the model, their id, the model's name and its tokens."""


class Spawn(NamedTuple):
    """A call that starts a sub-agent: its id, the agent's prompt, and a short description."""

    call_id: str
    prompt: str
    description: str


class KeptLines(NamedTuple):
    """The lines that a compaction kept in the context, by their ids."""

    ids: tuple[str, ...]
    head: str
    tail: str
    anchor: str
    """The id of the summary, if it is named."""


NOTHING_KEPT = KeptLines((), "", "", "")


def spoken(record: JSON) -> JSON:
    """The record; as a user's message if it holds what was said while the model was working.

    Claude Code sends these words with the results of the calls that ran meanwhile, and writes them
    nowhere else.
    """
    if type(record) is not dict or "attachment" not in record:
        return record
    queued = fields.mapping(record, "attachment")
    if fields.text(queued, "type") != QUEUED or not queued.get("prompt"):
        return record
    message = {"role": "user", "content": queued["prompt"]}
    return {**record, "type": "user", "message": message, QUEUED: True}


def classify(record: JSON) -> tuple[str, int, str]:
    """A record's type as an event, its flags in the graph, and the call it answers."""
    if type(record) is not dict:
        return ("unreadable" if record is BROKEN else "record"), record_graph.LOOSE, ""
    type_ = record.get("type")
    if type_ == "assistant" and type(record.get("message")) is dict:
        if mark := _mark(record):
            return f"assistant/{mark}", record_graph.SPINE, ""
        return "assistant", _ANSWER, ""
    if type_ == "user" and type(record.get("message")) is dict:
        if mark := _mark(record):
            return f"user/{mark}", record_graph.SPINE, ""
        if answered := _answers(record["message"]):
            return "user", _CARRIED, answered
        if QUEUED in record:
            return "user", _CARRIED, ""
        return "user", record_graph.MESSAGE | record_graph.SPINE | _speech(record), ""
    name = _event_name(record)
    if not fields.text(record, "uuid"):
        return name, record_graph.LOOSE, ""
    if name == BOUNDARY:
        return name, record_graph.SPINE | record_graph.LEADS, ""
    return name, record_graph.SPINE if type_ in ("system", "attachment") else 0, ""


def _mark(record: dict[str, Any]) -> str:
    for name, mark in _MARKS:
        if name in record and record[name] is True:
            return mark
    return ""


def _speech(record: dict[str, Any]) -> int:
    """The flags of a user line that answers no call: whether a person wrote it."""
    if record.get("isMeta") is True or record.get("isSynthetic") is True:
        return record_graph.CARRIED if record.get("sourceToolUseID") else 0
    return 0 if MACHINE_TEXT.match(words(record["message"])) else record_graph.WORDS


def _event_name(record: dict[str, Any]) -> str:
    """The type of a record that is not a message, with its subtype."""
    detail = (
        fields.text(record, "subtype")
        or fields.text(fields.mapping(record, "attachment"), "type")
        or fields.text(fields.mapping(record, "data"), "type")
        or fields.text(fields.mapping(record, "event"), "type")
    )
    name = fields.text(record, "type") or "record"
    return f"{name}/{detail}"[:_MAX_TYPE] if detail else name[:_MAX_TYPE]


def _answers(message: dict[str, Any]) -> str:
    """The id of the first call that a message answers, if any."""
    content = message.get("content")
    if isinstance(content, list):
        for block in content:
            if type(block) is dict and block.get("type") == "tool_result":
                return fields.text(block, "tool_use_id")
    return ""


def words(message: dict[str, Any]) -> str:
    """The text of a user message, wherever it is in the content."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    texts = (fields.text(block, "text") for block in fields.items(message, "content"))
    return fields.first(text for text in texts if not MACHINE_TEXT.match(text))


def spawns(message: dict[str, Any]) -> list[Spawn]:
    """The calls of a message that start sub-agents."""
    content = message.get("content")
    found = []
    for block in content if isinstance(content, list) else ():
        name = block.get("name") if type(block) is dict else None
        if type(name) is str and name in SPAWNS:
            asked = fields.mapping(block, "input")
            description = fields.one_line(fields.text(asked, "description"))
            call_id = fields.word(block, "id")
            found.append(Spawn(call_id, fields.text(asked, "prompt"), description))
    return found


def agent_of_result(record: dict[str, Any]) -> str:
    """The id of the sub-agent or workflow run whose result a user line has; empty if not noted."""
    noted = record.get("toolUseResult")
    if not isinstance(noted, dict) or noted.keys().isdisjoint(_BEGUN):
        return ""
    return fields.word(noted, *_BEGUN, limit=64)


def read(record: dict[str, Any]) -> MessageLine:
    """The contents of a message's line. Raises Invalid at the place that is malformed."""
    record = spoken(record)
    message = record["message"]
    parts = blocks.read_content(_linked(record, message.get("content")), CONTENT)
    id_ = fields.as_word(message.get("id")) or fields.as_word(record.get("uuid"))
    if record["type"] != "assistant":
        return parts, False, id_ or None, None, None
    usage = anthropic.read_usage(message.get("usage"))
    if usage and not (usage.input_tokens or usage.output_tokens):
        usage = None
    return parts, True, id_ or None, fields.as_word(message.get("model")) or None, usage


def _linked(record: dict[str, Any], content: JSON) -> JSON:
    """The content, with the call id from the line itself added to results that have none."""
    if not isinstance(content, list) or record["type"] != "user":
        return content
    if not any(_is_unlinked(block) for block in content):
        return content
    call_id = fields.text(record, "sourceToolUseID")
    return [
        {**block, "tool_use_id": call_id} if _is_unlinked(block) else block
        for block in content
    ]


def _is_unlinked(block: JSON) -> bool:
    """Whether a block is a result without the id of its call."""
    if type(block) is not dict or block.get("type") != "tool_result":
        return False
    return type(block.get("tool_use_id")) is not str


def joined(lines: list[MessageLine]) -> MessageLine:
    """The combined contents of a message's lines: ids from the first line, tokens from the last."""
    _, is_answer, id_, model, _ = lines[0]
    parts = tuple([part for line in lines for part in line[0]])
    usages = [line[4] for line in lines if line[4]]
    return parts, is_answer, id_, model, usages[-1] if usages else None


def kept_by(record: dict[str, Any]) -> KeptLines:
    """The lines that a `compact_boundary` says were kept in the context."""
    about = _member(record, "compactMetadata", "compact_metadata")
    segment = _member(about, "preservedSegment", "preserved_segment")
    listed = _member(about, "preservedMessages", "preserved_messages")
    return KeptLines(
        _ids(listed, "allUuids", "uuids", "all_uuids"),
        fields.text(segment, "headUuid", "head_uuid"),
        fields.text(segment, "tailUuid", "tail_uuid"),
        fields.text(segment, "anchorUuid", "anchor_uuid"),
    )


def cleared_by(record: dict[str, Any]) -> tuple[str, ...]:
    """The calls whose results a `microcompact_boundary` says were cleared."""
    about = _member(record, "microcompactMetadata", "microcompact_metadata")
    return _ids(about, "compactedToolIds", "compacted_tool_ids")


def taken_by(record: dict[str, Any]) -> tuple[str, ...]:
    """The ids of the lines that a line removes from the context.

    These are the lines of a snip, or those that a model wrote before it refused, when another
    model answered in its place.
    """
    about = _member(record, "snipMetadata", "snip_metadata")
    snipped = _ids(about, "removedUuids", "removed_uuids")
    return snipped or _ids(record, *_TAKEN)


def _member(record: dict[str, Any], *names: str) -> dict[str, Any]:
    """The first of these members that is a non-empty object, else an empty one."""
    found = (fields.mapping(record, name) for name in names)
    return next(filter(None, found), {})


def _ids(record: dict[str, Any], *names: str) -> tuple[str, ...]:
    """The texts in the first of these members that is a non-empty list."""
    found = (fields.items(record, name) for name in names)
    return tuple(id_ for id_ in next(filter(None, found), []) if isinstance(id_, str))


def score(sample: Sample) -> float:
    """By a record with a `sessionId` that has one of its own types, or is in its graph.

    Lower for messages that only have its shape, as in scrubbed files; 0 for Qwen Code, which has
    the same graph.
    """
    if any(is_of_qwen(record) for record in sample.records):
        return 0
    records = [record for record in sample.records if fields.text(record, "sessionId")]
    in_graph = any("parentUuid" in record for record in records)
    if in_graph or any(record.get("type") in OWN_TYPES for record in records):
        return 0.95
    has_summaries = any("leafUuid" in record for record in sample.records)
    if has_summaries:
        return 0.9
    return 0.6 if any(_is_message(record) for record in sample.records) else 0


def is_of_qwen(record: JSON) -> bool:
    """Whether a record is a Qwen Code message: Gemini's parts in Claude Code's graph."""
    message = fields.mapping(record, "message")
    return "parts" in message and "content" not in message and "sessionId" in record


def _is_message(record: JSON) -> bool:
    message = fields.mapping(record, "message")
    is_said = isinstance(message.get("content"), str | list)
    return is_said and fields.text(record, "type") in ("user", "assistant")
