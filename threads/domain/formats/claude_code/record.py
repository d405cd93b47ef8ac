"""What one line of Claude Code's is: a message and what it says, or which kind of event.

The same records come as a session file (`sessionId`, `parentUuid`) and as the output of
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
SPAWNS = frozenset({"Task", "Agent"})
"""The tools that begin a sub-agent, in their old name and the new one."""
_MARKS = (
    ("isCompactSummary", "compact_summary"),
    ("isApiErrorMessage", "api_error"),
    ("is_api_error_message", "api_error"),
    ("isVirtual", "virtual"),
)
"""What makes a user's or assistant's line no message: the tool didn't send it as one."""
_ANSWER = record_graph.MESSAGE | record_graph.ANSWER | record_graph.SPINE
_CARRIED = record_graph.MESSAGE | record_graph.CARRIED | record_graph.SPINE
_TAKEN = (
    *("retractedMessageUuids", "retracted_message_uuids"),
    *("supersedesUuids", "supersedes"),
)
"""Members that name lines whose answer was taken back."""
_BEGUN = ("agentId", "runId")
"""Members of a result that name a sub-agent, or a workflow's run."""
_MAX_TYPE = 64
CONTENT = ("message", "content")
MessageLine = tuple[tuple[Part, ...], bool, str | None, str | None, Usage | None]
"""The parts, whether they are the model's, their id, the model's name and its tokens."""


class Spawn(NamedTuple):
    """A call that begins a sub-agent: its id, what the agent is asked, what it is for."""

    call_id: str
    prompt: str
    description: str


class KeptLines(NamedTuple):
    """What a compaction left in the context, by the ids of its lines."""

    ids: tuple[str, ...]
    head: str
    tail: str
    anchor: str
    """The id of the summary, where it is named."""


NOTHING_KEPT = KeptLines((), "", "", "")


def classify(record: JSON) -> tuple[str, int, str]:
    """What a record is called as an event, its flags in the graph, and the call it answers."""
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
    """Of a user's line that answers no call: whether it is what a person said."""
    if record.get("isMeta") is True or record.get("isSynthetic") is True:
        return record_graph.CARRIED if record.get("sourceToolUseID") else 0
    return 0 if MACHINE_TEXT.match(words(record["message"])) else record_graph.WORDS


def _event_name(record: dict[str, Any]) -> str:
    """The type of a record that is no message, with what it says it is in detail."""
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
    """The text of a user's message, wherever in its content it stands."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    texts = (fields.text(block, "text") for block in fields.items(message, "content"))
    return fields.first(text for text in texts if not MACHINE_TEXT.match(text))


def spawns(message: dict[str, Any]) -> list[Spawn]:
    """The calls of a message that begin sub-agents."""
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
    """The sub-agent, or the run of several, whose result a user's line brings, if it is noted."""
    noted = record.get("toolUseResult")
    if not isinstance(noted, dict) or noted.keys().isdisjoint(_BEGUN):
        return ""
    return fields.word(noted, *_BEGUN, limit=64)


def read(record: dict[str, Any]) -> MessageLine:
    """What a message's line says. Raises Invalid at what is malformed."""
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
    """A content whose results name their calls; where one doesn't, the line itself does."""
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
    """What the lines of one message say: the first who it is, the last the tokens."""
    _, is_answer, id_, model, _ = lines[0]
    parts = tuple([part for line in lines for part in line[0]])
    usages = [line[4] for line in lines if line[4]]
    return parts, is_answer, id_, model, usages[-1] if usages else None


def kept_by(record: dict[str, Any]) -> KeptLines:
    """What a `compact_boundary` says was left in the context."""
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
    """The lines that a line takes out of the context, by their ids.

    Those of a snip, and what a model had said before it refused: another answered in its place.
    """
    about = _member(record, "snipMetadata", "snip_metadata")
    snipped = _ids(about, "removedUuids", "removed_uuids")
    return snipped or _ids(record, *_TAKEN)


def _member(record: dict[str, Any], *names: str) -> dict[str, Any]:
    """The first of these members that is an object with anything in it."""
    found = (fields.mapping(record, name) for name in names)
    return next(filter(None, found), {})


def _ids(record: dict[str, Any], *names: str) -> tuple[str, ...]:
    """The texts in the first of these members that is a list with anything in it."""
    found = (fields.items(record, name) for name in names)
    return tuple(id_ for id_ in next(filter(None, found), []) if isinstance(id_, str))


def score(sample: Sample) -> float:
    """A record of its own types, or one in its graph, that has a `sessionId`.

    Less for messages of its shape alone, as scrubbed files have them; nothing for those of
    Qwen Code, which has the same graph.
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
    """Whether a record is a message of Qwen Code's: Gemini's parts in Claude Code's graph."""
    message = fields.mapping(record, "message")
    return "parts" in message and "content" not in message and "sessionId" in record


def _is_message(record: JSON) -> bool:
    message = fields.mapping(record, "message")
    is_said = isinstance(message.get("content"), str | list)
    return is_said and fields.text(record, "type") in ("user", "assistant")
