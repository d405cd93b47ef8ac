"""How much of the text of an import's files is in messages, in events, and nowhere.

The files are read once more for it, so a job does it behind the import; what is small enough is
counted at once. The figures stand in the import's report, under `text`.
"""

import uuid
from typing import Any

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import DomainError
from contextstudio.accounts.jobs import JobContext, enqueue
from threads import reading
from threads.domain.leaves import LeafCount
from threads.models import Import
from threads.store import blobs

KIND = "account"
AT_ONCE = 200_000
"""Bytes of files that are counted within the import."""
MOST_FILES = 1000
"""Files of an import that are counted."""


def account_for(caller: Caller, brought: Import) -> None:
    """Have the text of an import counted: a hook. A watched folder's has no report."""
    if not brought.report:
        return
    if sum(brought.sources.values_list("size", flat=True)) <= AT_ONCE:
        brought.report["text"] = _counted(brought)
        brought.save(update_fields=["report"])
    else:
        enqueue(brought.project, KIND, {"import_id": str(brought.pk)}, caller)


def run_accounting(context: JobContext, import_id: str) -> dict[str, Any]:
    """Count the text of an import's files; the result is what its report says of it."""
    brought = Import.objects.get(pk=uuid.UUID(import_id), project=context.project)
    counted = _counted(brought)

    def note() -> None:
        row = Import.objects.select_for_update().get(pk=brought.pk)
        row.report["text"] = counted
        row.save(update_fields=["report"])

    context.on_finish(note)
    return counted


def _counted(brought: Import) -> dict[str, Any]:
    """The sums over the files that conversations were read from, each once."""
    found, files = LeafCount(), 0
    read = brought.sources.exclude(session=None).exclude(format="").order_by("pk")
    rows = read.values_list("sha256", "format", "name")
    for sha256, format_, name in dict.fromkeys(rows[:MOST_FILES].iterator()):
        try:
            found.join(reading.count_leaves(blobs.path_of(sha256), format_, name))
        except (DomainError, reading.ReaderFault, OSError):
            continue  # it made a conversation with other files only
        files += 1
    return {**found.report(), "files": files}
