"""Fills an archive with entries, bypassing models: COPY on PostgreSQL, INSERTs on SQLite.

Nine in ten belong to one project, the others to a second one, in sessions of a thousand entries.
All share the same content, since only finding them is measured. One kind, tool and word are rare.
"""

import random
import uuid
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import islice
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from archive.entries.store import full_reference
from archive.entries.words import searched
from archive.models import ArchivedContent
from bench.search.patterns import NEEDLE
from bench.transcript import _Author
from contextstudio.accounts.models import Project
from threads.models import Session

RARE = 20
OF_A_SESSION = 1_000
RARE_TOOL, RARE_TYPE = "Glimpse", "grep"
_BATCH = 10_000
_DRAWN = 5_000
_TOOLS = {"Read": "file_view", "Bash": "bash", "Edit": "edit", "Task": "other"}
_COLUMNS = (
    *("id", "ref_id", "project_id", "session_id", "message_key", "name", "location"),
    *("content_type", "summary", "content_id", "file_paths", "tool_name"),
    *("token_count", "rule", "archived_at", "access_count"),
)


def fill(projects: list[Project], count: int) -> None:
    """Write the entries, and let the database update its statistics."""
    sizes = [count - count // 10, count // 10]
    for project, size in zip(projects, sizes, strict=True):
        rows = _entries(project, size)
        while some := list(islice(rows, _BATCH)):
            with transaction.atomic():
                _write("archive_archiveentry", _COLUMNS, [row[:-1] for row in some])
                words = [(row[0], row[-1]) for row in some]
                _write("archive_entrywords", ("entry_id", "words"), words)
    if not settings.ON_SQLITE:
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")


def _entries(project: Project, count: int) -> Iterator[tuple[Any, ...]]:
    """The columns of each entry, and its searchable text."""
    author, chance = _Author(11), random.Random(project.pk)
    drawn = [(author.prose(60, 200), author.path()) for _ in range(_DRAWN)]
    content, _ = ArchivedContent.objects.get_or_create(
        project=project, digest=bytes(32), defaults={"content": b"content"}
    )
    begun, every = timezone.now() - timedelta(seconds=count), max(1, count // RARE)
    for number in range(count):
        if number % OF_A_SESSION == 0:
            session = Session.objects.create(project=project, created_by="system")
        summary, path = chance.choice(drawn)
        tool = chance.choice(list(_TOOLS))
        kind = _TOOLS[tool]
        if number % every == every // 2:
            summary, tool, kind = f"{summary} {NEEDLE}", RARE_TOOL, RARE_TYPE
        summary = f"{summary} {number}"
        name = f"msg-{number:08x}"
        yield (
            _id(uuid.UUID(int=chance.getrandbits(128))),
            full_reference(project.slug, session.pk, name, ""),
            project.pk,
            _id(session.pk),
            f"m{number % OF_A_SESSION}",
            name,
            "",
            kind,
            summary.encode(),
            content.pk,
            f'["{path}"]',
            tool,
            chance.randrange(20, 4_000),
            "result",
            _moment(begun + timedelta(seconds=number)),
            0,
            searched(f"{summary}\n{tool}\n{path}"),
        )


def _id(key: uuid.UUID) -> Any:
    return key.hex if settings.ON_SQLITE else key


def _moment(at: Any) -> Any:
    return connection.ops.adapt_datetimefield_value(at) if settings.ON_SQLITE else at


def _write(
    table: str, columns: tuple[str, ...], rows: Sequence[tuple[Any, ...]]
) -> None:
    names = ", ".join(columns)
    with connection.cursor() as cursor:
        if settings.ON_SQLITE:
            places = ", ".join(["%s"] * len(columns))
            cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({places})", rows)
            return
        with cursor.cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
