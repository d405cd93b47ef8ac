"""REST for sessions and their originals. Doors translate: the rules are in services."""

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import File, Form, Router, Status
from ninja.files import UploadedFile

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.domain.paging import clamp
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.jobs import enqueue
from contextstudio.accounts.models import Project
from contextstudio.accounts.responses import json_answer, json_response
from contextstudio.accounts.selectors import default_project, get_project

from . import blobs, imports, jobs, services
from .domain.formats.openai import read_messages
from .forms import received
from .presentation import (
    originals_json,
    present_file,
    present_found,
    present_import,
    present_import_row,
    present_session,
)
from .schemas import (
    ImportOut,
    ImportPage,
    ImportReport,
    JobStarted,
    MessageList,
    MessagesIn,
    NewSessionIn,
    SearchPage,
    SessionOut,
    SessionPage,
    SessionPatch,
)
from .search import search
from .selectors import (
    get_blob,
    get_import,
    get_session,
    list_files,
    list_imports,
    list_sessions,
    load_messages,
)

router = Router(tags=["sessions"])

INLINE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""What a browser may show in place; anything else is only ever downloaded."""


@router.post("/sessions", response={201: SessionOut})
def create_session(request: HttpRequest, body: NewSessionIn) -> Status[Any]:
    """Make a session, with its first messages where there are some."""
    caller = caller_of(request)
    new = services.NewSession(
        title=body.title,
        external_id=body.external_id,
        parsing_strategy=body.parsing_strategy,
        model=body.model,
        system=body.system,
        messages=read_messages(body.messages),
    )
    project = _project(request, body.project)
    return Status(201, present_session(services.create_session(caller, project, new)))


@router.get("/sessions", response=SessionPage)
def sessions(
    request: HttpRequest,
    project: str | None = None,
    q: str = "",
    cursor: str | None = None,
    limit: int | None = None,
) -> dict[str, Any]:
    """Sessions, newest change first; `q` is a part of the title, ignoring case."""
    caller = caller_of(request)
    if project is not None:
        get_project(caller, project)
    found = list_sessions(caller, project=project, cursor=cursor, limit=limit, query=q)
    items = [present_session(session) for session in found.items]
    return {"items": items, "next_cursor": found.next_cursor}


@router.post(
    "/sessions/import", response={201: ImportOut, 200: ImportOut, 202: JobStarted}
)
def import_session(
    request: HttpRequest,
    file: File[list[UploadedFile]],
    format: Form[str] = "auto",
    paths: Form[str] = "",
    project: Form[str | None] = None,
    session: Form[uuid.UUID | None] = None,
) -> Status[Any]:
    """Import a transcript, an archive, or several files: at once (201; 200 where nothing new
    came of it), or as a job (202). `paths` is a JSON list of the files' paths in their folder.
    """
    caller = caller_of(request)
    if session is None:
        target = _project(request, project)
    else:
        target = get_session(caller, session, Right.EDIT).project
    files = received(file, paths)
    options = {} if session is None else {"session_id": session}
    if session is not None and len(files) > 1:
        raise Invalid("A session continues in one file.", at=["session"])
    upload = imports.keep_received(files, format=format, **options)
    if not imports.is_quick(upload):
        job = enqueue(target, jobs.KIND, jobs.arguments_of(upload), caller)
        return Status(202, {"job_id": job.pk})
    imported = imports.import_upload(caller, target, upload)
    return Status(201 if imported.created else 200, present_import(imported))


@router.get("/imports", response=ImportPage)
def imports_made(
    request: HttpRequest,
    project: str | None = None,
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


@router.get("/imports/{uuid:import_id}", response=ImportReport)
def import_report(
    request: HttpRequest,
    import_id: uuid.UUID,
    q: str = "",
    outcome: str = "",
    cursor: str | None = None,
    limit: int | None = None,
) -> dict[str, Any]:
    """What an import came to, and its files: `q` is a part of their names."""
    row = get_import(caller_of(request), import_id)
    files = list_files(row, query=q, outcome=outcome, cursor=cursor, limit=limit)
    return {
        **present_import_row(row),
        "files": [present_file(source) for source in files.items],
        "next_cursor": files.next_cursor,
    }


@router.get("/sessions/{uuid:session_id}", response=SessionOut)
def session(request: HttpRequest, session_id: uuid.UUID) -> dict[str, Any]:
    """A session without its messages."""
    return present_session(get_session(caller_of(request), session_id))


@router.patch("/sessions/{uuid:session_id}", response=SessionOut)
def update_session(
    request: HttpRequest, session_id: uuid.UUID, body: SessionPatch
) -> dict[str, Any]:
    """Change a session's title, objective or model."""
    changes = body.model_dump(exclude_unset=True)
    return present_session(
        services.update_session(caller_of(request), session_id, **changes)
    )


@router.delete("/sessions/{uuid:session_id}", response={204: None})
def delete_session(
    request: HttpRequest, session_id: uuid.UUID, purge: bool = False
) -> Status[Any]:
    """Hide a session for 30 days; `purge=1` (needs admin) erases it at once."""
    services.delete_session(caller_of(request), session_id, purge=purge)
    return Status(204, None)


@router.get("/sessions/{uuid:session_id}/messages", response=MessageList)
def messages(
    request: HttpRequest,
    session_id: uuid.UUID,
    start: int = 0,
    end: int | None = None,
    inline: bool = False,
) -> HttpResponse:
    """Originals `start` to `end` (half-open), at most 500; `inline`: images as their bytes."""
    found = get_session(caller_of(request), session_id)
    start = max(start, 0)
    most = start + clamp(None if end is None else end - start)
    rows = load_messages(found, start, most if end is None else min(end, most))
    return json_answer(originals_json(rows, inline=inline))


@router.post("/sessions/{uuid:session_id}/messages", response={201: SessionOut})
def append_messages(
    request: HttpRequest, session_id: uuid.UUID, body: MessagesIn
) -> Status[Any]:
    """Append messages at the end of a session."""
    session = services.append_messages(
        caller_of(request),
        session_id,
        read_messages(body.messages),
        expected_count=body.expected_count,
    )
    return Status(201, present_session(session))


@router.get("/search", response=SearchPage)
def search_messages(
    request: HttpRequest,
    q: str,
    project: str | None = None,
    session: uuid.UUID | None = None,
    cursor: str | None = None,
    limit: int | None = None,
) -> HttpResponse:
    """Messages that hold `q` as it stands, ignoring case, the newest text first.

    `titles` are sessions whose title holds it, on the first page only. A page may hold fewer
    items than asked for, or none, and have a next one: it ends where many texts were read.
    """
    caller = caller_of(request)
    if project is not None:
        get_project(caller, project)
    found = search(
        caller, q, project=project, session_id=session, cursor=cursor, limit=limit
    )
    jobs.index_if_worth()
    return json_response(present_found(found))


@router.get("/blobs/{sha256}", response={200: None})
def blob(request: HttpRequest, sha256: str) -> HttpResponse:
    """The bytes of an image or a file."""
    found = get_blob(caller_of(request), sha256)
    inline = found.media_type in INLINE_TYPES
    media_type = found.media_type if inline else "application/octet-stream"
    response = HttpResponse(blobs.read(sha256), content_type=media_type)
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response["Content-Disposition"] = "inline" if inline else "attachment"
    return response


def _project(request: HttpRequest, slug: str | None) -> Project:
    """The project named, or the only one in which the caller may edit."""
    caller = caller_of(request)
    if slug is not None:
        return get_project(caller, slug, Right.EDIT)
    project = default_project(caller, Right.EDIT)
    if project is None:
        raise Invalid("You may edit in several projects: name one.", at=["project"])
    return project
