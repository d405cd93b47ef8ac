"""REST for exports: the originals, or what the model would see, as a file."""

import uuid
from typing import Annotated

from django.http import HttpRequest
from ninja import Router
from ninja.params.functions import Query

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.responses import Streamed
from operations.requests import ViewName
from threads.store.selectors import get_session

from .services import export_response

router = Router(tags=["operations"])


@router.get(
    "/sessions/{uuid:session_id}/export",
    operation_id="operations_api_export",
    summary="Export a session",
)
def export(
    request: HttpRequest,
    session_id: uuid.UUID,
    format: Annotated[
        str, Query(description="The format of the file.")
    ] = "contextstudio",
    view: Annotated[
        ViewName,
        Query(
            description="`original` for the originals, `effective` for what the model would see."
        ),
    ] = "original",
) -> Streamed:
    """Download the originals, or what the model would see."""
    caller = caller_of(request)
    session = get_session(caller, session_id)
    return export_response(caller, session, format=format, view=view)
