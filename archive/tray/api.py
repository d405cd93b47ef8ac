"""REST for the tray: what the caller sets aside from the archive, to insert it together."""

import uuid
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Router, Status
from ninja.params.functions import Path

from contextstudio.accounts.authentication import caller_of
from threads.store.selectors import get_session

from .schemas import (
    TrayIn,
    TrayInsertedOut,
    TrayOut,
    present_inserted,
    present_tray,
)
from .services import collect, insert_tray, take_out, tray_of

router = Router(tags=["archive"])
_TRAY = "/sessions/{uuid:session_id}/tray"


@router.get(
    _TRAY,
    response=TrayOut,
    operation_id="archive_tray_api_tray",
    summary="Read the tray",
)
def tray(request: HttpRequest, session_id: uuid.UUID) -> dict[str, Any]:
    """The caller's tray, the same in every session, with its tokens as this session counts them."""
    return present_tray(tray_of(caller_of(request), session_id))


@router.post(
    _TRAY,
    response={201: TrayOut},
    operation_id="archive_tray_api_collect",
    summary="Add to the tray",
)
def collect_entry(
    request: HttpRequest, session_id: uuid.UUID, body: TrayIn
) -> Status[dict[str, Any]]:
    """Add what a reference names to the tray, once. Returns 409 (`tray_full`) if it is full."""
    caller = caller_of(request)
    collect(caller, session_id, body.ref_id)
    return Status(201, present_tray(tray_of(caller, session_id)))


@router.delete(
    _TRAY,
    response={204: None},
    operation_id="archive_tray_api_empty",
    summary="Empty the tray",
)
def empty_tray(request: HttpRequest, session_id: uuid.UUID) -> Status[None]:
    """Remove all items from the tray."""
    return _taken(request, session_id, None)


@router.delete(
    f"{_TRAY}/{{uuid:item_id}}",
    response={204: None},
    operation_id="archive_tray_api_take_out",
    summary="Remove from the tray",
)
def take_out_entry(
    request: HttpRequest,
    session_id: uuid.UUID,
    item_id: Annotated[uuid.UUID, Path(description="The item's id, a UUID.")],
) -> Status[None]:
    """Remove an item from the tray. Succeeds even if the item is not in it."""
    return _taken(request, session_id, item_id)


@router.post(
    f"{_TRAY}/insert",
    response={201: TrayInsertedOut},
    operation_id="archive_tray_api_insert",
    summary="Insert the tray",
)
def insert_entries(
    request: HttpRequest, session_id: uuid.UUID
) -> Status[dict[str, Any]]:
    """Insert the tray's items at the end of the thread as one bundle, and empty the tray.

    If the caller may not edit, the bundle is a proposal. Returns 409 (`tray_empty`) if nothing can
    be inserted.
    """
    return Status(201, present_inserted(insert_tray(caller_of(request), session_id)))


def _taken(
    request: HttpRequest, session_id: uuid.UUID, item_id: uuid.UUID | None
) -> Status[None]:
    caller = caller_of(request)
    get_session(caller, session_id)
    take_out(caller, item_id)
    return Status(204, None)
