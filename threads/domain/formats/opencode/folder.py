"""opencode's files that come together: a database with its log, the tree of before 1.2.

The tree holds a file a session, a message and a part: `session/<project>/<id>.json`,
`message/<session>/<id>.json` and `part/<message>/<id>.json`, older ones below `session/`.

Source: packages/opencode/src/storage/json-migration.ts of sst/opencode.
"""

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.io import fields, json_file, json_text
from threads.domain.formats.io.folder import Folder, Gathered, Member
from threads.domain.formats.io.source import MAX_PIECE, too_long
from threads.domain.transcript import Transcript, Warning

from .database import transcripts
from .parts import Located, SessionTurn, begun_by
from .session import items_of, transcript

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
        self.messages: dict[str, dict[str, str]] = {}
        """Of each session its messages' files, with the ids of the messages."""
        self.parts: dict[str, list[str]] = {}
        for name in sorted(folder.members):
            if match := _MESSAGE.search(name):
                self.messages.setdefault(match[1], {})[name] = match[2]
            elif match := _PART.search(name):
                self.parts.setdefault(match[1], []).append(name)
            elif match := _SESSION.search(name):
                self.sessions[match[1]] = name
        self._infos: dict[str, dict[str, Any]] = {}
        self._calls: dict[str, dict[str, str]] = {}

    def info(self, id_: str) -> dict[str, Any]:
        """What is known of a session; its id alone where its file is not there."""
        if id_ not in self._infos:
            name = self.sessions.get(id_)
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
        for name, message in self.messages[id_].items():
            found |= {name, *self.parts.get(message, ())}
        return found

    def transcript(self, id_: str) -> Transcript | None:
        """The conversation of a session; None where it holds no message."""
        info = self.info(id_)
        items = items_of(partial(self._turns, id_), info)
        member = self.sessions.get(id_) or next(iter(self.messages[id_]))
        return transcript(info, items, call_of=self._call_of, member=member)

    def _call_of(self, parent: str, child: str) -> str:
        """The call in a session that began a sub-agent."""
        if parent not in self._calls:
            names = (
                name
                for message in self.messages.get(parent, {}).values()
                for name in self.parts.get(message, ())
            )
            parts = [load(self.folder.members[name], []) for name in names]
            self._calls[parent] = {
                begun: fields.text(part, "callID")
                for part in parts
                if (begun := begun_by(part))
            }
        return self._calls[parent].get(child, "")

    def _turns(self, id_: str, warnings: list[Warning]) -> Iterator[SessionTurn]:
        """The turns of a session, a file each, and a file a part."""
        for name, message in self.messages[id_].items():
            parts = self.parts.get(message, ())
            located = [self._located(part, warnings) for part in parts]
            info, record = self._located(name, warnings)
            if info:
                info = {**info, "id": message}
            yield SessionTurn(info, located, record, is_apart=True)

    def _located(self, name: str, warnings: list[Warning]) -> Located:
        member = self.folder.members[name]
        return Located(load(member, warnings), f"{name}#bytes:0-{member.size}")


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
