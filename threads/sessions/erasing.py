"""Erasing sessions for good, with all that nothing else uses: bodies, images, files.

A session that was deleted stays for `KEPT`, hidden; then, or at once where somebody asks for
it, it is erased. Bodies are shared by the sessions of a project and files by all projects, so
what goes with a session is what no other names. Rows go in the caller's transaction and in
one after it; a file goes once no row names it any more, and not while an import is under way
that may be about to name it: `clean` comes by every hour and takes what was left.
"""

import logging
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from time import time
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import Exists, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from contextstudio.accounts.models import Job
from threads.domain.message import encode_parts, tombstone_of
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
from threads.search import word_index
from threads.store import blobs
from threads.store.selectors import DIGEST, chunks

logger = logging.getLogger(__name__)

KEPT = timedelta(days=30)
"""How long a deleted session can be had back."""
PURGED = "purged"
"""The status of a message whose words were destroyed."""
ORPHANED = timedelta(days=1)
"""Age at which a file that no row names is taken for left over."""
STRANDED = timedelta(hours=1)
"""How long nothing came to what an import has staged before it is taken for killed."""
_NAME = re.compile(rb'"sha256":"([0-9a-f]{64})"')
_AT_ONCE = 1000
_UNFINISHED = (Job.Status.QUEUED, Job.Status.RUNNING, Job.Status.ASKS)

Naming = Callable[[QuerySet[Session]], Iterable[bytes]]
"""Gives JSON of another app's rows of these sessions that may name images and files."""

_naming: list[Naming] = []


def register(naming: Naming) -> None:
    """Let what another app keeps of sessions be searched for images and files, once."""
    if naming not in _naming:
        _naming.append(naming)


def erase(session: Session) -> None:
    """Remove a session whose row the caller has locked, in the caller's transaction.

    What it alone used goes as soon as that is committed.
    """
    project_id = session.project_id
    this = Session.objects.filter(pk=session.pk)
    images = _named(_told(this))
    files = set(session.sources.values_list("sha256", flat=True))
    imports = list(session.sources.values_list("brought_by", flat=True).distinct())
    Message.objects.filter(session=session).delete()
    Event.objects.filter(session=session).delete()
    session.delete()
    emptied = Import.objects.filter(pk__in=imports, sources=None, staged_by=None)
    files |= set(emptied.values_list("sha256", flat=True))
    emptied.delete()
    # After the commit: a file can't be brought back if the transaction is rolled back.
    transaction.on_commit(partial(_sweep, project_id, images, files))


def purge(session: Session, indexes: Iterable[int]) -> None:
    """Destroy what these originals say, in the caller's transaction; its row is locked.

    Index, key, role and group stay. The files that the session was imported from hold the
    words too, so they go whole: the other messages keep theirs, but no longer their records.
    """
    messages = Message.objects.filter(session=session)
    purged = messages.filter(index__in=list(indexes)).exclude(status=PURGED)
    rows = list(purged.values_list("index", DIGEST, "body__content", "tokens"))
    # Each has a tombstone of its own, an empty body that is derived from its digest: by that, a
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
    images = _named(bytes(content) for _, _, content, _ in rows)
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
    """Erase the sessions whose time is over, and the files that nothing names any more."""
    # The stages of imports that were killed and that no job is going to complete. While one stands,
    # whoever brings the same conversation is told that an import is at it.
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
    over = Q(deleted_at__lt=now - KEPT) | Q(staged_by__in=stranded)
    sessions = Session.objects.filter(over)
    for key in list(sessions.values_list("pk", flat=True)):
        with transaction.atomic():
            session = sessions.filter(pk=key).select_for_update().first()
            if session is not None:
                erase(session)
    Import.objects.filter(staged_by__in=stranded).delete()
    # Files that no row names: an import that was refused may have left them.
    before = time() - ORPHANED.total_seconds()
    found = Path(settings.BLOB_DIR).glob("??/*")
    old = (path.name for path in found if path.stat().st_mtime < before)
    try:
        for names in chunks(old, _AT_ONCE):
            _discard(set(names))
    except OSError:
        logger.warning("Files that nothing names could not be removed.", exc_info=True)


def _sweep(project_id: int, images: set[str], files: set[str]) -> None:
    """Remove what is left of erased sessions; what can't be removed now is left to `clean`."""
    try:
        with transaction.atomic():
            images |= _erase_bodies(project_id)
            held = Blob.objects.filter(project=project_id, sha256__in=images)
            if held.exists():  # what nothing in the project names goes
                sessions = Session.objects.filter(project=project_id)
                bodies = Body.objects.filter(project=project_id)
                used = _named(_contents(bodies)) | _named(_told(sessions))
                gone = held.exclude(sha256__in=used)
                files |= set(gone.values_list("sha256", flat=True))
                gone.delete()
        _discard(files)
    except (DatabaseError, OSError):
        logger.warning("What an erased session left could not go.", exc_info=True)


def _erase_bodies(project_id: int) -> set[str]:
    """Remove the bodies that no message has, and what is rendered; the images they named."""
    used = Message.objects.filter(body=OuterRef("pk"))
    unused = Body.objects.filter(~Exists(used), project=project_id)
    if connection.features.has_select_for_update_skip_locked:
        unused = unused.select_for_update(skip_locked=True, of=("self",))
    images: set[str] = set()
    for keys in chunks(list(unused.values_list("pk", flat=True)), _AT_ONCE):
        bodies = Body.objects.filter(pk__in=keys)
        images |= _named(_contents(bodies))
        word_index.forget(keys)
        bodies.delete()
    bodies = Body.objects.filter(project=project_id, digest=OuterRef("digest"))
    Rendering.objects.filter(~Exists(bodies), project=project_id).delete()
    return images


def _discard(names: set[str]) -> None:
    """Remove the files of these hashes that no row names, unless one may be about to."""
    if Job.objects.filter(kind="import", status__in=_UNFINISHED).exists():
        return
    for model in (Source, Blob, Import):
        rows = model.objects.filter(sha256__in=names)
        names -= set(rows.values_list("sha256", flat=True))
    for name in filter(None, names):
        blobs.discard(name)


def _named(contents: Iterable[bytes]) -> set[str]:
    """The hashes that these JSON texts name."""
    return {
        match[1].decode() for content in contents for match in _NAME.finditer(content)
    }


def _told(sessions: QuerySet[Session]) -> Iterator[bytes]:
    """What other apps keep of sessions."""
    for naming in _naming:
        yield from naming(sessions)


def _contents(bodies: QuerySet[Body]) -> Iterator[bytes]:
    found = bodies.order_by().values_list("content", flat=True)
    return map(bytes, found.iterator(chunk_size=_AT_ONCE))
