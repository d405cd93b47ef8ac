"""REST for lenses: the named sets of active tags."""

import uuid
from typing import Any

from django.http import HttpRequest
from ninja import Router, Status

from contextstudio.accounts.authentication import caller_of
from operations.edits import lenses as services
from operations.edits.schemas import LensIn, LensOut
from operations.models import Lens
from threads.store.selectors import get_session

router = Router(tags=["operations"])


@router.get(
    "/sessions/{uuid:session_id}/lenses",
    response=list[LensOut],
    operation_id="operations_api_lenses",
    summary="List lenses",
)
def lenses(request: HttpRequest, session_id: uuid.UUID) -> list[Lens]:
    """The lenses of a session: its named sets of active tags."""
    return services.list_lenses(get_session(caller_of(request), session_id))


@router.get(
    "/sessions/{uuid:session_id}/lenses/{name}",
    response=LensOut,
    operation_id="operations_api_lens",
    summary="Read a lens",
)
def lens(request: HttpRequest, session_id: uuid.UUID, name: str) -> Lens:
    """One named set of active tags."""
    return services.get_lens(get_session(caller_of(request), session_id), name)


@router.put(
    "/sessions/{uuid:session_id}/lenses/{name}",
    response=LensOut,
    operation_id="operations_api_save_lens",
    summary="Save a lens",
)
def save_lens(
    request: HttpRequest, session_id: uuid.UUID, name: str, body: LensIn
) -> Lens:
    """Save a set of active tags under a name."""
    return services.save_lens(caller_of(request), session_id, name, body.tags)


@router.delete(
    "/sessions/{uuid:session_id}/lenses/{name}",
    response={204: None},
    operation_id="operations_api_delete_lens",
    summary="Delete a lens",
)
def delete_lens(request: HttpRequest, session_id: uuid.UUID, name: str) -> Status[Any]:
    """Delete a named set of active tags."""
    services.delete_lens(caller_of(request), session_id, name)
    return Status(204, None)
