"""Claude Code's sessions as stored on disk: one file each, with sub-agents in other files.

A session is `<session>.jsonl`, with `<session>/subagents/agent-<id>.jsonl` (in workflows a level
deeper) and its `agent-<id>.meta.json`; older versions put `agent-<id>.jsonl` beside the session.
Other files in `<session>/` become events of it. A session that was resumed into a new file repeats
the messages that it continues: the file that had them first is its parent.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.io import fields, json_text
from threads.domain.formats.io.folder import Folder, Gathered, Member
from threads.domain.formats.kit.items import Item
from threads.domain.formats.sample import HEAD, Sample
from threads.domain.transcript import Event, Parent, Relation, Transcript

from . import conversations
from . import record as claude_record
from .index import SessionIndex
from .notes import ConversationNotes, link_agents
from .record import Spawn

AGENT = "agent-"
META = ".meta.json"
WORKFLOWS = "workflows"
MAX_META_BYTES = 1 << 20
"""The most bytes read of a `.meta.json`."""


def gather(folder: Folder) -> list[Gathered]:
    """The sessions that consist of several files; single-file sessions are left for `read`."""
    files = [found for one in folder.named(".jsonl") if (found := _inspect(one))]
    families = _families(folder, files)
    resumed = _resumed([family.session for family in families if family.session])
    gathered = []
    for family in families:
        name = family.session.member.name if family.session else ""
        if family.agents or family.rest or name in resumed:
            told = family.transcripts(resumed.get(name))
            gathered.append(Gathered(told, frozenset(family.names())))
    return [one for one in gathered if one.transcripts]


@dataclass(slots=True)
class SessionFile:
    """A session file, what its beginning tells, and the conversations read from it."""

    member: Member
    session_id: str = ""
    first_id: str = ""
    is_agent: bool = False
    meta: dict[str, Any] = field(default_factory=dict)
    """The contents of the `.meta.json` beside a sub-agent's file."""
    notes: ConversationNotes = field(default_factory=ConversationNotes)
    transcripts: list[Transcript] = field(default_factory=list)

    @property
    def stem(self) -> str:
        """The file's name without its folder and suffix."""
        return PurePosixPath(self.member.name).stem

    @property
    def run(self) -> str:
        """The workflow run that a sub-agent's file belongs to; empty if none."""
        folder = PurePosixPath(self.member.name).parent
        return folder.name if folder.parent.name == WORKFLOWS else ""

    @property
    def meta_name(self) -> str:
        """The name of the `.meta.json` beside a sub-agent's file."""
        return self.member.name.removesuffix(".jsonl") + META


@dataclass(slots=True)
class SessionFiles:
    """A session with the files of its sub-agents, and its other files."""

    session: SessionFile | None
    agents: list[SessionFile] = field(default_factory=list)
    rest: dict[str, Member] = field(default_factory=dict)
    _spawned: dict[str, tuple[str, Spawn]] = field(default_factory=dict)
    """Map of call id to the conversation that called a sub-agent, and the call."""
    _results: dict[str, str] = field(default_factory=dict)
    """Map of a sub-agent's id to the call that it answered."""

    def names(self) -> Iterator[str]:
        """The names of all its files."""
        if self.session:
            yield self.session.member.name
        yield from (one.member.name for one in self.agents)
        yield from self.rest

    def transcripts(self, parent: Parent | None) -> list[Transcript]:
        """The session's conversations, the first with `parent`; then those of its sub-agents."""
        own: list[Transcript] = []
        if self.session:
            self._read(self.session)
            own = self.session.transcripts
        for agent in self.agents:
            self._read(agent)
        self._find_calls()
        if own and parent:
            own[0] = replace(own[0], parent=parent)
        spoken = [agent for agent in self.agents if agent.transcripts]
        whole = own + [one for agent in spoken for one in self._linked(agent)]
        metas = {agent.meta_name for agent in spoken}
        events = tuple(
            _event(member) for name, member in self.rest.items() if name not in metas
        )
        if whole and events:
            whole[0] = replace(whole[0], items=ItemsWithEvents(whole[0].items, events))
        return whole

    def _read(self, file: SessionFile) -> None:
        """Read the conversations of a file, each of which opens the file when it is iterated."""
        with file.member.open() as stream:
            index = SessionIndex(stream, is_told=False)
            file.notes = index.notes[0]
            if not file.notes.message_count:
                return
            for call_id, (group, spawn) in index.spawned.items():
                caller = index.external_id(group, file.stem)
                self._spawned[call_id] = caller, spawn
            self._results |= index.results
            found = conversations.transcripts(
                index, file.stem, file.member.open, keep=False
            )
            name = file.member.name
            file.transcripts = [replace(one, member=name) for one in found]

    def _find_calls(self) -> None:
        """Find each sub-agent's call, by its `.meta.json`, by the result, else by the prompt."""
        answered = {}
        for agent in self.agents:
            agent.meta = _read_meta(self.rest.get(agent.meta_name))
            notes = agent.notes
            notes.agent_id = notes.agent_id or agent.stem.removeprefix(AGENT)
            notes.call_id = fields.word(agent.meta, "toolUseId")
            call_id = self._results.get(notes.agent_id) or self._results.get(agent.run)
            if not notes.call_id and call_id:
                answered[notes.agent_id] = call_id
        link_agents([one.notes for one in self.agents], answered, self._spawned)

    def _linked(self, agent: SessionFile) -> list[Transcript]:
        """A sub-agent's conversations, with its call and its `.meta.json` as an event."""
        first, *others = agent.transcripts
        parent, call_id = first.parent, agent.notes.call_id
        caller, spawn = self._spawned.get(call_id, ("", None))
        title = spawn.description if spawn else ""
        title = title or fields.one_line(fields.text(agent.meta, "description"))
        owner = self.session.transcripts[:1] if self.session else []
        known = owner[0].external_id if owner else parent and parent.external_id
        caller = caller or known or ""
        if caller and caller != first.external_id:
            parent = Parent(
                external_id=caller, relation=Relation.SUBAGENT, call_id=call_id or None
            )
        meta = self.rest.get(agent.meta_name)
        items = ItemsWithEvents(first.items, (_event(meta),)) if meta else first.items
        title = title or first.title
        return [replace(first, title=title, items=items, parent=parent), *others]


@dataclass(frozen=True, slots=True)
class ItemsWithEvents:
    """The items of a conversation, and events from other files."""

    items: Iterable[Item]
    events: tuple[Event, ...]

    def __iter__(self) -> Iterator[Item]:
        yield from self.items
        yield from self.events


def _inspect(member: Member) -> SessionFile | None:
    """The session file, judged by its beginning; None if it isn't a Claude Code session."""
    with member.open() as stream:
        sample = Sample(stream.read(HEAD), member.name)
    if not claude_record.score(sample):
        return None
    found = SessionFile(member)
    graph = [one for one in sample.records if one.get("uuid") and one.get("type")]
    found.is_agent = bool(graph) and all(
        one.get("isSidechain") is True for one in graph
    )
    for record in sample.records:
        found.session_id = found.session_id or fields.word(record, "sessionId")
        if record.get("type") in ("user", "assistant"):
            found.first_id = found.first_id or fields.word(record, "uuid")
    return found


def _families(folder: Folder, files: list[SessionFile]) -> list[SessionFiles]:
    """Each session with the files in its folder, and each agent with its session."""
    sessions = {
        one.member.name.removesuffix(".jsonl"): SessionFiles(one)
        for one in files
        if not one.is_agent
    }
    by_id = {PurePosixPath(place).name: family for place, family in sessions.items()}
    read = {one.member.name for one in files}
    orphans: dict[str, SessionFiles] = {}
    for one in files:
        if one.is_agent:
            family = _owner(one.member.name, sessions) or by_id.get(one.session_id)
            family = family or orphans.setdefault(one.session_id, SessionFiles(None))
            family.agents.append(one)
    families = [*sessions.values(), *orphans.values()]
    metas = {one.meta_name: family for family in families for one in family.agents}
    for name, member in folder.members.items():
        owner = metas.get(name) or _owner(name, sessions)
        if owner and name not in read:
            owner.rest[name] = member
    return families


def _owner(name: str, sessions: dict[str, SessionFiles]) -> SessionFiles | None:
    """The session whose folder contains a file."""
    for place in PurePosixPath(name).parents:
        if family := sessions.get(str(place)):
            return family
    return None


def _resumed(sessions: list[SessionFile]) -> dict[str, Parent | None]:
    """Map of file name to parent, for sessions that begin with the same message as another.

    The parent is the earlier session that shares most messages, with their number; None for the
    first session.
    """
    alike: dict[str, list[SessionFile]] = {}
    for session in sessions:
        if session.first_id:
            alike.setdefault(session.first_id, []).append(session)
    found: dict[str, Parent | None] = {}
    for group in alike.values():
        if len(group) > 1:
            found.update(_lines_of_descent(group))
    return found


def _lines_of_descent(group: list[SessionFile]) -> Iterator[tuple[str, Parent | None]]:
    seen: list[tuple[str, list[str]]] = []
    indexed = [(one, *_message_ids(one)) for one in group]
    indexed.sort(
        key=lambda one: (one[0].session_id != one[0].stem, one[3], one[0].stem)
    )
    for one, external_id, ids, _ in indexed:
        parent = None
        common = [
            (_common(ids, theirs), name, len(theirs))
            for name, theirs in seen
            if name != external_id
        ]
        at, name, length = max(common, key=lambda one: one[0], default=(0, "", 0))
        if at:
            relation = Relation.CONTINUATION if at == length else Relation.BRANCH
            parent = Parent(external_id=name, relation=relation, at=at)
        yield one.member.name, parent
        if external_id:
            seen.append((external_id, ids))


def _message_ids(file: SessionFile) -> tuple[str, list[str], float]:
    """A session's id, the ids of its messages in order, and the time of its last line."""
    with file.member.open() as stream:
        index = SessionIndex(stream, is_told=False)
        return (
            index.external_id(0, file.stem),
            conversations.message_ids(index),
            index.lines.last_stamp,
        )


def _common(one: list[str], other: list[str]) -> int:
    """The length of the common prefix of two lists."""
    pairs = enumerate(zip(one, other, strict=False))
    return next(
        (n for n, (mine, theirs) in pairs if mine != theirs), min(len(one), len(other))
    )


def _read_meta(member: Member | None) -> dict[str, Any]:
    """The contents of a `.meta.json`; empty if it can't be read."""
    if member is None:
        return {}
    try:
        with member.open() as stream:
            return fields.mapping(json_text.parse(stream.read(MAX_META_BYTES)))
    except Invalid:
        return {}


def _event(member: Member) -> Event:
    """An event for a file that belongs to a session but isn't a transcript."""
    name = PurePosixPath(member.name).name
    return Event(f"file/{name}", f"{member.name}#bytes:0-{member.size}")
