"""Imports in the words of the public contract."""

from typing import Any

from threads.models import Import, Source

from . import Imported


def present_import(imported: Imported) -> dict[str, Any]:
    """What an import answers, at once or as the result of its job."""
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
