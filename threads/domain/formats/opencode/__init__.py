"""opencode's sessions: its export, its database, and the tree of files used before 1.2.

The tree has one file per session, message and part: `session/<project>/<id>.json`,
`message/<session>/<id>.json` and `part/<message>/<id>.json`, older ones below `session/`.

Source: packages/opencode/src of sst/opencode: `cli/cmd/export.ts`, `session/session.sql.ts`,
`storage/json-migration.ts`; packages/schema/src/session-transfer.ts of anomalyco/opencode.
"""

import re
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any, BinaryIO

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.format import Format
from threads.domain.formats.io import fields, json_file, source
from threads.domain.formats.io.folder import Folder, Gathered, Member
from threads.domain.formats.io.json_file import Members
from threads.domain.formats.io.source import ByteSpan, Child
from threads.domain.formats.io.sqlite_file import SQLITE
from threads.domain.formats.kit.transcripts import require_transcripts
from threads.domain.formats.sample import Sample
from threads.domain.transcript import Event, Transcript, Warning

from .database import TABLES, TABLES_2, databases, transcripts
from .parts import Located, SessionTurn, begun_by
from .run import FORMAT as RUN_FORMAT
from .session import LABEL, NAME, items_of, transcript
from .typed_messages import TypedMessage, typed_items

_TABLES = tuple(
    tuple(re.compile(rb"CREATE TABLE [`\"'\[]?%b\b" % name.encode()) for name in tables)
    for tables in (TABLES, TABLES_2)
)
_SESSION = re.compile(r"(?:^|/)session/[^/]+/(ses_[^/]+)\.json$")
_MESSAGE = re.compile(r"(?:^|/)message/(ses_[^/]+)/(msg_[^/]+)\.json$")
_PART = re.compile(r"(?:^|/)part/(?:ses_[^/]+/)?(msg_[^/]+)/([^/]+)\.json$")
_BESIDE = re.compile(
    r"(?:^|/)(?:project|todo|session_diff|session_share|share|permission)/[^/]+\.json$"
    r"|(?:^|/)storage/migration$"
)
"""Files of the tree without any contents of conversations."""


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The sessions of an export or a database. Raises Invalid if none holds a message."""
    file.seek(0)
    skipped: list[Warning] = []
    is_database = file.read(len(SQLITE)) == SQLITE
    found = transcripts(file) if is_database else _exports(file, skipped)
    return require_transcripts(found, skipped, LABEL)


def _exports(file: BinaryIO, skipped: list[Warning]) -> Iterator[Transcript]:
    for span in json_file.documents(file, skipped):
        warnings: list[Warning] = []
        members = json_file.places(file, span, warnings)
        info = fields.mapping(json_file.get(file, members, "info"))
        if _is_typed(file, members):
            items = typed_items(partial(_typed, file, members), info, warnings)
        else:
            items = items_of(partial(_turns, file, members), info, warnings)
        if found := transcript(info, items):
            yield found
        else:
            skipped.extend(items.warnings)


def _is_typed(file: BinaryIO, members: Members) -> bool:
    """Whether the messages of an export are those of opencode 2."""
    return any(
        isinstance(message, TypedMessage)
        and "type" in message.value
        and "info" not in message.value
        for message in islice(_typed(file, members, []), 1)
    )


def _typed(
    file: BinaryIO, members: Members, warnings: list[Warning]
) -> Iterator[TypedMessage | Event]:
    if (span := members.get("messages")) is None:
        return
    for piece in json_file.named_elements(file, span, ("messages",), warnings):
        if isinstance(piece.value, dict):
            yield TypedMessage(piece.value, piece.span.record)
        else:
            yield Event("unreadable", piece.span.record)


def _turns(
    file: BinaryIO, members: Members, warnings: list[Warning]
) -> Iterator[SessionTurn | Event]:
    if (span := members.get("messages")) is None:
        return
    for piece in json_file.named_elements(file, span, ("messages",), warnings):
        if not isinstance(piece.value, dict):
            yield Event("unreadable", piece.span.record)
            continue
        held = json_file.in_memory(file, piece.span)
        places = json_file.places(held, piece.span, [])
        spans: Iterable[Child] = ()
        if "parts" in places:
            spans = json_file.children(held, places["parts"].start, [])
        located = [
            Located(fields.mapping(part), child.span.record)
            for part, child in zip(
                fields.items(piece.value, "parts"), spans, strict=False
            )
        ]
        info = fields.mapping(piece.value, "info")
        yield SessionTurn(info, located, piece.span.record)


def gather(folder: Folder) -> list[Gathered]:
    """Databases with their write-ahead logs, and the sessions of a tree of files."""
    return [*databases(folder), *_trees(folder)]


def _trees(folder: Folder) -> Iterator[Gathered]:
    """The sessions of a tree of files, each with its sub-agents."""
    files = _Files(folder)
    others = {
        name for name in folder.members if files.messages and _BESIDE.search(name)
    }
    for id_ in files.messages:
        if files.parent_of(id_) not in files.messages:
            family = list(files.family(id_))
            found = [one for one in map(files.transcript, family) if one is not None]
            if found:
                names = others.union(*map(files.names, family))
                others = set()
                yield Gathered(found, frozenset(names))


class _Files:
    """The files of a tree, by the ids in their names."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.sessions: dict[str, str] = {}
        self.messages: dict[str, dict[str, str]] = {}
        """For each session, a map of message file to message id."""
        self.parts: dict[str, list[str]] = {}
        for name in sorted(folder.members):
            if match := _MESSAGE.search(name):
                self.messages.setdefault(match[1], {})[name] = match[2]
            elif match := _PART.search(name):
                self.parts.setdefault(match[1], []).append(name)
            elif match := _SESSION.search(name):
                self.sessions[match[1]] = name
        self._infos: dict[str, dict[str, Any]] = {}
        self._below: dict[str, list[str]] = {}
        """Map of session to the sessions of its sub-agents."""
        self._calls: dict[str, dict[str, str]] = {}
        for id_ in self.messages:
            self._below.setdefault(self.parent_of(id_), []).append(id_)

    def info(self, id_: str) -> dict[str, Any]:
        """The facts about a session; only its id if its file is missing."""
        if id_ not in self._infos:
            name = self.sessions.get(id_)
            read = _object(self.folder.members[name], []) if name else {}
            self._infos[id_] = {**read, "id": id_}
        return self._infos[id_]

    def parent_of(self, id_: str) -> str:
        """The id of the session that this one is a sub-agent of; empty if none."""
        return fields.text(self.info(id_), "parentID")

    def family(self, id_: str) -> Iterator[str]:
        """A session and its descendants."""
        yield id_
        for child in self._below.get(id_, ()):
            yield from self.family(child)

    def names(self, id_: str) -> set[str]:
        """The names of a session's files."""
        found = {self.sessions[id_]} if id_ in self.sessions else set()
        for name, message in self.messages[id_].items():
            found |= {name, *self.parts.get(message, ())}
        return found

    def transcript(self, id_: str) -> Transcript | None:
        """The conversation of a session; None if it holds no message."""
        info = self.info(id_)
        items = items_of(partial(self._turns, id_), info)
        member = self.sessions.get(id_) or next(iter(self.messages[id_]))
        return transcript(info, items, call_of=self._call_of, member=member)

    def _call_of(self, parent: str, child: str) -> str:
        """The id of the call in a session that started a sub-agent."""
        if parent not in self._calls:
            names = (
                name
                for message in self.messages.get(parent, {}).values()
                for name in self.parts.get(message, ())
            )
            parts = [_object(self.folder.members[name], []) for name in names]
            self._calls[parent] = {
                begun: fields.text(part, "callID")
                for part in parts
                if (begun := begun_by(part))
            }
        return self._calls[parent].get(child, "")

    def _turns(self, id_: str, warnings: list[Warning]) -> Iterator[SessionTurn]:
        """The turns of a session, one file each, and one file per part."""
        for name, message in self.messages[id_].items():
            parts = self.parts.get(message, ())
            located = [self._located(part, warnings) for part in parts]
            info, record = self._located(name, warnings)
            if info:
                info = {**info, "id": message}
            yield SessionTurn(info, located, record, is_apart=True)

    def _located(self, name: str, warnings: list[Warning]) -> Located:
        member = self.folder.members[name]
        return Located(_object(member, warnings), f"{name}#bytes:0-{member.size}")


def _object(member: Member, warnings: list[Warning]) -> dict[str, Any]:
    """The object in a file; empty, with a warning, if it can't be read."""
    try:
        with member.open() as file:
            value = source.read_span(file, ByteSpan(0, member.size))
    except Invalid as error:
        warnings.append(json_file.warning(error, (member.name,)))
        return {}
    return fields.mapping(value)


def _score(sample: Sample) -> float:
    """0.95 for its tables, its export, or a database with its name."""
    if sample.head.startswith(SQLITE):
        has_tables = any(
            all(pattern.search(sample.head) for pattern in tables) for tables in _TABLES
        )
        return 0.95 if has_tables or "opencode" in sample.name.lower() else 0
    row = sample.object or next(iter(sample.rows), {})
    first = fields.mapping(next(iter(fields.items(row, "messages")), None))
    is_session = fields.text(fields.mapping(row, "info"), "id").startswith("ses_")
    return 0.95 if is_session or ("parts" in first and "info" in first) else 0


FORMAT = Format(NAME, LABEL, _score, read, gather=gather)
FORMATS = (FORMAT, RUN_FORMAT)
