"""Importing transcripts: small uploads within the request, larger ones as a job.

An upload (a file, an archive or a folder) becomes one `Import` with one report. Its files are kept
byte for byte. Files that form conversations together are read first, then each of the others on its
own. A file that can't be read is named in the report and doesn't stop the others.
"""

import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.idempotency import effect
from contextstudio.accounts.models import Project
from contextstudio.accounts.selectors import require
from threads.models import Import
from threads.store import commits

from . import accounting, hooks
from .archives import ArchiveTooLarge
from .publishing import link_parents, publish, refuse_known, show, unstage
from .running.file_groups import AT_ONCE
from .running.import_run import ImportRun, remove_unfinished
from .running.outcome import FileOutcome, Imported, Progress
from .upload import Upload, unpack

__all__ = [
    "has_unread_files",
    "import_growth",
    "import_staged",
    "import_upload",
    "import_without_job",
    "is_quick",
    "publish",
    "publish_staged",
    "show",
    "unstage",
]

QUICK_BYTES = 2_000_000
"""An upload with more bytes than this, once unpacked, is imported by a job."""
QUICK_FILES = 50
"""So is an upload with more files than this."""
FILES_AT_ONCE = 8
"""Files recorded in one transaction, if they are small."""


def is_quick(upload: Upload) -> bool:
    """Whether an upload is small enough to be imported within the request."""
    return _fits(upload, QUICK_BYTES, QUICK_FILES)


def _fits(upload: Upload, most_bytes: int, most_files: int) -> bool:
    """Whether an upload, once unpacked, stays within a number of bytes and of files."""
    if upload.size > most_bytes:
        return False
    try:
        brought = unpack(upload, most=most_bytes, most_files=most_files)
    except ArchiveTooLarge:
        return False
    return len(brought.members) <= most_files


def has_unread_files(imported: Imported) -> bool:
    """Whether an import had files that yielded no conversation."""
    outcomes = imported.row.report.get("outcomes", {})
    return any(outcomes.get(name) for name in (FileOutcome.FAILED, FileOutcome.OTHER))


def import_upload(caller: Caller, project: Project, upload: Upload) -> Imported:
    """Import an upload within a request, all or nothing.

    A small upload is read to its end and then recorded in one transaction. A larger one is staged
    in batches and published in one transaction.
    """
    require(caller, Right.EDIT, project.pk)
    if not _fits(upload, AT_ONCE, FILES_AT_ONCE):
        stage = uuid.uuid4()
        return _import_and_publish(
            caller, project, upload, stage, lambda *_: None, within=effect
        )
    run = ImportRun(caller=caller, project=project, upload=upload)
    record = run.run_at_once()
    counts = accounting.count_ahead(run.read)
    with effect():
        imported = record()
        link_parents(project.pk, [session.pk for session in imported.sessions])
        if imported.recorded:
            hooks.run_hooks(caller, imported.row)
            accounting.count_now(imported.row, counts)
    return imported


def import_growth(caller: Caller, project: Project, upload: Upload, row: Import) -> int:
    """Import what files have grown by into an ongoing import; returns how many messages are new."""
    require(caller, Right.EDIT, project.pk)
    stage = _stage_id(row)
    run = ImportRun(
        caller=caller, project=project, upload=upload, stage=stage, into=row
    )
    try:
        imported = run.run()
        if imported.recorded:
            show(project, stage, also=lambda: hooks.run_hooks(caller, row))
    except BaseException:
        unstage(stage)
        raise
    return imported.recorded


def publish_staged(caller: Caller, project: Project, row: Import) -> None:
    """Show what a killed run of an ongoing import had staged but not yet shown.

    Sessions of files that it had not finished reading are removed; those files are read again.
    """
    stage = _stage_id(row)
    remove_unfinished(row, stage)
    show(project, stage, also=lambda: hooks.run_hooks(caller, row))


def _stage_id(row: Import) -> uuid.UUID:
    """The stage id of an ongoing import: the same in every run, for `publish_staged`."""
    return uuid.uuid5(row.pk, "grown")


def import_staged(
    caller: Caller,
    project: Project,
    upload: Upload,
    *,
    job_id: uuid.UUID,
    progress: Callable[[int, int | None, str], object],
) -> Imported:
    """Import a large upload in batches; `publish` makes it visible in the job's last transaction.

    Files that an earlier attempt of the same job finished are kept; unfinished ones start over.
    """
    require(caller, Right.EDIT, project.pk)
    run = ImportRun(
        caller=caller,
        project=project,
        upload=upload,
        stage=job_id,
        progress=Progress(progress),
    )
    with commits.deferred_sync():  # nobody has been told about staged rows yet
        return run.run()


def import_without_job(
    caller: Caller,
    project: Project,
    upload: Upload,
    *,
    stage: uuid.UUID,
    progress: Callable[[int, int | None, str], object],
) -> Imported:
    """Import without a job, in batches if large, for a process that waits until it ends."""
    if is_quick(upload):
        return import_upload(caller, project, upload)
    return _import_and_publish(caller, project, upload, stage, progress)


def _import_and_publish(
    caller: Caller,
    project: Project,
    upload: Upload,
    stage: uuid.UUID,
    progress: Callable[[int, int | None, str], object],
    *,
    within: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Imported:
    """Import in batches and publish, `within` a transaction if one is given."""
    try:
        imported = import_staged(
            caller, project, upload, job_id=stage, progress=progress
        )
        with within():
            refuse_known(project, stage)
            publish(project, stage)
    except BaseException:
        unstage(stage)
        raise
    return imported
