"""Counts how much text of an import's files is in messages, in events, and nowhere.

The files are read a second time for this: within the import if it is small, else by a job. The
figures are stored in the import's report, under `text`.
"""

import uuid
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import DomainError
from contextstudio.accounts.jobs import JobContext, enqueue
from threads import reading
from threads.domain.leaves import LeafCount
from threads.models import Import
from threads.store import blobs

KIND = "account"
MAX_FILES = 1000
"""How many files of an import are counted at most."""


class ReadFile(NamedTuple):
    """A file and the format it was read in."""

    sha256: str
    format: str
    name: str


Counts = Mapping[ReadFile, LeafCount | None]
"""Counts by file; None for a file that only yielded a conversation together with others."""


def count_ahead(files: Iterable[ReadFile]) -> Counts:
    """Count the text of a small import before it is recorded."""
    return {one: _count(one) for one in dict.fromkeys(files)}


def count_now(brought: Import, ahead: Counts) -> None:
    """Store the figures from `count_ahead` in the report of a small import, once it is recorded."""
    brought.report["text"] = _counted(brought, ahead)
    brought.save(update_fields=["report"])


def count_later(caller: Caller, brought: Import) -> None:
    """Enqueue a job that counts the text of an import."""
    enqueue(brought.project, KIND, {"import_id": str(brought.pk)}, caller)


def run_accounting(context: JobContext, import_id: str) -> dict[str, Any]:
    """Count the text of an import's files; the result is also stored in the import's report."""
    rows = Import.objects.filter(pk=uuid.UUID(import_id), project=context.project)
    brought = rows.first()
    if brought is None:  # deleted together with its last session
        return {}
    counted = _counted(brought)

    def note() -> None:
        row = rows.select_for_update().first()
        if row is not None:
            row.report["text"] = counted
            row.save(update_fields=["report"])

    context.on_finish(note)
    return counted


def _counted(brought: Import, ahead: Counts | None = None) -> dict[str, Any]:
    """The sums over the files that conversations were read from, counting each file once."""
    found, files, known = LeafCount(), 0, ahead or {}
    read = brought.sources.exclude(session=None).exclude(format="").order_by("pk")
    rows = read.values_list("sha256", "format", "name")
    for row in dict.fromkeys(rows[:MAX_FILES].iterator()):
        one = ReadFile(*row)
        count = known[one] if one in known else _count(one)
        if count is not None:
            found.join(count)
            files += 1
    return {**found.report(), "files": files}


def _count(one: ReadFile) -> LeafCount | None:
    try:
        return reading.count_leaves(blobs.path_of(one.sha256), one.format, one.name)
    except (DomainError, reading.ReaderFault, OSError):
        return None  # it only yielded a conversation together with other files
