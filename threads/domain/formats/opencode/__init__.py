"""opencode's sessions: its export, its database, and the tree of files of before 1.2.

Source: packages/opencode/src of sst/opencode: `cli/cmd/export.ts`, `session/session.sql.ts`,
`storage/json-migration.ts`.
"""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from threads.domain.formats.format import Format
from threads.domain.formats.io import fields, json_file
from threads.domain.formats.io.folder import Folder, Gathered
from threads.domain.formats.io.json_file import Element, Members
from threads.domain.formats.io.source import BROKEN, ByteSpan
from threads.domain.formats.kit.items import Item
from threads.domain.formats.kit.transcripts import at_least_one
from threads.domain.formats.sample import Sample
from threads.domain.transcript import Event, Transcript, Warning

from .database import transcripts
from .folder import databases, trees
from .parts import Located, SessionTurn
from .session import LABEL, NAME, transcript
from .turns import Turns

SQLITE = b"SQLite format 3\0"
_TABLES = tuple(
    re.compile(rb"CREATE TABLE [`\"'\[]?%b\b" % name)
    for name in (b"session", b"message", b"part")
)


@dataclass(frozen=True, slots=True)
class Export:
    """The turns of an exported session."""

    file: BinaryIO
    members: Members
    given: list[Warning] = field(default_factory=list)
    """What was found before the items are read."""
    warnings: list[Warning] = field(default_factory=list)

    def __iter__(self) -> Iterator[Item]:
        self.warnings[:] = self.given
        info = json_file.get(self.file, self.members, "info")
        turns = Turns(fields.mapping(info).get("revert"))
        if "messages" in self.members:
            span = self.members["messages"]
            for piece in json_file.named_elements(
                self.file, span, ("messages",), self.warnings
            ):
                yield from self._take(piece, turns)
        yield from turns.end()

    def _take(self, piece: Element, turns: Turns) -> Iterator[Item]:
        if piece.value is BROKEN or not isinstance(piece.value, dict):
            yield Event("unreadable", piece.span.record)
            return
        parts = fields.items(piece.value, "parts")
        located = [
            Located(fields.mapping(part), span.record)
            for part, span in zip(parts, self._spans(piece.span), strict=False)
        ]
        info = fields.mapping(piece.value, "info")
        yield from turns.take(SessionTurn(info, located, piece.span.record))

    def _spans(self, span: ByteSpan) -> Iterator[ByteSpan]:
        """The places of a message's parts."""
        self.file.seek(span.start)
        inner = io.BytesIO(self.file.read(span.end - span.start))
        found = json_file.places(inner, json_file.whole(inner), [])
        if "parts" in found:
            for child in json_file.children(inner, found["parts"].start, []):
                yield ByteSpan(
                    span.start + child.span.start, span.start + child.span.end
                )


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The sessions of an export or a database. Raises Invalid where none holds a message."""
    file.seek(0)
    if file.read(len(SQLITE)) == SQLITE:
        found = transcripts(file)
        skipped: list[Warning] = []
    else:
        skipped = []
        found = list(_exports(file, skipped))
    return at_least_one(found, skipped, LABEL)


def _exports(file: BinaryIO, skipped: list[Warning]) -> Iterator[Transcript]:
    for span in json_file.documents(file, skipped):
        warnings: list[Warning] = []
        members = json_file.places(file, span, warnings)
        items = Export(file, members, given=warnings)
        info = fields.mapping(json_file.get(file, members, "info"))
        if found := transcript(info, items, items.warnings):
            yield found
        else:
            skipped.extend(items.warnings)


def gather(folder: Folder) -> list[Gathered]:
    """Databases with their logs, and the sessions of a tree of files."""
    return [*databases(folder), *trees(folder)]


def _score(sample: Sample) -> float:
    """0.95 for its tables, its export, or a database of its name."""
    if sample.head.startswith(SQLITE):
        has_tables = all(pattern.search(sample.head) for pattern in _TABLES)
        return 0.95 if has_tables or "opencode" in sample.name.lower() else 0
    row = sample.object or next(iter(sample.rows), {})
    first = fields.mapping(next(iter(fields.items(row, "messages")), None))
    is_session = fields.text(fields.mapping(row, "info"), "id").startswith("ses_")
    return 0.95 if is_session or ("parts" in first and "info" in first) else 0


FORMAT = Format(NAME, LABEL, _score, read, gather=gather)
FORMATS = (FORMAT,)
