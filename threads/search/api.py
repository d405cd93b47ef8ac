"""The REST route for search over all sessions, and its schemas."""

import uuid
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Router
from ninja.params.functions import Query
from pydantic import BaseModel

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import Conflict, Invalid
from contextstudio.accounts.domain.paging import clamp
from contextstudio.accounts.responses import json_response
from contextstudio.accounts.selectors import get_project
from threads.imports import jobs
from threads.models import Session
from threads.store.selectors import get_session

from .by_meaning import search_by_meaning
from .relevance import relevance_of
from .services import MAX_QUERY_LENGTH, search

router = Router(tags=["sessions"])


class SearchExcerpt(BaseModel):
    """Text around the first match, which is `text[start:end]`, counted in code points."""

    text: str
    start: int
    end: int


class FoundTitle(BaseModel):
    """A session whose title contains the text."""

    session_id: uuid.UUID
    project: str
    title: str


class SearchMatch(FoundTitle):
    """A message that matches the search."""

    key: str
    index: int
    role: str
    excerpt: SearchExcerpt
    similarity: float | None
    """In a search by meaning, how close it is to `q`, from 0.2 to 1; otherwise null."""


class SearchPage(BaseModel):
    """A page of matches, the newest text first; in a search by meaning, the closest first."""

    items: list[SearchMatch]
    titles: list[FoundTitle]
    next_cursor: str | None
    pending: int
    """How many texts a search by meaning can't find yet, because they are still being indexed."""


class Relevance(BaseModel):
    """How relevant a message is to the question."""

    key: str
    index: int
    relevance: float
    """From 0 to 1."""


class RelevancePage(BaseModel):
    """Messages of a session in their order, with their relevance."""

    question: str
    """The question, or the session's objective if none was asked."""
    items: list[Relevance]
    next_start: int | None
    """`start` of the next page; null on the last."""


@router.get(
    "/sessions/{uuid:session_id}/relevance",
    response=RelevancePage,
    operation_id="threads_api_relevance",
    summary="List the relevance of messages",
)
def session_relevance(
    request: HttpRequest,
    session_id: uuid.UUID,
    question: Annotated[
        str,
        Query(
            description="What to compare the messages with; by default the session's objective."
        ),
    ] = "",
    least: Annotated[
        float,
        Query(description="Leaves out messages that are less relevant, from 0 to 1."),
    ] = 0,
    start: Annotated[
        int, Query(description="Index of the first original to return.")
    ] = 0,
    limit: int | None = None,
) -> HttpResponse:
    """How relevant each original is to the session's objective or to a question, from 0 to 1.

    Originals that are not indexed yet are left out. Returns 409 if search by meaning is off, or if
    there is neither a question nor an objective.
    """
    session = get_session(caller_of(request), session_id)
    if len(question) > MAX_QUERY_LENGTH:
        raise Invalid(
            f"A question has at most {MAX_QUERY_LENGTH:,} characters.", at=["question"]
        )
    asked = question or session.objective
    if not asked:
        raise Conflict(
            "This session has no objective: give a question.", code="no_objective"
        )
    found = relevance_of(session, asked)
    items = [
        {"key": key, "index": index, "relevance": share}
        for key, share in found.items()
        if share >= least and (index := int(key[1:])) >= start
    ]
    count = clamp(limit)
    following = items[count]["index"] if len(items) > count else None
    jobs.enqueue_index_if_free()
    return json_response(
        {"question": asked, "items": items[:count], "next_start": following}
    )


@router.get(
    "/search",
    response=SearchPage,
    operation_id="threads_api_search_messages",
    summary="Search messages",
)
def search_messages(
    request: HttpRequest,
    q: Annotated[str, Query(description="Text to find, ignoring case.")],
    project: Annotated[
        str | None, Query(description="Limits the search to one project, by its slug.")
    ] = None,
    session: Annotated[
        uuid.UUID | None,
        Query(description="Limits the search to one session, by its id."),
    ] = None,
    meaning: Annotated[
        bool,
        Query(
            description="Whether to find messages that are about `q`, whatever their wording."
        ),
    ] = False,
    cursor: str | None = None,
    limit: int | None = None,
) -> HttpResponse:
    """Messages that contain `q` literally, ignoring case, the newest text first.

    A page ends once many texts were read, so it may have fewer items than `limit`, or none, and
    still have a `next_cursor`. The first page also lists in `titles` the newest 20 sessions whose
    title contains `q`; `GET /api/sessions?q=` lists all of them.

    With `meaning`, the messages that are about `q` are returned instead, the closest first, without
    titles. Returns 409 (`meaning_search_off`, `meaning_search_not_installed`) if search by meaning
    is not available.
    """
    caller = caller_of(request)
    if project is not None:
        get_project(caller, project)
    find = search_by_meaning if meaning else search
    found = find(
        caller, q, project=project, session_id=session, cursor=cursor, limit=limit
    )
    jobs.enqueue_index_if_free()
    items = [
        {
            **_present_title(match.session),
            "key": match.original.key,
            "index": match.original.row.index,
            "role": match.original.role,
            "excerpt": {
                "text": match.excerpt.text,
                "start": match.excerpt.start,
                "end": match.excerpt.end,
            },
            "similarity": match.similarity,
        }
        for match in found.matches
    ]
    titles = [_present_title(session) for session in found.titles]
    return json_response(
        {
            "items": items,
            "titles": titles,
            "next_cursor": found.next_cursor,
            "pending": found.pending,
        }
    )


def _present_title(session: Session) -> dict[str, Any]:
    return {
        "session_id": str(session.pk),
        "project": session.project.slug,
        "title": session.title,
    }
