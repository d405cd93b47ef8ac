"""Sessions and messages as the public contract gives them (DESIGN 6, Messages)."""

from collections.abc import Mapping, Sequence
from typing import Any

from contextstudio.accounts.responses import dump

from . import blobs
from .domain.formats.format import Heading
from .domain.formats.openai_writing import Address, blob_address, write_message
from .domain.message import Message as GivenMessage
from .domain.message import Role, encode_part
from .domain.part import Part
from .fragments import Fragments
from .imports import Imported
from .models import Import, Session, Source
from .search import Found
from .selectors import Original


def present_session(session: Session) -> dict[str, Any]:
    """A session without its messages."""
    return {
        "id": str(session.pk),
        "project": session.project.slug,
        "title": session.title,
        "external_id": session.external_id,
        "format": session.format,
        "parsing_strategy": session.parsing_strategy,
        "model": session.model,
        "objective": session.objective,
        "message_count": session.message_count,
        "head": session.head,
        "tokens": session.original_tokens,
        "encoding": session.encoding,
        "created_at": session.created_at.isoformat(),
        "updated_at": session.updated_at.isoformat(),
    }


def present_found(found: Found) -> dict[str, Any]:
    """A page of what a search found."""
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
    """An import without its files."""
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
    """A file of an import, or one conversation in it."""
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


inline_address: Address = Heading(blob=blobs.read).address
"""Images and files as `data:` addresses, so that an answer stands alone."""


def address_of(inline: bool) -> Address:
    """How an answer names images and files: with their bytes, or where they are."""
    return inline_address if inline else blob_address


def present_parts(
    role: Role, parts: Sequence[Part], *, address: Address = blob_address
) -> dict[str, Any]:
    """What a message says, in OpenAI's form and as parts."""
    message = GivenMessage(role=role, parts=tuple(parts))
    form = write_message(message, address=address)
    return {**form, "parts": [encode_part(part) for part in parts]}


words = Fragments[bytes](32 * 1024 * 1024)
"""What messages say as JSON, by digest: the same in every answer."""


def originals_json(originals: Sequence[Original], *, inline: bool = False) -> bytes:
    """`{"items": […]}` of originals, as `present_original` gives each.

    What a message says is put into JSON once and kept, so that a window read again costs
    little more than its rows.
    """
    items = [
        b"%b,%b" % (dump(_row(original))[:-1], _words_json(original, inline)[1:])
        for original in originals
    ]
    return b'{"items":[%b]}' % b",".join(items)


def _words_json(original: Original, inline: bool) -> bytes:
    key = (original.digest, inline)
    (found,) = words.get([key])
    if found is None:
        address = address_of(inline)
        found = dump(present_parts(original.role, original.parts, address=address))
        words.keep(key, found)
    return found


def present_original(
    original: Original,
    *,
    parts: Sequence[Part] | None = None,
    tags: Sequence[str] = (),
    extra: Mapping[str, Any] | None = None,
    address: Address = blob_address,
) -> dict[str, Any]:
    """An original; `parts` are its words where operations have changed them."""
    parts = original.parts if parts is None else parts
    return {
        **_row(original, tags=tags),
        **present_parts(original.role, parts, address=address),
        **(extra or {}),
    }


def _row(original: Original, *, tags: Sequence[str] = ()) -> dict[str, Any]:
    row = original.row
    return {
        "key": original.key,
        "id": str(row.uuid),
        "short_id": row.short_id,
        "index": row.index,
        "parsing_strategy": row.parsing_strategy,
        "group_id": row.group_id,
        "status": row.status,
        "tags": list(tags),
        "tokens": row.tokens,
        "weight": row.weight,
        "created_at": row.created_at.isoformat() if row.created_at else None,
    }
