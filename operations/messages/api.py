"""REST for a thread as replayed."""

import uuid

from django.http import HttpRequest, HttpResponse
from ninja import Router

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.paging import clamp
from contextstudio.accounts.responses import json_response
from operations.log.presentation import present_newest
from operations.log.selectors import load_history, load_thread
from operations.requests import ViewName, tags_of
from threads.store.selectors import get_session

from .presentation import ThreadOut, ThreadPresenter

MOST_OPERATIONS = 100
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
    view: ViewName = "annotated",
    start: int = 0,
    limit: int | None = None,
    unfold: str = "",
    children_start: int = 0,
    children_limit: int | None = None,
    active_tags: str | None = None,
    inline: bool = False,
) -> HttpResponse:
    """A thread as replayed: annotated, effective (what the model sees), or original.

    `start` and `limit` count top-level nodes; `unfold=o7,o9` adds what these folds hold.
    `active_tags` apply to this request alone (empty: none); by default the session's apply.
    `inline`: images as their bytes. `operations` are the newest 100 of `operations_total`.
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
            "operations": present_newest(replayed, presenter.history, MOST_OPERATIONS),
            "operations_total": len(replayed.log.edits),
            "active_tags": sorted(replayed.active_tags),
            "tokens": {
                "original": replayed.tokens.original,
                "effective": replayed.tokens.effective,
            },
        }
    )
