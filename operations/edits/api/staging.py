"""REST for what is staged: collected, then committed together as one bundle."""

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router, Status

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.responses import json_response
from operations.context.services import ContextQuery
from operations.edits import services, staging
from operations.edits.presentation import present_bundle, present_transaction
from operations.edits.schemas import BundleIn, BundleOut, HeadIn, SwitchOut
from operations.ledger.schemas import StagedOut, present_staged
from operations.ledger.services import staged_ledger
from operations.log.selectors import load_history
from operations.requests import expected_head
from threads.store.selectors import get_session

router = Router(tags=["ledger"])


@router.post(
    "/sessions/{uuid:session_id}/staged",
    response={201: BundleOut},
    operation_id="operations_staging_api_stage",
)
def stage(request: HttpRequest, session_id: uuid.UUID, body: BundleIn) -> Status[Any]:
    """Stage edits beside those that the caller has staged already: they wait, in one bundle."""
    alone = body.operations[0].title if len(body.operations) == 1 else ""
    transaction = services.record_bundle(
        caller_of(request),
        session_id,
        body.operations,
        stage=True,
        title=body.title or alone,
        expected_head=expected_head(request, body.expected_head),
    )
    return Status(201, present_bundle(transaction))


@router.post(
    "/sessions/{uuid:session_id}/staged/commit",
    response=SwitchOut,
    operation_id="operations_staging_api_commit",
)
def commit(
    request: HttpRequest, session_id: uuid.UUID, body: HeadIn | None = None
) -> dict[str, Any]:
    """Let all that the caller has staged apply: all or none, with one entry of the log."""
    head = expected_head(request, body.expected_head if body else None)
    return present_transaction(
        staging.commit(caller_of(request), session_id, expected_head=head)
    )


@router.post(
    "/sessions/{uuid:session_id}/staged/discard",
    response=SwitchOut,
    operation_id="operations_staging_api_discard",
)
def discard(
    request: HttpRequest, session_id: uuid.UUID, body: HeadIn | None = None
) -> dict[str, Any]:
    """Take back all that the caller has staged."""
    head = expected_head(request, body.expected_head if body else None)
    return present_transaction(
        staging.discard(caller_of(request), session_id, expected_head=head)
    )


@router.get(
    "/sessions/{uuid:session_id}/staged",
    response=StagedOut,
    operation_id="operations_staging_api_staged",
)
def staged(
    request: HttpRequest, session_id: uuid.UUID, provider: str = "", model: str = ""
) -> HttpResponse:
    """What the caller has staged, and what committing it costs once and saves each turn."""
    caller = caller_of(request)
    session = get_session(caller, session_id)
    keys = staging.staged_keys(session, caller)
    query = ContextQuery(provider=provider, model=model)
    found = staged_ledger(session, caller, query)
    return json_response(present_staged(session, keys, found, load_history(session)))
