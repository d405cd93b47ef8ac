"""REST for taking a session elsewhere, with its operations and its archive."""

import uuid
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Body, Router, Status
from ninja.decorators import decorate_view
from ninja.params.functions import Query
from pydantic import BaseModel

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.idempotency import reads_first

from .presentation import transfer_response
from .reading import read_session

router = Router(tags=["archive"])


class TransferOut(BaseModel):
    """The session that was created from a file."""

    id: uuid.UUID
    title: str
    message_count: int
    head: int
    """Number of the last entry of its log."""


@router.get(
    "/sessions/{uuid:session_id}/transfer",
    response=dict[str, Any],
    operation_id="archive_transfer_api_write",
    summary="Download a transfer file",
)
def write(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """A session as one file: its originals, the operations that are on, and its archive."""
    return transfer_response(caller_of(request), session_id)


@router.post(
    "/sessions/transfer",
    response={201: TransferOut},
    operation_id="archive_transfer_api_read",
    summary="Create a session from a transfer file",
)
@decorate_view(reads_first)
def read(
    request: HttpRequest,
    body: Body[dict[str, Any]],
    project: Annotated[
        str | None,
        Query(
            description="Slug of the project to create it in; needed if you may edit in several."
        ),
    ] = None,
) -> Status[Any]:
    """Create a session from a transfer file. If any part is refused, nothing is created."""
    session = read_session(caller_of(request), body, project)
    return Status(
        201,
        {
            "id": session.pk,
            "title": session.title,
            "message_count": session.message_count,
            "head": session.head,
        },
    )
