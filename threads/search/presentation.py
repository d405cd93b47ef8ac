"""Matches in the words of the public contract."""

from typing import Any

from threads.models import Session

from .services import SearchResults


def present_found(found: SearchResults) -> dict[str, Any]:
    return {
        "items": [
            {
                **_present_title(match.session),
                "key": match.original.key,
                "index": match.original.row.index,
                "role": match.original.role,
                "excerpt": {
                    "text": match.excerpt.text,
                    "start": match.excerpt.start,
                    "end": match.excerpt.end,
                },
            }
            for match in found.matches
        ],
        "titles": [_present_title(session) for session in found.titles],
        "next_cursor": found.next_cursor,
    }


def _present_title(session: Session) -> dict[str, Any]:
    return {
        "session_id": str(session.pk),
        "project": session.project.slug,
        "title": session.title,
    }
