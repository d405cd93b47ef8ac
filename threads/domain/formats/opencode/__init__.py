"""opencode's sessions: its export, its database, and the tree of files of before 1.2.

Source: packages/opencode/src of sst/opencode: `cli/cmd/export.ts`, `session/session.sql.ts`,
`storage/json-migration.ts`.
"""

import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import BinaryIO

from threads.domain.formats.format import Format
from threads.domain.formats.io import fields, json_file
from threads.domain.formats.io.folder import Folder, Gathered
from threads.domain.formats.io.json_file import Members
from threads.domain.formats.io.source import Child
from threads.domain.formats.kit.transcripts import at_least_one
from threads.domain.formats.sample import Sample
from threads.domain.transcript import Event, Transcript, Warning

from .database import transcripts
from .folder import databases, trees
from .parts import Located, SessionTurn
from .session import LABEL, NAME, items_of, transcript

SQLITE = b"SQLite format 3\0"
_TABLES = tuple(
    re.compile(rb"CREATE TABLE [`\"'\[]?%b\b" % name)
    for name in (b"session", b"message", b"part")
)


def read(file: BinaryIO, _name: str) -> list[Transcript]:
    """The sessions of an export or a database. Raises Invalid where none holds a message."""
    file.seek(0)
    skipped: list[Warning] = []
    is_database = file.read(len(SQLITE)) == SQLITE
    found = transcripts(file) if is_database else _exports(file, skipped)
    return at_least_one(found, skipped, LABEL)


def _exports(file: BinaryIO, skipped: list[Warning]) -> Iterator[Transcript]:
    for span in json_file.documents(file, skipped):
        warnings: list[Warning] = []
        members = json_file.places(file, span, warnings)
        info = fields.mapping(json_file.get(file, members, "info"))
        items = items_of(partial(_turns, file, members), info, warnings)
        if found := transcript(info, items):
            yield found
        else:
            skipped.extend(items.warnings)


def _turns(
    file: BinaryIO, members: Members, warnings: list[Warning]
) -> Iterator[SessionTurn | Event]:
    """The turns of an exported session."""
    if "messages" not in members:
        return
    span = members["messages"]
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
