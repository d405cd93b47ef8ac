"""How much of the text of an import's files is in messages, in events, and nowhere.

The files are read once more for it: within an import that is small, else by a job. The figures
stand in the import's report, under `text`.
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
MOST_FILES = 1000
"""Files of an import that are counted."""


class ReadFile(NamedTuple):
    """A file as it was read."""

    sha256: str
    format: str
    name: str


Counts = Mapping[ReadFile, LeafCount | None]
"""Of files that were counted; None for what made a conversation with other files only."""


def count_ahead(files: Iterable[ReadFile]) -> Counts:
    """Count the text of a small import before it is recorded."""
    return {one: _count(one) for one in dict.fromkeys(files)}


def count_now(brought: Import, ahead: Counts) -> None:
    """Say in the report of a small import, which is recorded by now, what was counted ahead."""
    brought.report["text"] = _counted(brought, ahead)
    brought.save(update_fields=["report"])


def count_later(caller: Caller, brought: Import) -> None:
    """Have the text of an import counted behind it."""
    enqueue(brought.project, KIND, {"import_id": str(brought.pk)}, caller)


def run_accounting(context: JobContext, import_id: str) -> dict[str, Any]:
    """Count the text of an import's files; the result is what its report says of it."""
    rows = Import.objects.filter(pk=uuid.UUID(import_id), project=context.project)
    brought = rows.first()
    if brought is None:  # it went with its last session
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
    """The sums over the files that conversations were read from, each once."""
    found, files, known = LeafCount(), 0, ahead or {}
    read = brought.sources.exclude(session=None).exclude(format="").order_by("pk")
    rows = read.values_list("sha256", "format", "name")
    for row in dict.fromkeys(rows[:MOST_FILES].iterator()):
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
        return None  # it made a conversation with other files only
