"""Imports as the public API presents them, and the schemas for that."""

import uuid
from typing import Any

from pydantic import BaseModel, Field

from threads.models import Import, Source

from .reports import shown_import
from .running.outcome import Imported


class ImportedSession(BaseModel):
    """A session into which a file was imported."""

    id: uuid.UUID
    title: str
    message_count: int
    format: str


class ImportWarning(BaseModel):
    """Something in a file that was not imported as it is."""

    code: str
    detail: str
    line: int | None
    """The line in the file, counted from 1."""


class ImportOut(BaseModel):
    """The result of an import."""

    sessions: list[ImportedSession]
    """The sessions that were created or continued."""
    warnings: list[ImportWarning]
    warning_count: int = Field(
        description="How many warnings there are; `warnings` lists the first of them."
    )
    import_id: uuid.UUID


class ImportedFile(BaseModel):
    """A file of an import, or one conversation in it."""

    name: str
    size: int
    sha256: str
    format: str
    outcome: str
    """What became of it, such as `created` or `known`; empty while it is being imported."""
    session_id: uuid.UUID | None
    session_title: str | None
    report: dict[str, Any]


class ImportRow(BaseModel):
    """An import, with its counts in `report`."""

    id: uuid.UUID
    project: str
    name: str
    size: int
    sha256: str
    """Hash of the uploaded file; empty for a folder."""
    created_by: str
    created_at: str
    report: dict[str, Any]


class ImportPage(BaseModel):
    """Some imports, newest first."""

    items: list[ImportRow]
    next_cursor: str | None


class ImportReport(ImportRow):
    """An import with some of its files."""

    files: list[ImportedFile]
    next_cursor: str | None


class JobStarted(BaseModel):
    """The job that does the work: see `GET /api/jobs/{job_id}`."""

    job_id: uuid.UUID


def present_import(imported: Imported) -> dict[str, Any]:
    """The response of an import, immediate or as the result of its job."""
    return {
        "sessions": [
            {
                "id": str(session.pk),
                "title": session.title,
                "message_count": session.message_count,
                "format": session.format,
            }
            for session in imported.sessions
        ],
        "warnings": [
            {"code": warning.code, "detail": warning.message, "line": warning.line}
            for warning in imported.warnings
        ],
        "warning_count": shown_import(imported.row).warnings,
        "import_id": str(imported.row.pk),
    }


def present_import_row(row: Import) -> dict[str, Any]:
    return {
        "id": str(row.pk),
        "project": row.project.slug,
        "name": row.name,
        "size": row.size,
        "sha256": row.sha256,
        "created_by": row.created_by,
        "created_at": row.created_at.isoformat(),
        "report": row.report,
    }


def present_file(source: Source) -> dict[str, Any]:
    session = source.session
    if session is not None and session.deleted_at is not None:
        session = None
    return {
        "name": source.name,
        "size": source.size,
        "sha256": source.sha256,
        "format": source.format,
        "outcome": source.outcome,
        "session_id": str(session.pk) if session else None,
        "session_title": session.title if session else None,
        "report": source.report,
    }
