"""REST for the archive."""

import uuid
from typing import Annotated, Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Router, Status
from ninja.params.functions import Path, Query
from pydantic import AwareDatetime

from archive.domain.tool_use import KindName
from archive.recalling import look_up, place_of
from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.responses import json_response
from operations.domain.tree.key import Key
from operations.log.selectors import load_thread
from threads.imports import jobs
from threads.models import Session
from threads.store.selectors import get_session

from .by_meaning import find_entries
from .finding import ArchiveQuery
from .schemas import ArchiveIn, EntriesOut, EntryPage, RecalledOut, present_entry
from .selectors import readable
from .services import archive_by_hand

router = Router(tags=["archive"])


@router.get(
    "/archive",
    response=EntryPage,
    operation_id="archive_entries_api_entries",
    summary="List archive entries",
)
def entries(
    request: HttpRequest,
    session: Annotated[
        uuid.UUID | None,
        Query(description="Limits the list to one session, by its id."),
    ] = None,
    project: Annotated[
        str | None, Query(description="Limits the list to one project, by its slug.")
    ] = None,
    type: Annotated[
        Literal["", KindName],
        Query(description="Limits the list to one type of content."),
    ] = "",
    tool: Annotated[
        str, Query(description="Limits the list to results of one tool, by its name.")
    ] = "",
    path: Annotated[str, Query(description="Part of a path that an entry names.")] = "",
    since: Annotated[
        AwareDatetime | None,
        Query(description="Limits the list to entries archived at or after this time."),
    ] = None,
    until: Annotated[
        AwareDatetime | None,
        Query(description="Limits the list to entries archived before this time."),
    ] = None,
    q: Annotated[
        str, Query(description="Text to find in summaries, names of tools and paths.")
    ] = "",
    meaning: Annotated[
        bool,
        Query(
            description="Whether to find entries of messages that are about `q`, the closest first."
        ),
    ] = False,
    cursor: str | None = None,
    limit: int | None = None,
) -> HttpResponse:
    """The archive entries that the caller may recall, the newest first.

    In a search by meaning, the closest come first.
    """
    query = ArchiveQuery(
        session_id=session,
        project=project,
        content_type=type,
        tool=tool,
        path=path,
        since=since,
        until=until,
        words=q,
        meaning=meaning,
    )
    found, pending = find_entries(caller_of(request), query, cursor=cursor, limit=limit)
    jobs.enqueue_index_if_free()
    items = [present_entry(one) for one in found.items]
    return json_response(
        {"items": items, "next_cursor": found.next_cursor, "pending": pending}
    )


@router.post(
    "/archive",
    response={201: EntriesOut},
    operation_id="archive_entries_api_archive",
    summary="Archive messages",
)
def archive(request: HttpRequest, body: ArchiveIn) -> Status[Any]:
    """Archive messages by hand. The thread does not change."""
    caller = caller_of(request)
    session = get_session(caller, body.session_id)
    keys = body.targets
    if keys is None:
        keys = _in_range(session, body.start, body.end)
    elif body.start is not None or body.end is not None:
        raise Invalid("Give start and end, or targets, not both.", at=["targets"])
    kept = archive_by_hand(caller, session.pk, keys)
    return Status(201, {"items": [present_entry(one) for one in readable(kept)]})


def _in_range(session: Session, start: int | None, end: int | None) -> list[Key]:
    """The messages of a range, both ends in. Raises Invalid with the place."""
    if start is None or end is None:
        raise Invalid("Give start and end, or targets.", at=["start"])
    try:
        return load_thread(session).resolve_range(start, end)
    except Invalid as error:
        error.at = ("end",)
        raise


@router.get(
    "/archive/{path:ref_id}",
    response=RecalledOut,
    operation_id="archive_entries_api_entry",
    summary="Recall a reference",
)
def entry(
    request: HttpRequest,
    ref_id: Annotated[
        str, Path(description="A reference, as the tool `recall` takes it.")
    ],
    lines: Annotated[
        str, Query(description="A range of lines, such as `10-50`, counted from 1.")
    ] = "",
    search: Annotated[
        str, Query(description="Limits the text to lines that contain this.")
    ] = "",
    max_tokens: Annotated[
        int, Query(description="Where the text is cut off: 1 to 100,000 tokens.")
    ] = 2000,
    session: Annotated[
        uuid.UUID | None,
        Query(
            description="The session that a reference without one refers to, by its id."
        ),
    ] = None,
    cursor: Annotated[
        str | None,
        Query(description="`next_cursor` of the previous response, to read on."),
    ] = None,
) -> HttpResponse:
    """What a reference names, as the tool `recall` returns it."""
    if not 1 <= max_tokens <= 100_000:
        raise Invalid(
            "max_tokens must be a number from 1 to 100,000.", at=["max_tokens"]
        )
    found = look_up(
        caller_of(request),
        ref_id,
        lines=lines,
        search=search,
        max_tokens=max_tokens,
        start=place_of(cursor),
        session_id=session,
    )
    return json_response(found.answer)
