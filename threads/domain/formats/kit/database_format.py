"""Formats that are SQLite databases, recognised by their tables, with or without a log file."""

import re
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.formats.format import Format
from threads.domain.formats.io import sqlite_file
from threads.domain.formats.io.folder import Folder, Gathered
from threads.domain.formats.io.sqlite_file import SQLITE, SqliteFile
from threads.domain.formats.sample import Sample
from threads.domain.transcript import Transcript

from .transcripts import require_transcripts

Sessions = Callable[[SqliteFile, str], Iterator[Transcript | None]]
"""Returns the conversations of a database, given its file name in the folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseFormat:
    """How one program's database holds conversations."""

    name: str
    label: str
    tables: frozenset[str]
    columns: tuple[bytes, ...] = ()
    """Words in the definitions of its tables, if other programs have tables with the same names."""
    sessions: Sessions
    alone: Callable[[BinaryIO, str], list[Transcript]] | None = None
    """Reads a file of the same program that is not a database."""
    told: Callable[[Sample], float] = field(default=lambda _sample: 0)
    """How sure the format is of such a file."""

    @property
    def format(self) -> Format:
        """This as an entry for the detector."""
        return Format(self.name, self.label, self.score, self.read, gather=self.gather)

    def score(self, sample: Sample) -> float:
        """0.95 if a database has the tables, else 0; other files are scored by `told`."""
        if not sample.head.startswith(SQLITE):
            return self.told(sample)
        has_columns = all(word in sample.head for word in self.columns)
        found = (_definition(name).search(sample.head) for name in self.tables)
        return 0.95 if has_columns and all(found) else 0

    def read(self, file: BinaryIO, name: str) -> list[Transcript]:
        """The conversations of a database. Raises Invalid if none has a message."""
        file.seek(0)
        if self.alone is not None and file.read(len(SQLITE)) != SQLITE:
            return self.alone(file, name)
        return self._held(sqlite_file.open_file(file), "")

    def gather(self, folder: Folder) -> list[Gathered]:
        """Databases whose latest changes are in a write-ahead log beside them."""
        found = []
        for log in folder.named("-wal"):
            stem = log.name.removesuffix("-wal")
            member = folder.members.get(stem)
            if member is None:
                continue
            try:
                with member.open() as file, log.open() as changes:
                    made = self._held(sqlite_file.open_file(file, changes), stem)
            except Invalid:
                continue
            names = {f"{stem}{end}" for end in ("", "-wal", "-shm")}
            found.append(Gathered(made, frozenset(names & folder.members.keys())))
        return found

    def _held(self, database: SqliteFile, member: str) -> list[Transcript]:
        database.require(set(self.tables), f"{self.label}")
        return require_transcripts(self.sessions(database, member), [], self.label)


def rows(
    connection: sqlite3.Connection, query: str, *given: object
) -> Iterator[dict[str, Any]]:
    """The rows of a query, each as a map of column name to value."""
    found = connection.execute(query, given)
    names = [column[0] for column in found.description]
    for row in found:
        yield dict(zip(names, row, strict=True))


def _definition(table: str) -> re.Pattern[bytes]:
    words = rb"CREATE TABLE (?:IF NOT EXISTS )?[`\"'\[]?%b\b" % re.escape(
        table.encode()
    )
    return re.compile(words, re.IGNORECASE)
