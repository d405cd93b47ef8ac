"""Checks whether an installation is complete and as it was recorded."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from django.db import connection
from django.db.models import Count, Max, Q
from django.utils import timezone

from contextstudio.database.steps import chunks
from threads.domain.body import digest_of
from threads.domain.message import Role
from threads.models import Blob, Body, Import, Message, Session, Source
from threads.sessions.erasing import RETENTION
from threads.store.blobs import path_of

_PURGED = b"[]"
"""The content of a purged body; its digest is a tombstone of the former content."""


def faults() -> Iterator[str]:
    """Everything that is wrong, as sentences. Changes nothing."""
    yield from _database()
    yield from _misnumbered("messages", "message_count", "messages__index", 0)
    yield from _misnumbered("log entries", "head", "log__number", 1)
    yield from _bodies()
    yield from _files()


def _database() -> Iterator[str]:
    """Faults that the database itself reports: damaged pages, dangling foreign keys."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            found = cursor.execute("PRAGMA integrity_check").fetchall()
            yield from (f"The database: {line}." for (line,) in found if line != "ok")
            for table, row, parent, _ in cursor.execute("PRAGMA foreign_key_check"):
                yield f"Row {row} of {table} names a row of {parent} that is gone."


def _misnumbered(what: str, recorded: str, number: str, first: int) -> Iterator[str]:
    """Sessions whose rows are not numbered without gaps, or not as many as the session says.

    A single statement queries all of it, so that concurrent writes cause no false fault. Sessions
    that may be erased at any time are left out.
    """
    goes = Q(deleted_at__lt=timezone.now() - RETENTION) | ~Q(staged_by=None)
    sessions = Session.objects.exclude(goes).order_by()
    counted = sessions.values_list("pk", recorded).annotate(Count(number), Max(number))
    for session, count, n, last in counted:
        last = first - 1 if last is None else last
        if (n, last) != (count, count + first - 1):
            yield f"Session {session} should have {count} {what}; it has {n}, up to {last}."


def _bodies() -> Iterator[str]:
    """Bodies whose content doesn't match their digest."""
    bodies = Body.objects.order_by("pk").values_list("pk", "digest", "content")
    for some in chunks(bodies.iterator()):
        used = Message.objects.filter(body__in=[pk for pk, _, _ in some]).order_by()
        roles = dict(used.values_list("body", "role").distinct())
        for pk, digest, content in some:
            if pk not in roles or bytes(content) == _PURGED:
                continue
            if digest_of(Role(roles[pk]), bytes(content)) != bytes(digest):
                yield f"Body {pk} is not what was recorded."


def _files() -> Iterator[str]:
    """Files that the database names but that are missing or altered."""
    for sha256 in sorted(_named_files()):
        path = path_of(sha256)
        try:
            is_whole = _sha256(path) == sha256
        except FileNotFoundError:
            if _named_files(sha256=sha256):  # unless it was just erased
                yield f"The file {sha256} is gone."
        else:
            if not is_whole:
                yield f"The file {path} is not what was stored."


def _named_files(**only: str) -> set[str]:
    """The SHA-256 hashes of files that the database names."""
    models = (Blob, Source, Import)
    rows = (model.objects.filter(**only).order_by() for model in models)
    return {one for some in rows for one in some.values_list("sha256", flat=True)} - {
        ""
    }


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
