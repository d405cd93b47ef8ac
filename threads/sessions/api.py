"""The REST routes of sessions and their originals; the rules are in services."""

import uuid
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Router, Status
from ninja.params.functions import Path, Query

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.paging import clamp
from contextstudio.accounts.domain.rights import Right
from contextstudio.accounts.responses import json_answer
from contextstudio.accounts.selectors import get_project, project_to_edit
from threads.domain.formats.openai.messages import read_given_messages
from threads.rendering.message import SHOWN_TYPES
from threads.store import blobs
from threads.store.originals import load_messages
from threads.store.selectors import get_blob, get_session, list_sessions

from . import given_tags, presentation, services
from .presentation import MessageList, SessionOut, SessionPage

router = Router(tags=["sessions"])
_SESSION = "/sessions/{uuid:session_id}"
_MESSAGES = f"{_SESSION}/messages"


@router.post(
    "/sessions",
    response={201: SessionOut},
    operation_id="threads_api_create_session",
    summary="Create a session",
)
def create_session(
    request: HttpRequest, body: presentation.NewSessionIn
) -> Status[Any]:
    """Create a session, with its first messages if there are any."""
    caller = caller_of(request)
    given = body.model_dump(exclude={"project", "messages"})
    messages = read_given_messages(body.messages)
    new = services.NewSession(
        **given, messages=messages, tags=given_tags.tags_of(body.messages)
    )
    project = project_to_edit(caller, body.project, Right.OWN_SESSION)
    session = services.create_session(caller, project, new)
    return Status(201, presentation.present_session(session))


@router.get(
    "/sessions",
    response=SessionPage,
    operation_id="threads_api_sessions",
    summary="List sessions",
)
def sessions(
    request: HttpRequest,
    project: Annotated[
        str | None, Query(description="Limits the list to one project, by its slug.")
    ] = None,
    q: Annotated[str, Query(description="Part of the title, ignoring case.")] = "",
    source: Annotated[
        str,
        Query(
            description="Where they come from, as in their `source`: `Claude Code`, `API`, `File`."
        ),
    ] = "",
    external_id: Annotated[
        str | None,
        Query(description="The client's own id of a session, unique in its project."),
    ] = None,
    cursor: str | None = None,
    limit: int | None = None,
) -> dict[str, Any]:
    """The sessions that the caller may see, the last changed first."""
    caller = caller_of(request)
    if project is not None:
        get_project(caller, project)
    found = list_sessions(
        caller,
        project=project,
        cursor=cursor,
        limit=limit,
        query=q,
        source=source,
        external_id=external_id,
    )
    items = [presentation.present_session(session) for session in found.items]
    return {"items": items, "next_cursor": found.next_cursor}


@router.get(
    _SESSION,
    response=SessionOut,
    operation_id="threads_api_session",
    summary="Read a session",
)
def session(request: HttpRequest, session_id: uuid.UUID) -> dict[str, Any]:
    """A session without its messages."""
    return presentation.present_session(get_session(caller_of(request), session_id))


@router.patch(
    _SESSION,
    response=SessionOut,
    operation_id="threads_api_update_session",
    summary="Change a session",
)
def update_session(
    request: HttpRequest, session_id: uuid.UUID, body: presentation.SessionPatch
) -> dict[str, Any]:
    """Change a session's title, objective or model."""
    changes = body.model_dump(exclude_unset=True)
    session = services.update_session(caller_of(request), session_id, **changes)
    return presentation.present_session(session)


@router.delete(
    _SESSION,
    response={204: None},
    operation_id="threads_api_delete_session",
    summary="Delete a session",
)
def delete_session(
    request: HttpRequest,
    session_id: uuid.UUID,
    purge: Annotated[
        bool,
        Query(
            description="Whether to erase it at once. Needs the right to administer."
        ),
    ] = False,
) -> Status[Any]:
    """Delete a session. It can be restored for 30 days.

    With `purge` it is erased at once, whether or not it was deleted before.
    """
    services.delete_session(caller_of(request), session_id, purge=purge)
    return Status(204, None)


@router.post(
    f"{_SESSION}/restore",
    response=SessionOut,
    operation_id="threads_api_restore_session",
    summary="Restore a deleted session",
)
def restore_session(request: HttpRequest, session_id: uuid.UUID) -> dict[str, Any]:
    """Bring back a session that was deleted within the last 30 days."""
    session = services.restore_session(caller_of(request), session_id)
    return presentation.present_session(session)


@router.get(
    _MESSAGES,
    response=MessageList,
    operation_id="threads_api_messages",
    summary="List messages",
)
def messages(
    request: HttpRequest,
    session_id: uuid.UUID,
    start: Annotated[
        int, Query(description="Index of the first original to return.")
    ] = 0,
    end: Annotated[
        int | None,
        Query(
            description="Index after the last original; by default, 100 are returned."
        ),
    ] = None,
    inline: bool = False,
) -> HttpResponse:
    """The originals from `start` up to, but not including, `end`: at most 500.

    `end` in the response says where it stopped, `message_count` how many originals there are.
    """
    found = get_session(caller_of(request), session_id)
    start = max(start, 0)
    most = start + clamp(None if end is None else end - start)
    rows = load_messages(found, start, most if end is None else min(end, most))
    tags = given_tags.load(found, [one.row.index for one in rows])
    place = {
        "end": rows[-1].row.index + 1 if rows else min(start, found.message_count),
        "message_count": found.message_count,
    }
    return json_answer(
        presentation.originals_json(rows, place, inline=inline, tags=tags)
    )


@router.post(
    _MESSAGES,
    response={201: SessionOut},
    operation_id="threads_api_append_messages",
    summary="Append messages",
)
def append_messages(
    request: HttpRequest, session_id: uuid.UUID, body: presentation.MessagesIn
) -> Status[Any]:
    """Append messages at the end of a session."""
    session = services.append_messages(
        caller_of(request),
        session_id,
        read_given_messages(body.messages),
        expected_count=body.expected_count,
        tags=given_tags.tags_of(body.messages),
    )
    return Status(201, presentation.present_session(session))


@router.get(
    "/blobs/{sha256}",
    response={200: None},
    operation_id="threads_api_blob",
    summary="Download a blob",
)
def blob(
    request: HttpRequest,
    sha256: Annotated[str, Path(description="SHA-256 of the blob's bytes, in hex.")],
) -> HttpResponse:
    """The bytes of an image or a file."""
    found = get_blob(caller_of(request), sha256)
    inline = found.media_type in SHOWN_TYPES  # all else is only ever downloaded
    media_type = found.media_type if inline else "application/octet-stream"
    response = HttpResponse(blobs.read(sha256), content_type=media_type)
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response["Content-Disposition"] = "inline" if inline else "attachment"
    return response
