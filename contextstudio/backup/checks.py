"""Whether an installation is whole: what of it is not as it was recorded."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from django.db import connection
from django.db.models import Count, Max, Model, QuerySet

from operations.models import LogEntry
from threads.domain.message import Role, digest_of
from threads.models import Blob, Body, Import, Message, Session, Source
from threads.store.blobs import path_of
from threads.store.selectors import chunks

_PURGED = b"[]"
"""What a purged body holds; its digest is a tombstone of what it held."""


def faults() -> Iterator[str]:
    """Everything that is wrong, a sentence each. Nothing is changed."""
    yield from _database()
    yield from _numbers("messages", Message.objects.all(), "index", 0)
    yield from _numbers("log entries", LogEntry.objects.all(), "number", 1)
    yield from _bodies()
    yield from _files()


def _database() -> Iterator[str]:
    """What the database itself finds: damaged pages, rows that name rows that are gone."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            found = cursor.execute("PRAGMA integrity_check").fetchall()
            yield from (f"The database: {line}." for (line,) in found if line != "ok")
            for table, row, parent, _ in cursor.execute("PRAGMA foreign_key_check"):
                yield f"Row {row} of {table} names a row of {parent} that is gone."


def _numbers(
    what: str, rows: "QuerySet[Model]", field: str, first: int
) -> Iterator[str]:
    """Sessions whose rows are not numbered without a gap, as many as the session says."""
    recorded = "message_count" if rows.model is Message else "head"
    expected = dict(Session.objects.values_list("pk", recorded))
    counted = rows.order_by().values("session").annotate(n=Count("*"), last=Max(field))
    found = {row["session"]: (row["n"], row["last"]) for row in counted}
    for session, count in expected.items():
        n, last = found.get(session, (0, first - 1))
        if (n, last) != (count, count + first - 1):
            yield f"Session {session} should have {count} {what}; it has {n}, up to {last}."


def _bodies() -> Iterator[str]:
    """Bodies that are not what was recorded under their digest."""
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
    """Files that the database names and that are gone, or are not what they were."""
    named = {
        sha256
        for model in (Blob, Source, Import)
        for sha256 in model.objects.order_by().values_list("sha256", flat=True)
        if sha256
    }
    for sha256 in sorted(named):
        path = path_of(sha256)
        if not path.exists():
            yield f"The file {sha256} is gone."
        elif _sha256(path) != sha256:
            yield f"The file {path} is not what was stored."


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
