"""Importing transcripts: quickly within the request, or as a job where there is much.

What somebody brings (a file, an archive, a folder) is one `Import` with one report. Its files
are kept byte for byte; what several of them make together is read first, then each of the
others alone. One that can't be read is named in the report and stops no other.
"""

import uuid
from collections.abc import Callable

from django.db import transaction
from django.utils import timezone

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.models import Project
from contextstudio.accounts.selectors import caller_of_actor, require
from threads.models import Import, Session
from threads.sessions import erasing
from threads.store import commits

from . import hooks
from .archives import ArchiveTooLarge
from .running.import_run import ImportRun
from .running.outcome import FileOutcome, Imported, Progress
from .upload import Upload, unpack

QUICK_BYTES = 2_000_000
"""What comes to more bytes, once unpacked, is imported by a job."""
QUICK_FILES = 50
"""As are more files than these."""


def is_quick(upload: Upload) -> bool:
    """Whether an upload is small enough to be imported within the request."""
    if upload.size > QUICK_BYTES:
        return False
    try:
        brought = unpack(upload, most=QUICK_BYTES)
    except ArchiveTooLarge:
        return False
    return len(brought.members) <= QUICK_FILES


def left_out(imported: Imported) -> bool:
    """Whether an import had files that no conversation was made of."""
    outcomes = imported.row.report.get("outcomes", {})
    return any(outcomes.get(name) for name in (FileOutcome.FAILED, FileOutcome.OTHER))


@transaction.atomic
def import_upload(caller: Caller, project: Project, upload: Upload) -> Imported:
    """Import an upload at once: all of it or, where it is refused, nothing."""
    require(caller, Right.EDIT, project.pk)
    imported = ImportRun(caller=caller, project=project, upload=upload).run()
    _link_parents(project.pk)
    if imported.recorded:
        hooks.run(caller, imported.row)
    return imported


@transaction.atomic
def import_grown(caller: Caller, project: Project, upload: Upload, row: Import) -> int:
    """Import what files have grown by into an import that goes on; how many messages came."""
    require(caller, Right.EDIT, project.pk)
    imported = ImportRun(caller=caller, project=project, upload=upload, into=row).run()
    if imported.recorded:
        _link_parents(project.pk)
        hooks.run(caller, row)
    return imported.recorded


def import_staged(
    caller: Caller,
    project: Project,
    upload: Upload,
    *,
    job_id: uuid.UUID,
    progress: Callable[[int, int | None, str], object],
) -> Imported:
    """Import much in batches; `publish` makes it visible in the job's last transaction.

    What an earlier attempt of the same job has finished stays; what it began is begun anew.
    """
    require(caller, Right.EDIT, project.pk)
    run = ImportRun(
        caller=caller,
        project=project,
        upload=upload,
        job_id=job_id,
        progress=Progress(progress),
    )
    with commits.on_disk_later():  # nobody has been told of what is staged
        return run.run()


def import_alone(
    caller: Caller,
    project: Project,
    upload: Upload,
    *,
    stage: uuid.UUID,
    progress: Callable[[int, int | None, str], object],
) -> Imported:
    """Import in batches without a job: for a process that sees to its end, however that is."""
    if is_quick(upload):
        return import_upload(caller, project, upload)
    try:
        imported = import_staged(
            caller, project, upload, job_id=stage, progress=progress
        )
        with transaction.atomic():
            publish(project, stage)
    except BaseException:
        unstage(stage)
        raise
    return imported


def publish(project: Project, job_id: uuid.UUID) -> None:
    """Show what a job has staged."""
    now = timezone.now()
    Session.objects.filter(staged_by=job_id).update(staged_by=None, updated_at=now)
    staged = Import.objects.filter(staged_by=job_id)
    brought = list(staged)
    staged.update(staged_by=None)
    _link_parents(project.pk)
    for one in brought:
        hooks.run(caller_of_actor(one.created_by), one)


def unstage(job_id: uuid.UUID) -> None:
    """Remove what a job has staged that will not be tried again."""
    staged = Session.objects.filter(staged_by=job_id)
    erasing.empty(staged)
    staged.delete()
    Import.objects.filter(staged_by=job_id).delete()


def _link_parents(project_id: int) -> None:
    """Link the sessions of a project to the parents that are here by now.

    A parent may come later than its children: they carry its id.
    """
    here = Session.objects.filter(
        project_id=project_id, deleted_at=None, staged_by=None
    )
    # `gt` where `exclude` would do, for an index answers it.
    orphans = here.filter(parent=None, parent_external_id__gt="")
    wanted = orphans.values_list("parent_external_id", flat=True).distinct()
    for external_id in list(wanted):
        parent = here.filter(external_id=external_id).first()
        if parent is not None:
            found = orphans.filter(parent_external_id=external_id)
            found.exclude(pk=parent.pk).update(parent=parent)
