"""REST for a thread, its operations and its log. Doors translate: the rules are in services."""

import uuid
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Body, Router, Status

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import Invalid, NotFound
from contextstudio.accounts.domain.paging import clamp, decode_cursor, encode_cursor
from contextstudio.accounts.responses import json_response
from threads.selectors import get_session

from . import patterns, services
from .arguments import AmendArguments, AnyEdit, TextArguments
from .expecting import expected_head, tags_of
from .nodes import ThreadPresenter
from .pattern_presentation import present_looked
from .pattern_schemas import DryRunOut
from .presentation import (
    present_edit,
    present_log,
    present_operation,
    present_operations,
    present_writing,
)
from .recording import Writing
from .schemas import (
    LogPage,
    OperationList,
    RecordedOut,
    SwitchOut,
    ThreadOut,
    ToggleIn,
    View,
)
from .selectors import get_operation, load_history, load_thread

router = Router(tags=["operations"])


@router.get("/sessions/{uuid:session_id}/thread", response=ThreadOut)
def thread(
    request: HttpRequest,
    session_id: uuid.UUID,
    view: View = "annotated",
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
    `active_tags` are this request's own (empty: none); absent means the session's.
    `inline`: images as their bytes.
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
            "operations": present_operations(replayed, presenter.history),
            "active_tags": sorted(replayed.active_tags),
            "tokens": {
                "original": replayed.tokens.original,
                "effective": replayed.tokens.effective,
            },
        }
    )


@router.post(
    "/sessions/{uuid:session_id}/operations",
    response={200: DryRunOut, 201: RecordedOut},
)
def record_operation(
    request: HttpRequest, session_id: uuid.UUID, body: Body[AnyEdit]
) -> Status[Any]:
    """Record an edit at the end of the log; a dry run of one answers what it would change."""
    if isinstance(body, TextArguments) and body.dry_run:
        session = get_session(caller_of(request), session_id)
        looked = patterns.look(session, body.wanted())
        return Status(200, present_looked(session, looked))
    writing = services.record_edit(
        caller_of(request),
        session_id,
        services.request_of(body),
        expected_head=expected_head(request, body.expected_head),
    )
    return Status(201, present_edit(writing))


@router.get("/sessions/{uuid:session_id}/operations", response=OperationList)
def operations(
    request: HttpRequest, session_id: uuid.UUID, active_only: bool = False
) -> HttpResponse:
    """The operations of a session; `active_only`: those that apply now."""
    session = get_session(caller_of(request), session_id)
    items = present_operations(
        load_thread(session), load_history(session), active_only=active_only
    )
    return json_response({"operations": items})


@router.get("/sessions/{uuid:session_id}/log", response=LogPage)
def log(
    request: HttpRequest,
    session_id: uuid.UUID,
    cursor: str | None = None,
    limit: int | None = None,
) -> HttpResponse:
    """The entries of a log, first to last."""
    session = get_session(caller_of(request), session_id)
    history = load_history(session)
    first = 1 if cursor is None else _position(cursor) + 1
    last = min(first + clamp(limit) - 1, session.head)
    return json_response(
        {
            "items": present_log(history, range(first, last + 1)),
            "next_cursor": encode_cursor([last]) if last < session.head else None,
        }
    )


@router.post("/sessions/{uuid:session_id}/undo", response=SwitchOut)
def undo(request: HttpRequest, session_id: uuid.UUID) -> dict[str, Any]:
    """Take back the caller's newest entry, a bundle whole."""
    return _acted(request, services.undo, session_id)


@router.post("/sessions/{uuid:session_id}/redo", response=SwitchOut)
def redo(request: HttpRequest, session_id: uuid.UUID) -> dict[str, Any]:
    """Bring back what the caller undid last."""
    return _acted(request, services.redo, session_id)


@router.get("/operations/{uuid:operation_id}")
def operation(request: HttpRequest, operation_id: uuid.UUID) -> HttpResponse:
    """An operation with all that it was recorded with."""
    session, key = get_operation(caller_of(request), operation_id)
    replayed = load_thread(session)
    recorded = replayed.log.edit(key)
    if recorded is None:
        raise NotFound("This entry is no edit.", at=["operation_id"])
    history = load_history(session)
    return json_response(present_operation(replayed, history, recorded.entry.number))


@router.post("/operations/{uuid:operation_id}/toggle", response=SwitchOut)
def toggle(
    request: HttpRequest, operation_id: uuid.UUID, body: ToggleIn
) -> dict[str, Any]:
    """Switch an operation on or off."""
    head = expected_head(request, body.expected_head)
    return present_writing(
        services.toggle(
            caller_of(request), operation_id, body.active, expected_head=head
        )
    )


@router.post("/operations/{uuid:operation_id}/revert", response=SwitchOut)
def revert(request: HttpRequest, operation_id: uuid.UUID) -> dict[str, Any]:
    """Take an operation back."""
    return _acted(request, services.revert, operation_id)


@router.post("/operations/{uuid:operation_id}/accept", response=SwitchOut)
def accept(request: HttpRequest, operation_id: uuid.UUID) -> dict[str, Any]:
    """Let a proposed operation apply."""
    return _acted(request, services.accept, operation_id)


@router.post("/operations/{uuid:operation_id}/reject", response=SwitchOut)
def reject(request: HttpRequest, operation_id: uuid.UUID) -> dict[str, Any]:
    """Decline a proposed operation."""
    return _acted(request, services.reject, operation_id)


@router.post("/operations/{uuid:operation_id}/amend", response=SwitchOut)
def amend(
    request: HttpRequest, operation_id: uuid.UUID, body: AmendArguments
) -> dict[str, Any]:
    """Give an operation new words or a new condition."""
    writing = services.amend(
        caller_of(request),
        operation_id,
        body.amended,
        expected_head=expected_head(request, body.expected_head),
    )
    return present_writing(writing)


def _acted(
    request: HttpRequest, service: Callable[..., Writing], object_id: uuid.UUID
) -> dict[str, Any]:
    """What a service answers that needs to know no more than upon what."""
    head = expected_head(request, None)
    return present_writing(service(caller_of(request), object_id, expected_head=head))


def _position(cursor: str) -> int:
    (number,) = decode_cursor(cursor, 1)
    if not isinstance(number, int) or number < 0:
        raise Invalid("This cursor is not one of this list.", at=["cursor"])
    return number
