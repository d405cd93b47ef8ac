"""Erases sessions for good, with all that nothing else uses: bodies, images, files.

A deleted session stays hidden for `RETENTION`. Then, or at once on request, it is erased. Bodies
are shared by the sessions of a project and files by all projects, so only what no other session
names is erased with it. Rows are deleted in the caller's transaction and in one after it. A file is
removed once no row names it, but not while an import is running that may be about to name it:
`clean` runs every hour and removes what is left.
"""

import logging
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from time import time
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import Exists, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from contextstudio.accounts.idempotency import purge_responses
from contextstudio.accounts.models import Job
from contextstudio.database.steps import chunks
from threads.domain.body import encode_parts, tombstone_of
from threads.models import (
    Blob,
    Body,
    Event,
    Import,
    Message,
    Rendering,
    Session,
    Source,
)
from threads.search.bodies import BODIES
from threads.store import blobs
from threads.store.originals import DIGEST

logger = logging.getLogger(__name__)

RETENTION = timedelta(days=30)
"""How long a deleted session can be restored."""
PURGED = "purged"
"""The status of a message whose content was purged."""
ORPHANED = timedelta(days=1)
"""The age from which a file that no row names counts as left over."""
STRANDED = timedelta(hours=1)
"""An import whose stage hasn't grown for this long counts as killed."""
_NAME = re.compile(rb'"sha256":"([0-9a-f]{64})"')
_AT_ONCE = 1000
_BODIES_AT_ONCE = 100
_IS_USED = Exists(Message.objects.filter(body=OuterRef("pk")))
_UNFINISHED = (Job.Status.QUEUED, Job.Status.RUNNING, Job.Status.ASKS)

Naming = Callable[[QuerySet[Session]], Iterable[bytes]]
"""Yields JSON of another app's rows for these sessions; it may name images and files."""

Forgetting = Callable[[Session, Sequence[int] | None], object]
"""Destroys what another app stores of these originals; None means the whole session."""

_naming: list[Naming] = []
_forgetting: list[Forgetting] = []


def register(naming: Naming) -> None:
    """Register a search for images and files in what another app stores of sessions."""
    if naming not in _naming:
        _naming.append(naming)


def register_forgetting(forgetting: Forgetting) -> None:
    """Register a function by which another app forgets originals or whole sessions."""
    if forgetting not in _forgetting:
        _forgetting.append(forgetting)


def erase(session: Session) -> None:
    """Delete a session whose row the caller has locked, in the caller's transaction.

    What only it used is removed once that is committed.
    """
    project_id = session.project_id
    this = Session.objects.filter(pk=session.pk)
    images = _hashes_in(_other_contents(this))
    files = set(session.sources.values_list("sha256", flat=True))
    imports = list(session.sources.values_list("brought_by", flat=True).distinct())
    for forget in _forgetting:
        forget(session, None)
    Message.objects.filter(session=session).delete()
    Event.objects.filter(session=session).delete()
    session.delete()
    emptied = Import.objects.filter(pk__in=imports, sources=None, staged_by=None)
    files |= set(emptied.values_list("sha256", flat=True))
    emptied.delete()
    # After the commit: a file can't be brought back if the transaction is rolled back.
    transaction.on_commit(partial(_sweep, project_id, images, files))


def delete_contents(sessions: QuerySet[Session]) -> None:
    """Delete the contents of sessions that nobody sees any more, a few rows at a time.

    Erasing a long session in one transaction would block all other writers for seconds.
    """
    for key in list(sessions.values_list("pk", flat=True)):
        _delete_in_turn(Message.objects.filter(session=key), "index")
        _delete_in_turn(Event.objects.filter(session=key), "pk")


def _delete_in_turn(rows: QuerySet[Any], column: str) -> None:
    """Delete rows a few at a time, by a unique column.

    Each step deletes up to the last key of a batch: SQLite refuses a list of so many composite
    keys.
    """
    places = rows.order_by(column).values_list(column, flat=True)
    while some := list(places[:_AT_ONCE]):
        rows.filter(**{f"{column}__lte": some[-1]}).delete()


def erase_all(sessions: QuerySet[Session]) -> None:
    """Erase sessions that nobody sees any more, a few rows at a time."""
    for key in list(sessions.values_list("pk", flat=True)):
        delete_contents(sessions.filter(pk=key))
        with transaction.atomic():
            session = sessions.filter(pk=key).select_for_update().first()
            if session is not None:
                erase(session)


def remove_imports(imports: QuerySet[Import]) -> None:
    """Remove imports whose sessions are gone, and the rows of their files, a few at a time.

    Deleting an import at once would update up to 50,000 files in one statement. A file that belongs
    to a session stays with it.
    """
    files = Source.objects.filter(brought_by__in=imports).order_by("pk")
    while some := list(files.values_list("pk", flat=True)[:_AT_ONCE]):
        with transaction.atomic():
            Source.objects.filter(pk__in=some, session=None).delete()
            Source.objects.filter(pk__in=some).update(brought_by=None)
    imports.delete()


def purge(session: Session, indexes: Iterable[int]) -> None:
    """Destroy the content of originals, in the caller's transaction; the session's row is locked.

    Index, key, role and group stay. The files that the session was imported from contain the words
    too, so they are removed entirely: the other messages keep their words, but not their records.
    """
    places = list(indexes)
    purge_responses(session.project_id)
    for forget in _forgetting:
        forget(session, places)
    messages = Message.objects.filter(session=session)
    purged = messages.filter(index__in=places).exclude(status=PURGED)
    rows = list(purged.values_list("index", DIGEST, "body__content", "tokens"))
    # Each gets its own tombstone, an empty body whose digest is derived from the old one: by it, a
    # client that still sends the words is recognised.
    tombs = {row[0]: tombstone_of(bytes(row[1])) for row in rows}
    project_id, empty = session.project_id, encode_parts(())
    Body.objects.bulk_create(
        (
            Body(project_id=project_id, digest=digest, content=empty)
            for digest in set(tombs.values())
        ),
        ignore_conflicts=True,
    )
    bodies = Body.objects.filter(project=project_id, digest__in=tombs.values())
    body_of = {bytes(body.digest): body for body in bodies}
    for index, digest in tombs.items():
        messages.filter(index=index).update(
            body=body_of[digest],
            tokens=0,
            name="",
            status=PURGED,
        )
    session.original_tokens -= sum(row[3] for row in rows)
    session.save(update_fields=["original_tokens"])
    images = _hashes_in(bytes(content) for _, _, content, _ in rows)
    messages.update(source=None, records=[])
    sources = Source.objects.filter(session=session)
    files = set(sources.values_list("sha256", flat=True))
    imports = Import.objects.filter(sources__in=sources)
    brought = dict(imports.values_list("pk", "sha256"))
    Import.objects.filter(pk__in=brought).update(sha256="")
    sources.delete()
    files.update(brought.values())
    transaction.on_commit(partial(_sweep, project_id, images, files))


def clean() -> None:
    """Erase sessions whose time is over, and files that nothing names any more."""
    # The stages of killed imports that no job is going to complete. While a stage exists, whoever
    # imports the same conversation is told that an import is running.
    newest: dict[UUID, datetime] = {}
    for model in (Session, Import):
        staged = model.objects.exclude(staged_by=None).order_by()
        for stage, at in staged.values_list("staged_by").annotate(Max("created_at")):
            newest[stage] = max(at, newest.get(stage, at))
    jobs = Job.objects.filter(pk__in=newest, status__in=_UNFINISHED)
    alive = set(jobs.values_list("pk", flat=True))
    now = timezone.now()
    limit = now - STRANDED
    stranded = [one for one, at in newest.items() if at < limit and one not in alive]
    over = Q(deleted_at__lt=now - RETENTION) | Q(staged_by__in=stranded)
    erase_all(Session.objects.filter(over))
    remove_imports(Import.objects.filter(staged_by__in=stranded))
    # Files that no row names: a refused import may have left them.
    before = time() - ORPHANED.total_seconds()
    found = Path(settings.BLOB_DIR).glob("??/*")
    old = (path.name for path in found if path.stat().st_mtime < before)
    try:
        blobs.remove_unfinished(before)
        for names in chunks(old, _AT_ONCE):
            _discard(set(names))
    except OSError:
        logger.warning("Files that nothing names could not be removed.", exc_info=True)


def bodies_of(sessions: QuerySet[Session]) -> set[int]:
    """The bodies of these sessions, for callers that remove them and then call `sweep_bodies`."""
    said = Message.objects.filter(session__in=sessions).order_by()
    return set(said.values_list("body", flat=True).iterator(chunk_size=_AT_ONCE))


def sweep_bodies(project_id: int, bodies: Collection[int]) -> None:
    """Remove the bodies that no message has any more, and the images they name."""
    if bodies:
        _sweep(project_id, set(), set(), among=bodies)


def _sweep(
    project_id: int,
    images: set[str],
    files: set[str],
    *,
    among: Collection[int] | None = None,
) -> None:
    """Remove what erased sessions left, `among` some bodies or all of the project.

    What can't be removed now is left to the next call, and to `clean`.
    """
    try:
        idle = Body.objects.filter(~_IS_USED, project=project_id)
        if among is None:
            unused = list(idle.values_list("pk", flat=True))
        else:
            parts = (idle.filter(pk__in=keys) for keys in chunks(among))
            unused = [key for one in parts for key in one.values_list("pk", flat=True)]
        # Images first: once a body is gone, nobody knows what it named.
        files |= _erase_images(project_id, unused, images)
        _erase_bodies(project_id, unused)
        _discard(files)
    except (DatabaseError, OSError):
        logger.warning("What an erased session left could not go.", exc_info=True)


def _erase_images(project_id: int, unused: Sequence[int], images: set[str]) -> set[str]:
    """Remove the rows of images that only unused bodies name; returns files that may go too.

    The project's content is read without a lock; what was added since is read under the lock.
    """
    bodies = Body.objects.filter(project=project_id)
    naming: list[int] = []
    for keys in chunks(unused, _AT_ONCE):
        for key, content in bodies.filter(pk__in=keys).values_list("pk", "content"):
            if found := _hashes_in([bytes(content)]):
                naming.append(key)
                images |= found
    held = Blob.objects.filter(project=project_id, sha256__in=images)
    if not held.exists():
        return set()
    sessions = Session.objects.filter(project=project_id)
    last = Body.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    used = _hashes_in(_contents(bodies.filter(_IS_USED, pk__lte=last)))
    with transaction.atomic():
        used |= _hashes_in(_contents(bodies.filter(pk__gt=last)))
        used |= _hashes_in(_contents(bodies.filter(_IS_USED, pk__in=naming)))
        used |= _hashes_in(_other_contents(sessions))
        gone = held.exclude(sha256__in=used)
        files = set(gone.values_list("sha256", flat=True))
        gone.delete()
    return files


def _erase_bodies(project_id: int, unused: Sequence[int]) -> None:
    """Remove the bodies that no message has, and their renderings."""
    bodies = Body.objects.filter(project=project_id)
    for keys in chunks(unused, _BODIES_AT_ONCE):
        with transaction.atomic():
            still = bodies.filter(~_IS_USED, pk__in=keys)
            if connection.features.has_select_for_update_skip_locked:
                still = still.select_for_update(skip_locked=True, of=("self",))
            gone = list(still.values_list("pk", flat=True))
            BODIES.forget(gone)
            bodies.filter(pk__in=gone).delete()
    same = bodies.filter(digest=OuterRef("digest"))
    rendered = Rendering.objects.filter(~Exists(same), project=project_id)
    for keys in chunks(list(rendered.values_list("pk", flat=True)), _AT_ONCE):
        Rendering.objects.filter(pk__in=keys).delete()


def _discard(names: set[str]) -> None:
    """Remove the files with these hashes that no row names, unless an import is unfinished."""
    if Job.objects.filter(kind="import", status__in=_UNFINISHED).exists():
        return
    for model in (Source, Blob, Import):
        rows = model.objects.filter(sha256__in=names)
        names -= set(rows.values_list("sha256", flat=True))
    for name in filter(None, names):
        blobs.discard(name)


def _hashes_in(contents: Iterable[bytes]) -> set[str]:
    """The hashes that these JSON texts contain."""
    return {
        match[1].decode() for content in contents for match in _NAME.finditer(content)
    }


def _other_contents(sessions: QuerySet[Session]) -> Iterator[bytes]:
    """What other apps store of sessions."""
    for naming in _naming:
        yield from naming(sessions)


def _contents(bodies: QuerySet[Body]) -> Iterator[bytes]:
    found = bodies.order_by().values_list("content", flat=True)
    return map(bytes, found.iterator(chunk_size=_AT_ONCE))
