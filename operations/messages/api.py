"""REST for a thread as replayed."""

import uuid
from typing import Annotated

from django.http import HttpRequest, HttpResponse
from ninja import Router
from ninja.params.functions import Query

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.paging import clamp
from contextstudio.accounts.responses import json_response
from operations.log.presentation import present_newest
from operations.log.selectors import load_history, load_thread
from operations.requests import ViewName, tags_of
from threads.store.selectors import get_session

from .presentation import ThreadOut, ThreadPresenter

MAX_OPERATIONS = 100
"""Operations that a thread lists, the newest; `GET …/operations` has them all, in pages."""
router = Router(tags=["operations"])


@router.get(
    "/sessions/{uuid:session_id}/thread",
    response=ThreadOut,
    operation_id="operations_api_thread",
    summary="Read a thread",
)
def thread(
    request: HttpRequest,
    session_id: uuid.UUID,
    view: Annotated[
        ViewName,
        Query(description="Which thread to read."),
    ] = "annotated",
    start: Annotated[
        int,
        Query(description="Position of the first top-level node to return, from 0."),
    ] = 0,
    limit: int | None = None,
    unfold: Annotated[
        str,
        Query(
            description="Keys of folds whose children to return, separated by commas: `o7,o9`."
        ),
    ] = "",
    children_start: Annotated[
        int,
        Query(
            description="Position of the first child of each of these folds, from 0."
        ),
    ] = 0,
    children_limit: Annotated[
        int | None,
        Query(
            description="How many children each of these folds has at most, as for `limit`."
        ),
    ] = None,
    active_tags: str | None = None,
    inline: bool = False,
) -> HttpResponse:
    """A thread as replayed: annotated, effective (what the model sees), or original.

    `start` and `limit` count top-level nodes: messages and folds.
    """
    session = get_session(caller_of(request), session_id)
    tags = tags_of(active_tags)
    replayed = load_thread(session, tags)
    presenter = ThreadPresenter(session, replayed, load_history(session), inline=inline)
    start, most = max(start, 0), clamp(limit)
    total, nodes = presenter.view(
        view,
        start,
        most,
        unfold=frozenset(filter(None, unfold.split(","))),
        children_start=max(children_start, 0),
        children_limit=clamp(children_limit),
    )
    return json_response(
        {
            "session_id": str(session.pk),
            "head": replayed.head,
            "message_count": replayed.message_count,
            "total": total,
            "nodes": nodes,
            "operations": present_newest(replayed, presenter.history, MAX_OPERATIONS),
            "operations_total": len(replayed.log.edits),
            "active_tags": sorted(replayed.active_tags),
            "tokens": {
                "original": replayed.tokens.original,
                "effective": replayed.tokens.effective,
            },
        }
    )
