"""An import as its page shows it: see `templates/threads/imports/report.html`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from threads.domain import formats
from threads.models import Import, Session, Source
from threads.store.origins import REPEATED

from .running.outcome import EARLIER, FileOutcome

OUTCOMES: dict[str, str] = dict(FileOutcome.choices)
"""The outcomes of files, in words."""
LEFT_OUT = (FileOutcome.SIDECAR, FileOutcome.OTHER, FileOutcome.FAILED)
"""The outcomes of files that yielded no conversation."""
ROLES = ("system", "developer", "user", "assistant", "tool")
PARTS = {
    "tool_call": ("call", "calls"),
    "tool_result": ("result", "results"),
    "thinking": ("thinking", "thinking"),
    "image": ("image", "images"),
    "file": ("file", "files"),
    "opaque": ("other block", "other blocks"),
}
COMPACTIONS = {
    "digest": "as a digest",
    "revise": "as a revise",
    "snip": "as a snip",
    "proposed": "as a proposal, because it cuts through a fold",
    "left": "kept as a record",
}
MAX_EVENTS = 15
"""The types of events that are listed by name."""
_ARTICLE = re.compile(r"^(an?|the) ")


@dataclass(frozen=True, slots=True)
class RecordLine:
    """A line of the table: the number of records of a kind, and what they became."""

    kind: str
    records: int
    became: str
    count: int
    is_event: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownImport:
    """The result of an import, in numbers."""

    row: Import
    formats: str
    files: int
    sessions: int
    messages: int
    events: int
    added: int
    left: int
    """Files that yielded no conversation."""
    is_known: bool
    """Whether all files with conversations had been imported before."""
    found: list[RecordLine]
    parts: list[tuple[int, str]]
    outcomes: list[tuple[str, str, int]]
    warnings: int
    more_warnings: int
    """Warnings that were only counted; the others are kept with their text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFile:
    """A file of an import, or one conversation in it."""

    source: Source
    format: str
    words: str
    """What became of the file."""
    session: Session | None
    """The session with its messages, unless deleted."""
    messages: int
    warnings: int
    earlier: Import | None
    """The import that read the file before, if it still exists."""
    repeated: list[Session]
    """Branches of the session whose messages it holds as well since this import."""


def label_of(format_: str) -> str:
    for known in formats.ALL_FORMATS:
        if known.name == format_:
            return _ARTICLE.sub("", known.label)
    return format_


def shown_import(row: Import) -> ShownImport:
    """The numbers of an import, for its row in the list and for its page."""
    report = row.report
    outcomes, parts = report.get("outcomes", {}), report.get("parts", {})
    warnings = _total(report, "codes")
    return ShownImport(
        row=row,
        formats=", ".join(label_of(name) for name in report.get("formats", {})),
        files=report.get("files", 0),
        sessions=report.get("sessions", 0),
        messages=_total(report, "messages"),
        events=_total(report, "events"),
        added=report.get("added", 0),
        left=sum(outcomes.get(name, 0) for name in LEFT_OUT),
        is_known=FileOutcome.KNOWN in outcomes
        and outcomes.keys() <= {FileOutcome.KNOWN, *LEFT_OUT},
        found=_record_lines(report),
        parts=[
            (parts[kind], words[parts[kind] != 1])
            for kind, words in PARTS.items()
            if parts.get(kind)
        ],
        outcomes=[
            (name, words, outcomes[name])
            for name, words in OUTCOMES.items()
            if outcomes.get(name)
        ],
        warnings=warnings,
        more_warnings=warnings - len(report.get("warnings", [])),
    )


def summary_line(row: Import) -> str:
    """The result of an import in one line."""
    shown = shown_import(row)
    sessions = f"{shown.sessions:,} session{'' if shown.sessions == 1 else 's'}"
    left = f"{shown.left:,} file{'' if shown.left == 1 else 's'} left out"
    warnings = f"{shown.warnings:,} warning{'' if shown.warnings == 1 else 's'}"
    told = [sessions, left if shown.left else "", warnings if shown.warnings else ""]
    return ", ".join(filter(None, told))


def shown_files(sources: Sequence[Source]) -> list[ShownFile]:
    """Files of an import, for its page."""
    earlier = {source.report.get(EARLIER) for source in sources} - {None}
    imports = {str(row.pk): row for row in Import.objects.filter(pk__in=earlier)}
    repeated = {pk for source in sources for pk in source.report.get(REPEATED, ())}
    branches = Session.objects.filter(pk__in=repeated, deleted_at=None)
    titled = {str(one.pk): one for one in branches} if repeated else {}
    return [
        _shown_file(
            source,
            imports.get(source.report.get(EARLIER, "")),
            [titled[pk] for pk in source.report.get(REPEATED, ()) if pk in titled],
        )
        for source in sources
    ]


def _shown_file(
    source: Source, earlier: Import | None, repeated: list[Session]
) -> ShownFile:
    session = source.session
    return ShownFile(
        source=source,
        format=label_of(source.format),
        words=OUTCOMES.get(source.outcome, source.outcome),
        session=session if session and session.deleted_at is None else None,
        messages=_total(source.report, "messages"),
        warnings=_total(source.report, "codes"),
        earlier=earlier,
        repeated=repeated,
    )


def _record_lines(report: Mapping[str, Any]) -> list[RecordLine]:
    """Records by kind, messages first, then compactions, then the other records."""
    records, messages = report.get("records", {}), report.get("messages", {})
    found = [
        RecordLine(
            role,
            records.get(role, count),
            "message" if count == 1 else "messages",
            count,
        )
        for role in ROLES
        if (count := messages.get(role, 0))
    ]
    for word, count in report.get("compactions", {}).items():
        found.append(
            RecordLine("compaction", count, COMPACTIONS.get(word, word), count)
        )
    events = report.get("events", {})
    listed = sorted(events.items(), key=lambda pair: -pair[1])
    found += [
        RecordLine(kind, count, "kept as events", count, is_event=True)
        for kind, count in listed[:MAX_EVENTS]
    ]
    if rest := sum(count for _, count in listed[MAX_EVENTS:]):
        kinds = f"{len(listed) - MAX_EVENTS:,} other types"
        found.append(RecordLine(kinds, rest, "kept as events", rest, is_event=True))
    return found


def _total(report: Mapping[str, Any], counter: str) -> int:
    return sum(report.get(counter, {}).values())
