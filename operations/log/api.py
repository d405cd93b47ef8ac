"""REST for reading the log, and the operations that it makes."""

import uuid

from django.http import HttpRequest, HttpResponse
from ninja import Router

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import Invalid, NotFound
from contextstudio.accounts.domain.paging import clamp, decode_cursor, encode_cursor
from contextstudio.accounts.responses import json_response
from threads.store.selectors import get_session

from .presentation import LogPage, present_log, present_operation
from .selectors import get_operation, load_history, load_thread

router = Router(tags=["operations"])


@router.get(
    "/sessions/{uuid:session_id}/log",
    response=LogPage,
    operation_id="operations_api_log",
    summary="List log entries",
)
def log(
    request: HttpRequest,
    session_id: uuid.UUID,
    cursor: str | None = None,
    limit: int | None = None,
) -> HttpResponse:
    """The entries of a session's log, oldest first."""
    session = get_session(caller_of(request), session_id)
    history = load_history(session)
    (known,) = decode_cursor(cursor, 1) if cursor else (0,)
    if not isinstance(known, int) or known < 0:
        raise Invalid("This cursor does not belong to this list.", at=["cursor"])
    first = known + 1
    last = min(first + clamp(limit) - 1, session.head)
    return json_response(
        {
            "items": present_log(history, range(first, last + 1)),
            "next_cursor": encode_cursor([last]) if last < session.head else None,
        }
    )


@router.get(
    "/operations/{uuid:operation_id}",
    operation_id="operations_api_operation",
    summary="Read an operation",
)
def operation(request: HttpRequest, operation_id: uuid.UUID) -> HttpResponse:
    """An operation with all that it holds, as last amended."""
    session, key = get_operation(caller_of(request), operation_id)
    replayed = load_thread(session)
    recorded = replayed.log.edit(key)
    if recorded is None:
        raise NotFound("This entry is not an edit.", at=["operation_id"])
    history = load_history(session)
    return json_response(present_operation(replayed, history, recorded.entry.number))
