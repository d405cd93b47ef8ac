"""The result of an import, its progress, and its report."""

import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.db.models import TextChoices, UUIDField
from django.utils import timezone

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.domain.storable import storable
from contextstudio.accounts.models import Project
from contextstudio.database.prepared import Param, Prepared
from threads.domain.tally import Tally
from threads.domain.transcript import Warning
from threads.imports.archives import Problem
from threads.imports.upload import FIELD
from threads.models import Import, Session, Source
from threads.sessions.services import clean_title


class FileOutcome(TextChoices):
    """What became of a file, or of one conversation in it, with the label shown on pages."""

    CREATED = "created", "new session"
    APPENDED = "appended", "added to a session"
    REWOUND = "rewound", "went back in a session"  # its thread shows another course
    BRANCHED = "branched", "branch of a session"
    KNOWN = "known", "already imported"  # adds nothing new
    JOINED = "joined", "merged with another file"  # part of another file's conversation
    SIDECAR = "sidecar", "no messages"  # a known file without a conversation of its own
    OTHER = "other", "not a transcript"
    FAILED = "failed", "could not be read"


FILES_IN_A_REFUSAL = 8
"""How many files of an import without messages give a reason; a folder may hold thousands."""
EARLIER = "earlier_import"
"""In the report of a file that was read before: the import that read it. The rest of the report is
that import's."""


class Progress:
    """Reports the progress of an import. `report(done, total, unit)` raises to stop it."""

    def __init__(self, report: Callable[[int, int | None, str], object]) -> None:
        self._report = report
        self._files: tuple[int, int] | None = None
        self._before = 0
        self._messages = 0

    def unpacked(self, size: int) -> None:
        self._report(size // 1_000_000, None, "MB unpacked")

    def files(self, done: int, total: int) -> None:
        self._files = (done, total)
        self._before += self._messages
        self._messages = 0
        self.messages(0)

    def messages(self, recorded: int) -> None:
        self._messages = recorded
        if self._files is not None and self._files[1] > 1:
            self._report(*self._files, "files")
        else:
            self._report(self._before + recorded, None, "messages")


@dataclass(slots=True, kw_only=True)
class Imported:
    """The result of an import. `created` is false if it added nothing or only appended."""

    sessions: list[Session] = field(default_factory=list)
    warnings: list[Warning] = field(default_factory=list)
    created: bool = False
    recorded: int = 0
    """How many messages were added."""
    row: Import
    """The row that holds the report."""


def begin_row(caller: Caller, project: Project, name: str, **facts: Any) -> Import:
    return Import.objects.create(
        project=project,
        name=clean_title(name)[:255],
        created_by=caller.actor,
        # By Python's clock: SQLite's has another format, by which lists can't be paged.
        created_at=timezone.now(),
        **facts,
    )


def imports_staged_by(stage: uuid.UUID) -> list[Import]:
    return _STAGED.rows(stage=stage)


def sessions_of(row: Import) -> list[Session]:
    """The sessions that an import created or added to."""
    return _SESSIONS.rows(row=row.pk)


_STAGED = Prepared(
    lambda: Import.objects.filter(staged_by=Param("stage", UUIDField())).order_by("pk")
)
_SESSIONS = Prepared(
    lambda: Session.objects.filter(
        pk__in=Source.objects.filter(brought_by=Param("row", UUIDField()))
        .exclude(session=None)
        .values("session")
    ).order_by("created_at", "pk")
)


def write_report(row: Import) -> None:
    """Sum up the outcomes of an import's files."""
    tally, outcomes = Tally(), Counter[str]()
    formats_: Counter[str] = Counter()
    names: set[str] = set()
    sessions: set[uuid.UUID | None] = {None}
    added = 0
    are_several = row.sources.values("name").distinct().count() > 1
    rows = row.sources.order_by("pk").values_list(
        "name", "outcome", "format", "session", "report"
    )
    for name, outcome, format_, session, report in rows.iterator(chunk_size=500):
        names.add(name)
        sessions.add(session)
        outcomes[outcome] += 1
        added += report.get("added", 0)
        if format_:
            formats_[format_] += 1
        tally.add(report, name=name if are_several else "")
    row.report = {
        "files": len(names),
        "sessions": len(sessions) - 1,
        "outcomes": dict(outcomes.most_common()),
        "formats": dict(formats_.most_common()),
        "added": added,
        **tally.report(),
    }
    row.save(update_fields=["report"])


def warnings_of(row: Import) -> list[Warning]:
    """The warnings of a written report; each names its file if there are several."""
    return [
        Warning(
            one["code"],
            f"{one['file']}: {one['detail']}" if "file" in one else one["detail"],
            one["line"],
        )
        for one in row.report["warnings"]
    ]


def problem_report(problem: Problem) -> dict[str, Any]:
    """The report of what could not be unpacked: why, also as a warning of its import."""
    tally = Tally()
    tally.warn([Warning(problem.code, problem.sentence)])
    return {
        "reason": storable(problem.sentence),
        "codes": dict(tally.codes),
        "warnings": tally.warnings,
    }


def no_messages_refusal(row: Import) -> Invalid:
    """The refusal of an import without messages; names the first files and their reasons."""
    count, at = row.sources.count(), [FIELD]
    reasons: dict[str, list[str]] = {}
    for one in row.sources.order_by("pk")[:FILES_IN_A_REFUSAL]:
        if reason := one.report.get("reason", ""):
            reasons.setdefault(reason, []).append(one.name)
    if count <= 1:
        sentence = "".join(reasons) or "There is no message in this file."
        at += [name for names in reasons.values() for name in names if name]
    else:
        sentence = " ".join(
            (
                f"There is no message in these {count:,} files.",
                *(f"{', '.join(files)}: {why}" for why, files in reasons.items()),
            )
        )
    return Invalid(sentence, at=at, code="empty")
