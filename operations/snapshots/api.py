"""REST for snapshots: naming points of a session, and going back to them."""

import uuid
from typing import Any

from django.http import HttpRequest
from ninja import Router, Status
from ninja.decorators import decorate_view

from contextstudio.accounts.authentication import caller_of
from operations.edits.schemas import HeadIn, SwitchOut, present_transaction
from operations.requests import expected_head, takes_head
from threads.store.selectors import get_session

from . import selectors, services
from .schemas import SnapshotIn, SnapshotList, SnapshotOut, present_snapshot

router = Router(tags=["operations"])
_SNAPSHOTS = "/sessions/{uuid:session_id}/snapshots"


@router.get(
    _SNAPSHOTS,
    response=SnapshotList,
    operation_id="operations_api_snapshots",
    summary="List snapshots",
)
def snapshots(request: HttpRequest, session_id: uuid.UUID) -> dict[str, Any]:
    """The snapshots of a session, newest first. `GET …/context?snapshot=<name>` shows one."""
    session = get_session(caller_of(request), session_id)
    return {"items": list(map(present_snapshot, selectors.list_snapshots(session)))}


@router.post(
    _SNAPSHOTS,
    response={201: SnapshotOut},
    operation_id="operations_api_take_snapshot",
    summary="Take a snapshot",
)
@decorate_view(takes_head)
def take_snapshot(
    request: HttpRequest, session_id: uuid.UUID, body: SnapshotIn
) -> Status[Any]:
    """Name the current point of a session, so that anybody can go back to it."""
    head = expected_head(request, body.expected_head)
    made = services.take_snapshot(
        caller_of(request), session_id, body.name, expected_head=head
    )
    return Status(201, present_snapshot(made))


@router.get(
    f"{_SNAPSHOTS}/{{name}}",
    response=SnapshotOut,
    operation_id="operations_api_snapshot",
    summary="Read a snapshot",
)
def snapshot(request: HttpRequest, session_id: uuid.UUID, name: str) -> dict[str, Any]:
    """One snapshot."""
    session = get_session(caller_of(request), session_id)
    return present_snapshot(selectors.get_snapshot(session, name))


@router.delete(
    f"{_SNAPSHOTS}/{{name}}",
    response={204: None},
    operation_id="operations_api_delete_snapshot",
    summary="Delete a snapshot",
)
def delete_snapshot(
    request: HttpRequest, session_id: uuid.UUID, name: str
) -> Status[Any]:
    """Delete a snapshot. Only its name is deleted; the log keeps everything."""
    services.delete_snapshot(caller_of(request), session_id, name)
    return Status(204, None)


@router.post(
    f"{_SNAPSHOTS}/{{name}}/restore",
    response=SwitchOut,
    operation_id="operations_api_restore_snapshot",
    summary="Restore a snapshot",
)
@decorate_view(takes_head)
def restore_snapshot(
    request: HttpRequest, session_id: uuid.UUID, name: str, body: HeadIn | None = None
) -> dict[str, Any]:
    """Make operations apply as they did at a snapshot, by one bundle that one undo reverses.

    Messages added since stay, as do redactions and the clients' edits of their own messages.
    """
    head = expected_head(request, body.expected_head if body else None)
    transaction = services.restore(
        caller_of(request), session_id, name, expected_head=head
    )
    return present_transaction(transaction)
