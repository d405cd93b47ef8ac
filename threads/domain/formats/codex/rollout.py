"""The lines of a Codex rollout, and what is known about it before its items are read.

Lines are envelopes, or bare items after a header; the first pass parses only a few of them. It also
finds what was rolled back, like Codex's own reader: a rollback drops the newest turns, each from
its user message on, with the context that Codex inserted just before that, except before the first
turn.
"""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import InitVar, dataclass, field
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.io import fields, json_text, source, windows
from threads.domain.part import JSON
from threads.domain.transcript import Parent, Relation

REQUEST = "## My request for Codex:"
"""The heading that an editor's extension puts before the typed text."""
TITLE_WITHIN = 400
"""How many lines are searched for a message that titles the conversation."""
BRANCHES = 50
"""The most branches of a rollout that become conversations; older ones are only events."""
MAX_ROLLBACKS = 1000
"""The most rollbacks for which branches are distinguished."""
Range = tuple[int, int]
"""Line numbers, the end exclusive."""
_TELLING = re.compile(b'"t(?:urn_context|hread_(?:name_updated|rolled_back))"')
"""Types of records that tell something about the whole rollout, wherever they are."""


CONTEXT = re.compile(
    r"\s*(# AGENTS\.md instructions|<(user_instructions|environment_context|instructions"
    r"|permissions instructions|skills?|user_shell_command|turn_aborted|hook_prompt"
    r"|subagent_notification|codex_internal_context|goal_context|recommended_plugins"
    r"|collaboration_mode|multi_agent_mode|personality_spec|model_switch|context_window"
    r"|external_|skills_instructions|realtime_conversation|rollout_budget|token_budget))",
    re.IGNORECASE,
)
"""How texts begin that Codex itself inserted as a user or developer message."""
DELIVERED = "codex:code-mode-delivery:"
"""How the mark of an answer begins that is in the file for earlier versions of Codex only."""


class Record(NamedTuple):
    """A line of a rollout: its kind, its payload, and the payload's type.

    Since September 2025 it is an envelope; before, a bare item after one header line.
    """

    kind: str
    payload: dict[str, Any]
    type: str


def name_of(kind: str, type_: str) -> str:
    """The type of a record as an event."""
    if kind == "response_item" or kind == "event_msg":
        return f"{kind}/{type_ or 'message'}"
    return kind


def opened(value: JSON) -> tuple[str, dict[str, Any], str]:
    """The members of the line's `Record`, in half the time that creating one takes.

    A bare item reads as if it had an envelope.
    """
    record = value if type(value) is dict else {}
    payload = record.get("payload")
    if type(payload) is dict:
        kind, type_ = record.get("type"), payload.get("type")
        if "metadata" in record and is_repeated(fields.mapping(record, "metadata")):
            kind = "retained_context"
        return (
            kind if kind and type(kind) is str else "record",
            payload,
            type_ if type(type_) is str else "",
        )
    if "record_type" in record:
        return fields.text(record, "record_type") or "record", record, ""
    if "type" in record or "role" in record:
        return "response_item", record, fields.text(record, "type")
    return "session_meta" if "id" in record else "record", record, ""


def is_repeated(metadata: dict[str, Any]) -> bool:
    """Whether an item repeats what a tool delivered, and is no item of the conversation.

    The tool's result names its text in the same member, without the mark.
    """
    delivered = fields.text(metadata, "delivered_assistant_message")
    return delivered.startswith(DELIVERED)


def is_typed(payload: dict[str, Any]) -> bool:
    """Whether a user message was typed: no text in it was inserted by Codex."""
    return not any(CONTEXT.match(text) for text in texts_of(payload))


def parse_record(data: bytes) -> Record | None:
    """The record of a line; None if it can't be read."""
    try:
        return Record(*opened(json_text.parse(data)))
    except Invalid:
        return None


def texts_of(payload: dict[str, Any]) -> list[str]:
    """The texts of a message's content."""
    content = payload.get("content")
    if isinstance(content, str):
        return [content]
    return [fields.text(block, "text") for block in fields.items(payload, "content")]


class HistoryBase(NamedTuple):
    """The part of another rollout that a rollout continues."""

    rollout: str
    """The id of the other file; also its thread's id, unless it is itself a continuation."""
    end: int
    """The ordinal of the first record that does not belong to that part."""


class Rollback(NamedTuple):
    """The lines of an abandoned branch, and the lines that it had itself rolled back by then."""

    start: int
    end: int
    """The line of the record that rolls it back."""
    offset: int
    """The byte offset of its first line."""
    left: tuple[Range, ...]


@dataclass(slots=True)
class RolloutIndex:
    """A rollout's id, title, model and parent, and which of its lines were rolled back."""

    file: InitVar[BinaryIO]
    external_id: str = ""
    title: str = ""
    model: str = ""
    parent: Parent | None = None
    rolled_back: tuple[Range, ...] = ()
    """Lines that are not in the thread."""
    branches: list[Rollback] = field(default_factory=list)
    """The newest branches that were rolled back."""
    left: int = 0
    """The number of older ones."""
    base: HistoryBase | None = None
    """The part of another file that it continues, if any."""
    _names: dict[str, str] = field(default_factory=dict)
    _is_begun: bool = False

    def __post_init__(self, file: BinaryIO) -> None:
        for line in islice(source.lines(file), TITLE_WITHIN):
            if self._tells(line.number, line.data or b""):
                self._note_record(parse_record(line.data or b""))
            if self._is_begun and "user_message" in self._names:
                break
        has_rollback = False
        for data in lines_with(file, _TELLING):
            record = parse_record(data)
            self._note_record(record)
            has_rollback |= bool(record and record.type == "thread_rolled_back")
        names = ("name", "user_message", "message", "context")
        self.title = fields.first(self._names.get(name, "") for name in names)
        if has_rollback:
            found = Rollbacks()
            self.branches = list(deque(found.read(file), maxlen=BRANCHES))
            self.left = found.count - len(self.branches)
            self.rolled_back = tuple(found.ranges)

    def _tells(self, number: int, data: bytes) -> bool:
        """Whether a line at the top may tell something about the whole rollout."""
        if not self._is_begun and (number == 1 or b'"session_meta"' in data):
            return True
        is_named = "user_message" in self._names
        return not is_named and (b'"user_message"' in data or b'"user"' in data)

    def _note_record(self, record: Record | None) -> None:
        if record is None:
            return
        payload = record.payload
        if record.kind == "session_meta" and not self._is_begun:
            self._is_begun = True
            self.external_id = fields.word(payload, "id", limit=255)
            self.parent = parent_of(payload)
            self.base = base_of(payload)
        elif record.kind == "turn_context":
            self.model = fields.word(payload, "model") or self.model
        elif record.type == "thread_name_updated":
            self._name("name", fields.text(payload, "thread_name", "name"), last=True)
        elif record.type == "user_message":
            self._name("user_message", fields.text(payload, "message"))
        elif record.kind == "response_item" and payload.get("role") == "user":
            words = fields.first(text.strip() for text in texts_of(payload))
            self._name("context" if CONTEXT.match(words) else "message", words)

    def _name(self, kind: str, words: str, *, last: bool = False) -> None:
        before, _, typed = words.partition(REQUEST)
        name = fields.one_line(typed or before)
        if name and (last or kind not in self._names):
            self._names[kind] = name


def parent_of(meta: dict[str, Any]) -> Parent | None:
    """The conversation that started this one as a sub-agent, or from which it was forked."""
    spawn = fields.mapping(fields.mapping(meta, "source"), "subagent")
    spawn = fields.mapping(spawn, "thread_spawn") or spawn
    if began := fields.word(spawn, "parent_thread_id", limit=255) or fields.word(
        meta, "parent_thread_id", limit=255
    ):
        return Parent(external_id=began, relation=Relation.SUBAGENT)
    forked = fields.word(meta, "forked_from_id", limit=255)
    base = base_of(meta)
    if forked := forked or (base.rollout if base else ""):
        return Parent(external_id=forked, relation=Relation.BRANCH)
    return None


def base_of(meta: dict[str, Any]) -> HistoryBase | None:
    """The part of another rollout that a rollout continues, according to its header."""
    base = fields.mapping(meta, "history_base")
    if not base:
        return None
    id_ = fields.word(base, "thread_id", limit=255)
    return HistoryBase(id_, fields.count(base, "end_ordinal_exclusive"))


def lines_with(file: BinaryIO, mark: re.Pattern[bytes]) -> Iterator[bytes]:
    """The lines that contain a mark, except lines longer than a chunk.

    Searches whole windows, which is ten times as fast as line by line.
    """
    offset, held = 0, b""
    while True:
        file.seek(offset)
        chunk = file.read(windows.WINDOW)
        offset += len(chunk)
        block = held + chunk + (b"" if chunk else b"\n")
        end = block.rfind(b"\n") + 1
        start = 0
        while found := mark.search(block, start, end):
            start = block.index(b"\n", found.end()) + 1
            yield block[block.rfind(b"\n", 0, found.start()) + 1 : start - 1]
        if not chunk:
            return
        held = block[end:] if len(block) - end <= source.CHUNK else b""


class Rollbacks:
    """Finds the rollbacks of a rollout; `ranges` are the lines that are not in the thread."""

    def __init__(self) -> None:
        self.ranges: list[Range] = []
        self.count = 0
        """The number of rollbacks."""
        self._turns: list[tuple[int, int]] = []
        """Line and offset of the beginning of each turn that wasn't rolled back."""
        self._context: tuple[int, int] | None = None

    def read(self, file: BinaryIO) -> Iterator[Rollback]:
        """The rollbacks of the file, in order."""
        for line in source.lines(file):
            record = parse_record(line.data or b"")
            place = (line.number, line.span.start)
            if record is None or record.kind in ("event_msg", "turn_context"):
                if count := _count(record):
                    yield from self._drop(count, line.number)
            elif _is_context(record):
                self._context = self._context or place
            else:
                if _begins_turn(record):
                    self._turns.append((self._turns and self._context) or place)
                self._context = None

    def _drop(self, count: int, end: int) -> Iterator[Rollback]:
        if not self._turns:
            return
        start, offset = self._turns[max(-count, -len(self._turns))]
        del self._turns[-count:]
        self.count += 1
        if len(self.ranges) < MAX_ROLLBACKS:
            yield Rollback(start, end, offset, tuple(self.ranges))
        while self.ranges and self.ranges[-1][0] >= start:
            self.ranges.pop()
        self.ranges.append((start, end))
        self._context = None


def _count(record: Record | None) -> int:
    """The number of turns that a record rolls back."""
    if record is None or record.type != "thread_rolled_back":
        return 0
    return fields.count(record.payload, "num_turns")


def _is_context(record: Record) -> bool:
    role = record.payload.get("role")
    is_message = record.kind == "response_item" and role in ("user", "developer")
    return is_message and not is_typed(record.payload)


def _begins_turn(record: Record) -> bool:
    """Whether an item was said by a user or another agent."""
    if record.kind == "response_item":
        return record.type == "agent_message" or record.payload.get("role") == "user"
    return record.kind == "inter_agent_communication"
