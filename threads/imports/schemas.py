"""What the API answers of imports."""

import uuid
from typing import Any

from pydantic import BaseModel


class ImportedSession(BaseModel):
    """A session that a file came to."""

    id: uuid.UUID
    title: str
    message_count: int
    format: str


class ImportWarning(BaseModel):
    """A part of a file that was not read as it stands; `line` counts from 1."""

    code: str
    detail: str
    line: int | None


class ImportOut(BaseModel):
    """What an import came to."""

    sessions: list[ImportedSession]
    warnings: list[ImportWarning]
    import_id: uuid.UUID


class ImportedFile(BaseModel):
    """A file of an import, or one conversation in it."""

    name: str
    size: int
    sha256: str
    format: str
    outcome: str
    session_id: uuid.UUID | None
    session_title: str | None
    report: dict[str, Any]


class ImportRow(BaseModel):
    """An import; `report` counts what was found, and what it became."""

    id: uuid.UUID
    project: str
    name: str
    size: int
    sha256: str
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
    """The job that goes on with the work: ask `GET /api/jobs/{job_id}`."""

    job_id: uuid.UUID
