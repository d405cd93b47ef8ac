"""Request and response schemas of the archive's API."""

import uuid
from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from archive.domain.reference import read_location, write_reference
from contextstudio.accounts.shape import RequestBody

from .selectors import Readable


class ArchiveIn(RequestBody):
    """Messages to put into the archive: an inclusive range of originals, or keys."""

    session_id: uuid.UUID
    start: int | None = Field(None, ge=0)
    """Index of the first original."""
    end: int | None = Field(None, ge=0)
    """Index of the last original, inclusive."""
    targets: list[str] | None = Field(None, min_length=1, max_length=1000)
    """Keys of messages, instead of `start` and `end`."""


class ArchiveEntryOut(BaseModel):
    """An archive entry, without its content."""

    ref_id: str
    """The reference that recalls it: a `nexora://` URI."""
    project: str
    """The project's slug."""
    session: uuid.UUID
    """The session's id."""
    message: str
    """The key of the message."""
    location: str
    """The part of the message, such as `tool-2`; empty for all of it."""
    content_type: str
    """`file_view`, `grep`, `bash`, `edit` or `other`."""
    summary: str
    """One line that says what it is."""
    file_paths: list[str]
    """Paths that it names."""
    tool_name: str
    """The tool whose result it is; empty if it is none."""
    token_count: int
    rule: str
    """The pruning rule that left it out; empty if it was archived in another way."""
    original_created_at: datetime | None
    """When the message was created."""
    archived_at: datetime
    last_accessed_at: datetime | None
    access_count: int
    """How often it was recalled."""
    similarity: float | None
    """In a search by meaning, how close its message is to `q`, from 0.2 to 1; otherwise null."""


class EntryPage(BaseModel):
    """Entries, the newest first; in a search by meaning, the closest first."""

    items: list[ArchiveEntryOut]
    next_cursor: str | None
    pending: int
    """How many texts a search by meaning can't find yet, because they are still being indexed."""


class EntriesOut(BaseModel):
    """The entries that were archived."""

    items: list[ArchiveEntryOut]


class RecalledOut(BaseModel):
    """What a reference names, as `recall` returns it."""

    ref_id: str
    content_type: str
    summary: str
    content: str
    file_paths: list[str]
    truncated: bool
    """Whether the text goes on beyond `max_tokens`; `next_cursor` continues it."""
    token_count: int
    next_cursor: str | None = None
    purged: bool = False
    """Whether the content was destroyed; nothing of it is left."""


def present_entry(found: Readable) -> dict[str, Any]:
    entry = found.entry
    slug, session_id = entry.session.project.slug, str(entry.session_id)
    location = read_location(entry.location)
    moments = ("original_created_at", "archived_at", "last_accessed_at")
    return {
        "ref_id": write_reference(slug, session_id, entry.name, location),
        "project": slug,
        "session": session_id,
        "message": entry.message_key,
        "location": entry.location,
        "content_type": entry.content_type,
        "summary": found.summary,
        "file_paths": list(found.file_paths),
        "tool_name": entry.tool_name,
        "token_count": entry.token_count,
        "rule": entry.rule,
        "access_count": entry.access_count,
        "similarity": found.similarity,
        **{name: getattr(entry, name) for name in moments},
    }
