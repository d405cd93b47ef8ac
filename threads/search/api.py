"""REST for the search over all sessions."""

import uuid

from django.http import HttpRequest, HttpResponse
from ninja import Router

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.responses import json_response
from contextstudio.accounts.selectors import get_project
from threads.imports import jobs

from .presentation import present_found
from .schemas import SearchPage
from .services import search

router = Router(tags=["sessions"])


@router.get("/search", response=SearchPage, operation_id="threads_api_search_messages")
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
