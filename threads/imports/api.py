"""REST for imports and their reports."""

import uuid
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import File, Form, Router, Status
from ninja.decorators import decorate_view
from ninja.files import UploadedFile
from ninja.params.functions import Query

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.idempotency import effect, reads_first
from contextstudio.accounts.jobs import enqueue
from contextstudio.accounts.selectors import get_project, project_to_edit
from threads import imports
from threads.store.selectors import get_session

from . import jobs
from .presentation import (
    ImportOut,
    ImportPage,
    ImportReport,
    JobStarted,
    present_file,
    present_import,
    present_import_row,
)
from .selectors import get_import, list_files, list_imports
from .upload import keep_received, received_files

router = Router(tags=["sessions"])


@router.post(
    "/sessions/import",
    response={201: ImportOut, 200: ImportOut, 202: JobStarted},
    operation_id="threads_api_import_session",
    summary="Import files",
)
@decorate_view(reads_first)
def import_session(
    request: HttpRequest,
    file: File[list[UploadedFile]],
    format: Form[str] = "auto",
    paths: Form[str] = "",
    project: Form[str | None] = None,
    session: Form[uuid.UUID | None] = None,
) -> Status[Any]:
    """Import a transcript, an archive, or several files.

    Small imports are done at once: 201, or 200 if they brought nothing new. Larger ones become a
    job: 202. Several files may come with `paths`, a JSON list of their paths in their folder.
    """
    caller = caller_of(request)
    if session is None:
        target = project_to_edit(caller, project)
    else:
        target = get_session(caller, session, Right.EDIT).project
        if project not in (None, target.slug):
            raise Invalid("This session is in another project.", at=["project"])
    files = received_files(file, paths)
    options = {} if session is None else {"session_id": session}
    if session is not None and len(files) > 1:
        raise Invalid("Only one file can continue a session.", at=["session"])
    upload = keep_received(files, format=format, **options)
    if not imports.is_quick(upload):
        with effect():
            job = enqueue(target, jobs.KIND, jobs.arguments_of(upload), caller)
        return Status(202, {"job_id": job.pk})
    imported = imports.import_upload(caller, target, upload)
    return Status(201 if imported.created else 200, present_import(imported))


@router.get(
    "/imports",
    response=ImportPage,
    operation_id="threads_api_imports_made",
    summary="List imports",
)
def imports_made(
    request: HttpRequest,
    project: Annotated[
        str | None, Query(description="Limits the list to one project, by its slug.")
    ] = None,
    cursor: str | None = None,
    limit: int | None = None,
) -> dict[str, Any]:
    """Imports, newest first, without their files."""
    caller = caller_of(request)
    if project is not None:
        get_project(caller, project)
    found = list_imports(caller, project=project, cursor=cursor, limit=limit)
    items = [present_import_row(row) for row in found.items]
    return {"items": items, "next_cursor": found.next_cursor}


@router.get(
    "/imports/{uuid:import_id}",
    response=ImportReport,
    operation_id="threads_api_import_report",
    summary="Read an import report",
)
def import_report(
    request: HttpRequest,
    import_id: uuid.UUID,
    q: Annotated[
        str,
        Query(
            description="Part of the name of a file, or of the title of its session."
        ),
    ] = "",
    outcome: Annotated[
        str, Query(description="Limits the files to those with this outcome.")
    ] = "",
    cursor: str | None = None,
    limit: int | None = None,
) -> dict[str, Any]:
    """The report of an import, and its files in the order in which they were read."""
    row = get_import(caller_of(request), import_id)
    files = list_files(row, query=q, outcome=outcome, cursor=cursor, limit=limit)
    return {
        **present_import_row(row),
        "files": [present_file(source) for source in files.items],
        "next_cursor": files.next_cursor,
    }
