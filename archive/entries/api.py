"""REST for the archive."""

import uuid
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Router, Status
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
    session: uuid.UUID | None = None,
    project: str | None = None,
    type: Literal["", KindName] = "",
    tool: str = "",
    path: str = "",
    since: AwareDatetime | None = None,
    until: AwareDatetime | None = None,
    q: str = "",
    meaning: bool = False,
    cursor: str | None = None,
    limit: int | None = None,
) -> HttpResponse:
    """The archive entries that the caller may recall, the newest first.

    `q` is searched in summaries, tools and paths; `since` and `until` limit the time of archiving.
    With `meaning`, entries of the messages that are about what `q` says, the closest first.
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
    jobs.index_if_free()
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
    """Put messages into the archive by hand; the thread stays as it is."""
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
    ref_id: str,
    lines: str = "",
    search: str = "",
    max_tokens: int = 2000,
    session: uuid.UUID | None = None,
    cursor: str | None = None,
) -> HttpResponse:
    """What a reference names, as the tool `recall` returns it.

    `session` is the current session, for references that name none.
    """
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
