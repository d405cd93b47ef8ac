"""Classifies the lines of a Claude Code session, in a first pass over the file."""

from functools import cached_property
from typing import Any, BinaryIO

from threads.domain.formats.io import fields, windows
from threads.domain.formats.io.source import BROKEN, ByteSpan
from threads.domain.formats.kit.graph import record_graph
from threads.domain.formats.kit.graph.record_branches import GraphBranches
from threads.domain.part import JSON
from threads.domain.transcript import Warning

from . import record as claude_record
from .leaf import SessionLeaf
from .lines import SessionLines
from .notes import CONTINUED, TITLES, ConversationNotes, link_agents
from .record import BOUNDARY, CLEARING, SUMMARY, KeptLines, Spawn

MAX_KEPT = 2000
"""The most lines that a compaction kept, followed from the last one up to the first."""
_NAMING = frozenset(TITLES[:3])
"""Types of records that name the session."""
MAX_AGENTS = 1000
"""The most sub-agents of one file that become sessions; lines of others are events."""


class SessionIndex:
    """The lines of a file, their places in the graph, and notes about its conversations."""

    def __init__(self, file: BinaryIO, *, is_told: bool = True) -> None:
        """`is_told`: whether the messages will be read soon and in order."""
        self.lines = SessionLines(file, is_told=is_told)
        self.graph = record_graph.RecordGraph()
        self.warnings: list[Warning] = []
        self.notes = [ConversationNotes()]
        """Indexed by the group in the graph."""
        self.boundaries: dict[int, KeptLines] = {}
        self.cleared: dict[int, tuple[str, ...]] = {}
        self.taken: dict[int, tuple[str, ...]] = {}
        """Map of line to the ids of the lines that it removed from the context."""
        self.summaries: dict[int, int] = {}
        """Map of each compaction's summary to its boundary, or -1 if it has none."""
        self.spawned: dict[str, tuple[int, Spawn]] = {}
        """Map of call id to the group in which a sub-agent was called, and the call."""
        self.results: dict[str, str] = {}
        """Map of a sub-agent's id to the call that it answered."""
        self.session_ids: dict[str, None] = {}
        self._session_id = ""
        self._groups: dict[str, int] = {}
        self._last_boundary: dict[int, int] = {}
        self._anchors: set[str] = set()
        self._repeated = ""
        self._left = 0
        """The number of records of sub-agents beyond the limit."""
        self._leaves: dict[str, str] = {}
        self._leaf = SessionLeaf()
        self._read_lines(file)
        self.graph.forget_names()
        self.is_agent = not self.notes[0].message_count and len(self.notes) > 1
        if self.is_agent:
            self._take_first_agent_for_thread()
        self.graph.loosen(
            {group for group, notes in enumerate(self.notes) if not notes.message_count}
        )
        link_agents(self.notes[1:], self.results, self.spawned)
        for leaf, words in self._leaves.items():
            if leaf in self.graph:
                self.notes[0].titles["summary"] = words

    def _read_lines(self, file: BinaryIO) -> None:
        add, warnings = self._add, self.warnings
        for number, start, end, value in windows.records(file):
            if value is BROKEN:
                span = ByteSpan(start, end)
                value = windows.read_again(file, number, span, warnings)
            add(number, start, end, value)
        if self._left:
            words = (
                f"Only the first {MAX_AGENTS:,} sub-agents became sessions: records of the others"
                f" ({self._left:,}) are kept as events."
            )
            warnings.append(Warning("agents_left", words))

    def _take_first_agent_for_thread(self) -> None:
        """Make the sub-agent the thread, in a file whose thread says nothing itself."""
        titles = self.notes[0].titles
        self.notes[0] = self.notes[1]
        self.notes[0].titles.update(titles)
        count = sum(one.message_count for one in self.notes[1:])
        self.notes[0].message_count = count
        del self.notes[1:]
        self.graph.join_groups()
        self.spawned = {id_: (0, spawn) for id_, (_, spawn) in self.spawned.items()}

    @cached_property
    def branches(self) -> GraphBranches:
        """The conversations, as lines in order."""
        return self._leaf.branches(self.graph)

    def kept_by(self, boundary: int) -> list[int]:
        """The lines that a compaction kept in the context.

        They are listed, or are the chain from the tail up to the head; empty if that is broken.
        """
        kept = self.boundaries.get(boundary, claude_record.NOTHING_KEPT)
        if kept.ids:
            return [self.graph.find(id_) for id_ in kept.ids if id_ in self.graph]
        head, number = self.graph.find(kept.head), self.graph.find(kept.tail)
        lines = [number]
        while number not in (head, record_graph.NOBODY) and len(lines) < MAX_KEPT:
            number = self.graph.parent(number)
            lines.append(number)
        return lines if head != record_graph.NOBODY and number == head else []

    def session_id(self, stem: str) -> str:
        """The file's own session: the one it is named after, else the first it mentions."""
        return stem if stem in self.session_ids else next(iter(self.session_ids), "")

    def external_id(self, group: int, stem: str) -> str:
        """The id of a conversation: the session's, followed by a sub-agent's name if it is one."""
        session_id, notes = self.session_id(stem), self.notes[group]
        named = stem.removeprefix("agent-") if stem.startswith("agent-") else ""
        name = (
            notes.agent_id
            or notes.call_id
            or (self.is_agent and named)
            or notes.first_id
        )
        if not session_id or not name or not (group or self.is_agent):
            return "" if group else session_id
        return f"{session_id}/agent-{name}"

    def _add(self, line: int, start: int, end: int, record: JSON) -> None:
        record = claude_record.spoken(record)
        type_, flags, answers = claude_record.classify(record)
        known: dict[str, Any] = record if type(record) is dict else {}
        id_, parent = known.get("uuid"), known.get("parentUuid")
        if not parent or type(parent) is not str or parent == self._repeated:
            parent = self._other_parent(known, type_)
        if not isinstance(id_, str):
            id_ = ""
        turn, group = "", 0
        if id_ and self.graph.find(id_) != record_graph.NOBODY:
            self._repeated, id_ = id_, ""
            type_, flags = f"duplicate/{type_}", record_graph.LOOSE
        elif not flags & record_graph.LOOSE:
            self._repeated = ""
            if known.get("isSidechain") or known.get("parent_tool_use_id"):
                group = self._group(known, parent)
        if group > MAX_AGENTS:
            type_, flags, group = f"sidechain/{type_}", record_graph.LOOSE, 0
            self._left += 1
        if "isSynthetic" in known and self._is_summary(known, type_):
            type_, flags = SUMMARY, record_graph.SPINE
        if flags & record_graph.MESSAGE:
            turn = self._note_message(known, type_, flags, group, answers)
        else:
            answers = ""
            if not flags & record_graph.LOOSE:
                self._note_compaction(known, type_, group)
        self.lines.add(line, start, end, type_, known.get("timestamp"))
        self._name(known, type_)
        self.graph.add(id_, parent, flags, turn, answers, group)

    def _note_message(
        self, record: dict[str, Any], type_: str, flags: int, group: int, answers: str
    ) -> str:
        """Note what a message tells about its conversation; returns the id of an answer."""
        message = record["message"]
        self.lines.hold(record)
        self.notes[group].note_message(type_, flags, record)
        if flags & record_graph.ANSWER:
            if "supersedesUuids" in record or "supersedes" in record:
                self.taken[len(self.graph.flags)] = claude_record.taken_by(record)
            for spawn in claude_record.spawns(message):
                self.spawned.setdefault(spawn.call_id, (group, spawn))
            turn = message.get("id")
            return turn if type(turn) is str else ""
        if flags & record_graph.CARRIED and (
            agent_id := claude_record.agent_of_result(record)
        ):
            self.results.setdefault(agent_id, answers)
        return ""

    def _other_parent(self, record: dict[str, Any], type_: str) -> str:
        """The parent of a line whose `parentUuid` is missing or can't be used as it is.

        Some versions write the history again after itself, and give the tool's next line a parent
        in the repetition: that line is treated as if it named no parent. So is a compaction that
        names a line that it kept and that is written after it.
        """
        parent = record.get("parentUuid")
        if not parent or not isinstance(parent, str):
            parent = fields.text(record, "logicalParentUuid")
            if type_ == BOUNDARY and parent not in self.graph:
                return ""
        repeats = parent == self._repeated and type_.startswith("system/")
        return "" if repeats else parent

    def _group(self, record: dict[str, Any], parent: str) -> int:
        """The group of the sub-agent that a line belongs to, if it isn't the thread's."""
        call_id = fields.word(record, "parent_tool_use_id")
        agent_id = fields.word(record, "agentId", limit=64)
        key = call_id or agent_id
        if key in self._groups:
            return self._groups[key]
        if not key and parent and len(self.notes) > 1:
            before = self.graph.find(parent)
            group = self.graph.groups[before] if before >= 0 else 0
            return group or len(self.notes) - 1
        if len(self.notes) > MAX_AGENTS:
            return MAX_AGENTS + 1
        self.notes.append(ConversationNotes(agent_id=agent_id, call_id=call_id))
        if key:
            self._groups[key] = len(self.notes) - 1
        return len(self.notes) - 1

    def _note_compaction(self, record: dict[str, Any], type_: str, group: int) -> None:
        number = len(self.graph)
        if type_ == BOUNDARY:
            kept = self.boundaries[number] = claude_record.kept_by(record)
            self._anchors.update({kept.anchor} - {""})
            self._last_boundary[group] = number
        elif type_ == CLEARING:
            self.cleared[number] = claude_record.cleared_by(record)
        elif type_ == SUMMARY:
            self.summaries[number] = self._last_boundary.get(group, -1)
            self.notes[group].count_message(record)
        elif taken := claude_record.taken_by(record):
            self.taken[number] = taken

    def _is_summary(self, record: dict[str, Any], type_: str) -> bool:
        """Whether a synthetic message of a stream, which marks no summaries, is a summary."""
        return type_ == "user" and (
            fields.word(record, "uuid") in self._anchors
            or claude_record.words(record["message"]).startswith(CONTINUED)
        )

    def _name(self, record: dict[str, Any], type_: str) -> None:
        """Note what a line tells about the session: its id, where it continues, its title."""
        session_id = record.get("sessionId") or record.get("session_id")
        if session_id != self._session_id:
            self._session_id = fields.word(record, "sessionId", "session_id")
            if self._session_id:
                self.session_ids.setdefault(self._session_id)
        if self._leaf.begins_anew(type_, record):
            self.graph.begin_at(len(self.graph))
        if type_ in _NAMING:  # the last title of each kind counts
            title = fields.text(record, "customTitle", "aiTitle", "summary")
            words = fields.one_line(title)
            if words and type_ == "summary":
                self._leaves[fields.text(record, "leafUuid")] = words
            elif words:
                self.notes[0].titles[type_] = words
