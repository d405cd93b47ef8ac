"""An import as its page shows it: see `templates/threads/imports/report.html`."""

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from threads.domain import formats
from threads.models import Import, Source

OUTCOMES = {
    "created": "new session",
    "appended": "added to a session",
    "branched": "branch of a session",
    "known": "already imported",
    "joined": "merged with another file",
    "sidecar": "no messages",
    "other": "not a transcript",
    "failed": "could not be read",
}
"""What became of a file, in words."""
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
    "proposed": "as a proposal, because it cuts through a fold",
    "left": "kept as a record",
}
MOST_EVENTS = 15
"""Types of events that are listed by name."""
_ARTICLE = re.compile(r"^(an?|the) ")


@dataclass(frozen=True, slots=True)
class Found:
    """A line of the table: so many records of a kind, and what they became."""

    kind: str
    records: int
    became: str
    count: int
    is_event: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownImport:
    """An import in the list."""

    id: uuid.UUID
    name: str
    when: datetime
    size: int
    formats: str
    files: int
    sessions: int
    messages: int
    left: int
    warnings: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownReport:
    """What an import came to, in numbers."""

    formats: str
    files: int
    sessions: int
    messages: int
    events: int
    added: int
    found: list[Found]
    parts: list[tuple[int, str]]
    outcomes: list[tuple[str, str, int]]
    warnings: list[Mapping[str, Any]]
    more_warnings: int
    secrets: list[Mapping[str, Any]] | None
    """Sessions with `proposed` redactions; None before anybody looked for secrets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFile:
    """A file of an import, or one conversation in it."""

    name: str
    size: int
    format: str
    outcome: str
    words: str
    reason: str
    session_id: uuid.UUID | None
    title: str
    messages: int
    added: int
    warnings: int


def label_of(format_: str) -> str:
    """A format's name for people."""
    for known in formats.KNOWN:
        if known.name == format_:
            return _ARTICLE.sub("", known.label)
    return format_


def shown_import(row: Import) -> ShownImport:
    """A row of the list of imports."""
    report = row.report
    return ShownImport(
        id=row.pk,
        name=row.name or "Pasted text",
        when=row.created_at,
        size=row.size,
        formats=_formats(report),
        files=report.get("files", 0),
        sessions=report.get("sessions", 0),
        messages=_total(report, "messages"),
        left=sum(_left(report).values()),
        warnings=_total(report, "codes"),
    )


def shown_report(row: Import) -> ShownReport:
    """The numbers of an import."""
    report = row.report
    warnings = report.get("warnings", [])
    parts = report.get("parts", {})
    return ShownReport(
        formats=_formats(report),
        files=report.get("files", 0),
        sessions=report.get("sessions", 0),
        messages=_total(report, "messages"),
        events=_total(report, "events"),
        added=report.get("added", 0),
        found=_found(report),
        parts=[
            (parts[kind], words[parts[kind] != 1])
            for kind, words in PARTS.items()
            if parts.get(kind)
        ],
        outcomes=[
            (name, words, report["outcomes"][name])
            for name, words in OUTCOMES.items()
            if report.get("outcomes", {}).get(name)
        ],
        warnings=warnings,
        more_warnings=_total(report, "codes") - len(warnings),
        secrets=report.get("secrets"),
    )


def shown_file(source: Source) -> ShownFile:
    """A row of the files."""
    session, report = source.session, source.report
    if session is not None and session.deleted_at is not None:
        session = None
    return ShownFile(
        name=source.name or "Pasted text",
        size=source.size,
        format=label_of(source.format),
        outcome=source.outcome,
        words=OUTCOMES.get(source.outcome, source.outcome),
        reason=report.get("reason", ""),
        session_id=session.pk if session else None,
        title=session.title if session else "",
        messages=_total(report, "messages"),
        added=report.get("added", 0),
        warnings=_total(report, "codes"),
    )


def _found(report: Mapping[str, Any]) -> list[Found]:
    """Records by kind, messages first, then compactions, then the other records."""
    records, messages = report.get("records", {}), report.get("messages", {})
    found = [
        Found(role, records.get(role, count), _plural(count, "message"), count)
        for role in ROLES
        if (count := messages.get(role, 0))
    ]
    for word, count in report.get("compactions", {}).items():
        found.append(Found("compaction", count, COMPACTIONS.get(word, word), count))
    events = report.get("events", {})
    listed = sorted(events.items(), key=lambda pair: -pair[1])
    found += [
        Found(kind, count, "kept as events", count, is_event=True)
        for kind, count in listed[:MOST_EVENTS]
    ]
    if rest := sum(count for _, count in listed[MOST_EVENTS:]):
        kinds = f"{len(listed) - MOST_EVENTS:,} other types"
        found.append(Found(kinds, rest, "kept as events", rest, is_event=True))
    return found


def _plural(count: int, word: str) -> str:
    return word if count == 1 else f"{word}s"


def _formats(report: Mapping[str, Any]) -> str:
    return ", ".join(label_of(name) for name in report.get("formats", {}))


def _left(report: Mapping[str, Any]) -> dict[str, int]:
    outcomes = report.get("outcomes", {})
    return {name: outcomes.get(name, 0) for name in ("sidecar", "other", "failed")}


def _total(report: Mapping[str, Any], counter: str) -> int:
    return sum(report.get(counter, {}).values())
