"""opencode's files that come together: a database with its log, the tree of before 1.2.

The tree holds a file a session, a message and a part: `session/<project>/<id>.json`,
`message/<session>/<id>.json` and `part/<message>/<id>.json`, older ones below `session/`.

Source: packages/opencode/src/storage/json-migration.ts of sst/opencode.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.io import fields, json_file, json_text
from threads.domain.formats.io.folder import Folder, Gathered, Member
from threads.domain.formats.io.source import MAX_PIECE, too_long
from threads.domain.formats.kit.items import Item
from threads.domain.transcript import Warning

from .database import transcripts
from .parts import Located, SessionTurn
from .session import transcript
from .turns import Turns

_SESSION = re.compile(r"(?:^|/)session/[^/]+/(ses_[^/]+)\.json$")
_MESSAGE = re.compile(r"(?:^|/)message/(ses_[^/]+)/(msg_[^/]+)\.json$")
_PART = re.compile(r"(?:^|/)part/(?:ses_[^/]+/)?(msg_[^/]+)/([^/]+)\.json$")
_BESIDE = re.compile(
    r"(?:^|/)(?:project|todo|session_diff|session_share|share|permission)/[^/]+\.json$"
    r"|(?:^|/)storage/migration$"
)
"""Files of the tree that hold nothing of the conversations."""


def databases(folder: Folder) -> Iterator[Gathered]:
    """Databases whose last changes lie in a log beside them."""
    for member in folder.named(".db"):
        log = folder.members.get(f"{member.name}-wal")
        if log is None:
            continue
        try:
            with member.open() as file, log.open() as changes:
                found = transcripts(file, changes, member.name)
        except Invalid:
            continue
        if found:
            names = {f"{member.name}{end}" for end in ("", "-wal", "-shm")}
            yield Gathered(found, frozenset(names & folder.members.keys()))


def trees(folder: Folder) -> Iterator[Gathered]:
    """The sessions of the tree, each with its sub-agents."""
    files = _Files(folder)
    others = {
        name for name in folder.members if files.messages and _BESIDE.search(name)
    }
    for id_ in files.messages:
        if files.parent_of(id_) not in files.messages:
            found, names = [], set(others)
            for inner in files.family(id_):
                one = files.transcript(inner)
                found += [one] if one else []
                names |= files.names(inner)
            if found:
                others = set()
                yield Gathered(found, frozenset(names))


class _Files:
    """The files of the tree, by the ids in their names."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.sessions: dict[str, str] = {}
        self.messages: dict[str, list[str]] = {}
        self.parts: dict[str, list[str]] = {}
        for name in sorted(folder.members):
            if match := _MESSAGE.search(name):
                self.messages.setdefault(match[1], []).append(name)
            elif match := _PART.search(name):
                self.parts.setdefault(match[1], []).append(name)
            elif match := _SESSION.search(name):
                self.sessions[match[1]] = name
        self._infos: dict[str, dict[str, Any]] = {}
        self._calls: dict[str, dict[str, str]] = {}

    def info(self, id_: str) -> dict[str, Any]:
        """What is known of a session; its id alone where its file is not there."""
        if id_ not in self._infos:
            name = self.sessions.get(id_, "")
            read = load(self.folder.members[name], []) if name else {}
            self._infos[id_] = {**read, "id": id_}
        return self._infos[id_]

    def parent_of(self, id_: str) -> str:
        """The session whose sub-agent this one is, or none."""
        return fields.text(self.info(id_), "parentID")

    def family(self, id_: str) -> Iterator[str]:
        """A session and those below it."""
        yield id_
        for child in self.messages:
            if self.parent_of(child) == id_:
                yield from self.family(child)

    def names(self, id_: str) -> set[str]:
        """The names of a session's files."""
        found = {self.sessions[id_]} if id_ in self.sessions else set()
        for name in self.messages[id_]:
            found |= {name, *self.parts_of(name)}
        return found

    def parts_of(self, message: str) -> list[str]:
        """The names of a message's parts, in their order."""
        match = _MESSAGE.search(message)
        return self.parts.get(match[2], []) if match else []

    def transcript(self, id_: str) -> Any:
        """The conversation of a session; None where it holds no message."""
        items = FileTree(self, id_)
        member = self.sessions.get(id_, self.messages[id_][0])
        return transcript(
            self.info(id_), items, items.warnings, call_of=self._call_of, member=member
        )

    def _call_of(self, parent: str, child: str) -> str:
        """The call in a session that began a sub-agent."""
        if parent not in self._calls:
            self._calls[parent] = dict(self._called(parent))
        return self._calls[parent].get(child, "")

    def _called(self, id_: str) -> Iterator[tuple[str, str]]:
        for message in self.messages.get(id_, ()):
            for name in self.parts_of(message):
                part = load(self.folder.members[name], [])
                metadata = fields.mapping(fields.mapping(part, "state"), "metadata")
                if begun := fields.text(metadata, "sessionId", "sessionID"):
                    yield begun, fields.text(part, "callID")


@dataclass(frozen=True)
class FileTree:
    """The turns of a session, a file each, and a file a part."""

    files: _Files
    id: str
    warnings: list[Warning] = field(default_factory=list)

    def __iter__(self) -> Iterator[Item]:
        self.warnings.clear()
        turns = Turns(self.files.info(self.id).get("revert"))
        for name in self.files.messages[self.id]:
            located = [self._located(part) for part in self.files.parts_of(name)]
            info, record = self._located(name)
            match = _MESSAGE.search(name)
            if info and match:
                info = {**info, "id": match[2]}
            yield from turns.take(SessionTurn(info, located, record, is_apart=True))
        yield from turns.end()

    def _located(self, name: str) -> Located:
        member = self.files.folder.members[name]
        return Located(load(member, self.warnings), f"{name}#bytes:0-{member.size}")


def load(member: Member, warnings: list[Warning]) -> dict[str, Any]:
    """The object in a file; an empty one and a warning where it can't be read."""
    try:
        if member.size > MAX_PIECE:
            raise too_long()
        with member.open() as file:
            return fields.mapping(json_text.parse(file.read(MAX_PIECE).strip()))
    except Invalid as error:
        warnings.append(json_file.warning(error, (member.name,)))
        return {}
