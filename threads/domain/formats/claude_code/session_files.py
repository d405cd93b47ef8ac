"""A session of Claude Code with the files of its sub-agents: who called whom."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.io import fields, json_text
from threads.domain.formats.io.folder import Member
from threads.domain.formats.kit.items import Item
from threads.domain.transcript import Event, Parent, Relation, Transcript

from . import session_transcripts as claude_transcripts
from .index import SessionIndex
from .notes import ConversationNotes

AGENT = "agent-"
META = ".meta.json"
MOST_META = 1 << 20
"""Bytes of a `.meta.json` that are read."""


@dataclass(slots=True)
class SessionFile:
    """A session file, and what its beginning says."""

    member: Member
    session_id: str = ""
    first_id: str = ""
    is_agent: bool = False

    @property
    def stem(self) -> str:
        """The file's name without its folder and suffix."""
        return PurePosixPath(self.member.name).stem

    @property
    def meta_name(self) -> str:
        """The name of what is noted beside a sub-agent's file."""
        return self.member.name.removesuffix(".jsonl") + META


@dataclass(slots=True)
class SessionFiles:
    """A session with the files of its sub-agents, and what else belongs to it."""

    session: SessionFile | None
    agents: list[SessionFile] = field(default_factory=list)
    rest: list[Member] = field(default_factory=list)

    def names(self) -> Iterator[str]:
        """The names of all its files."""
        if self.session:
            yield self.session.member.name
        yield from (one.member.name for one in self.agents)
        yield from (one.name for one in self.rest)


def transcripts(family: SessionFiles, parent: Parent | None) -> list[Transcript]:
    """The session's conversations, `parent` the first one's, then those of its sub-agents."""
    telling = _FamilyReader(family)
    return telling.told(parent)


@dataclass(frozen=True, slots=True)
class With:
    """The items of a conversation, and events that lie in other files."""

    items: Iterable[Item]
    events: tuple[Event, ...]

    def __iter__(self) -> Iterator[Item]:
        yield from self.items
        yield from self.events


@dataclass(slots=True)
class _Told:
    """The conversations of one file, and what names the call of the first."""

    file: SessionFile
    transcripts: list[Transcript]
    notes: ConversationNotes
    meta: dict[str, Any] = field(default_factory=dict)
    call_id: str = ""


class _FamilyReader:
    """The conversations of one family."""

    def __init__(self, family: SessionFiles) -> None:
        self._family = family
        self._rest = {one.name: one for one in family.rest}
        self._callers: dict[str, str] = {}
        self._results: dict[str, str] = {}
        self._prompts: dict[str, str] = {}
        self._descriptions: dict[str, str] = {}

    def told(self, parent: Parent | None) -> list[Transcript]:
        """All conversations, each sub-agent's with the call that began it."""
        session = self._family.session
        own = self._read(session).transcripts if session else []
        agents = [self._read(one) for one in self._family.agents]
        self._find_calls(agents)
        found = [one for told in agents for one in self._linked(told)]
        if own and parent:
            own[0] = replace(own[0], parent=parent)
        whole = own + found
        events = tuple(_event(member) for member in self._rest.values())
        if whole and events:
            whole[0] = replace(whole[0], items=With(whole[0].items, events))
        return whole

    def _read(self, file: SessionFile) -> _Told:
        """The conversations of a file, each of which opens it when it is read."""
        with file.member.open() as stream:
            index = SessionIndex(stream, is_told=False)
            notes = index.notes[0]
            if not notes.message_count:
                return _Told(file, [], notes)
            for call_id, (group, spawn) in index.spawned.items():
                self._callers[call_id] = index.external_id(group, file.stem)
                self._prompts[call_id] = spawn.prompt
                self._descriptions[call_id] = spawn.description
            self._results |= index.results
            opener = file.member.open
            found = claude_transcripts.transcripts(index, file.stem, opener, keep=False)
            name = file.member.name
            return _Told(file, [replace(one, member=name) for one in found], notes)

    def _find_calls(self, agents: list[_Told]) -> None:
        """By what is noted beside the file, by the result, else by what was asked."""
        for told in agents:
            told.meta = _read_meta(self._rest.get(told.file.meta_name))
            agent_id = told.notes.agent_id or told.file.stem.removeprefix(AGENT)
            told.call_id = fields.word(told.meta, "toolUseId")
            told.call_id = told.call_id or self._results.get(agent_id, "")
        taken = {told.call_id for told in agents}
        asked: dict[str, list[str]] = {}
        for call_id, prompt in reversed(self._prompts.items()):
            if call_id not in taken:
                asked.setdefault(prompt, []).append(call_id)
        for told in agents:
            if not told.call_id and asked.get(told.notes.prompt):
                told.call_id = asked[told.notes.prompt].pop()

    def _linked(self, told: _Told) -> list[Transcript]:
        """A sub-agent's conversations, with its call and what is noted beside it."""
        if not told.transcripts:
            return []
        first, *others = told.transcripts
        meta = self._rest.pop(told.file.meta_name, None)
        title = self._descriptions.get(told.call_id) or fields.one_line(
            fields.text(told.meta, "description")
        )
        caller = self._callers.get(told.call_id)
        if not caller and first.parent:
            caller = first.parent.external_id
        parent = first.parent
        if caller and caller != first.external_id:
            call_id = told.call_id or None
            parent = Parent(
                external_id=caller, relation=Relation.SUBAGENT, call_id=call_id
            )
        items = With(first.items, (_event(meta),)) if meta else first.items
        title = title or first.title
        return [replace(first, title=title, items=items, parent=parent), *others]


def _read_meta(member: Member | None) -> dict[str, Any]:
    """What is noted beside a sub-agent's file; nothing where that can't be read."""
    if member is None:
        return {}
    try:
        with member.open() as stream:
            return fields.mapping(json_text.parse(stream.read(MOST_META)))
    except Invalid:
        return {}


def _event(member: Member) -> Event:
    """A file that belongs to a session and is no transcript."""
    name = PurePosixPath(member.name).name
    return Event(f"file/{name}", f"{member.name}#bytes:0-{member.size}")
