"""Finds earlier readings of exactly the same bytes, so that a file needn't be read again."""

import uuid
from typing import Any

from contextstudio.accounts.models import Project
from threads.imports.archives import KeptFile
from threads.models import Import, Source
from threads.store.origins import REPEATED

from . import growth
from .candidates import Candidates
from .ingest import UNFINISHED
from .outcome import EARLIER

_OF_THAT_IMPORT = ("brought", REPEATED)
"""The entries of a report that concern the import that read the file, not the file."""


def readings_of(
    one: KeptFile, project: Project, candidates: Candidates
) -> dict[uuid.UUID | None, Source]:
    """Complete earlier readings of these bytes, by the session they went to."""
    if not candidates.is_read(one):
        return {}
    rows = Source.objects.filter(project=project, sha256=one.sha256)
    rows = rows.filter(session__in=candidates.sessions()).exclude(outcome="")
    rows = rows.exclude(report__has_key=growth.HELD)
    rows = rows.exclude(report__has_key=UNFINISHED)
    held: dict[uuid.UUID | None, Source] = {}
    for row in rows.order_by("id"):
        first = held.setdefault(row.session_id, row)
        if not first.report.get("messages"):  # this report doesn't say what was read
            held[row.session_id] = row
    return held


def report_again(earlier: Source, row: Import) -> dict[str, Any]:
    """The report of a file that was read before: as it was then, but with nothing added."""
    report = {**earlier.report, "added": 0}
    for name in _OF_THAT_IMPORT:
        report.pop(name, None)
    if earlier.brought_by_id not in (None, row.pk):
        report.setdefault(EARLIER, str(earlier.brought_by_id))
    return report
