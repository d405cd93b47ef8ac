"""REST for a thread, its operations and its log. Doors translate: the rules are in services."""

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Body, Router, Status

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.responses import json_response
from operations.edits import services
from operations.edits.arguments import AmendArguments, AnyEdit, TextArguments
from operations.edits.presentation import present_edit, present_transaction
from operations.edits.schemas import RecordedOut, SwitchOut, ToggleIn
from operations.edits.services import Act
from operations.find_replace.presentation import present_dry_run
from operations.find_replace.schemas import DryRunOut
from operations.find_replace.services import dry_run
from operations.log.presentation import present_operations
from operations.log.schemas import OperationList
from operations.log.selectors import load_history, load_thread
from operations.requests import expected_head
from threads.store.selectors import get_session

router = Router(tags=["operations"])


@router.post(
    "/sessions/{uuid:session_id}/operations",
    response={200: DryRunOut, 201: RecordedOut},
    operation_id="operations_api_record_operation",
)
def record_operation(
    request: HttpRequest, session_id: uuid.UUID, body: Body[AnyEdit]
) -> Status[Any]:
    """Record an edit at the end of the log; a dry run of one answers what it would change."""
    if isinstance(body, TextArguments) and body.dry_run:
        session = get_session(caller_of(request), session_id)
        return Status(200, present_dry_run(session, dry_run(session, body)))
    transaction = services.record_edit(
        caller_of(request),
        session_id,
        body,
        expected_head=expected_head(request, body.expected_head),
    )
    return Status(201, present_edit(transaction))


@router.post(
    "/sessions/{uuid:session_id}/undo",
    response=SwitchOut,
    operation_id="operations_api_undo",
)
def undo(request: HttpRequest, session_id: uuid.UUID) -> dict[str, Any]:
    """Take back the caller's newest entry, a bundle whole."""
    head = expected_head(request, None)
    return present_transaction(
        services.undo(caller_of(request), session_id, expected_head=head)
    )


@router.post(
    "/sessions/{uuid:session_id}/redo",
    response=SwitchOut,
    operation_id="operations_api_redo",
)
def redo(request: HttpRequest, session_id: uuid.UUID) -> dict[str, Any]:
    """Bring back what the caller undid last."""
    head = expected_head(request, None)
    return present_transaction(
        services.redo(caller_of(request), session_id, expected_head=head)
    )


@router.post(
    "/operations/{uuid:operation_id}/toggle",
    response=SwitchOut,
    operation_id="operations_api_toggle",
)
def toggle(
    request: HttpRequest, operation_id: uuid.UUID, body: ToggleIn
) -> dict[str, Any]:
    """Switch an operation on or off."""
    act = Act.ON if body.active else Act.OFF
    return _switched(request, operation_id, act, head=body.expected_head)


@router.post(
    "/operations/{uuid:operation_id}/revert",
    response=SwitchOut,
    operation_id="operations_api_revert",
)
def revert(request: HttpRequest, operation_id: uuid.UUID) -> dict[str, Any]:
    """Take an operation back."""
    return _switched(request, operation_id, Act.REVERT)


@router.post(
    "/operations/{uuid:operation_id}/accept",
    response=SwitchOut,
    operation_id="operations_api_accept",
)
def accept(request: HttpRequest, operation_id: uuid.UUID) -> dict[str, Any]:
    """Let a proposed operation apply."""
    return _switched(request, operation_id, Act.ACCEPT)


@router.post(
    "/operations/{uuid:operation_id}/reject",
    response=SwitchOut,
    operation_id="operations_api_reject",
)
def reject(request: HttpRequest, operation_id: uuid.UUID) -> dict[str, Any]:
    """Decline a proposed operation."""
    return _switched(request, operation_id, Act.REJECT)


@router.post(
    "/operations/{uuid:operation_id}/amend",
    response=SwitchOut,
    operation_id="operations_api_amend",
)
def amend(
    request: HttpRequest, operation_id: uuid.UUID, body: AmendArguments
) -> dict[str, Any]:
    """Give an operation new words or a new condition."""
    transaction = services.amend(
        caller_of(request),
        operation_id,
        body.amended,
        expected_head=expected_head(request, body.expected_head),
    )
    return present_transaction(transaction)


def _switched(
    request: HttpRequest, operation_id: uuid.UUID, act: Act, *, head: int | None = None
) -> dict[str, Any]:
    head = expected_head(request, head)
    return present_transaction(
        services.switch(caller_of(request), operation_id, act, expected_head=head)
    )


@router.get(
    "/sessions/{uuid:session_id}/operations",
    response=OperationList,
    operation_id="operations_api_operations",
)
def operations(
    request: HttpRequest, session_id: uuid.UUID, active_only: bool = False
) -> HttpResponse:
    """The operations of a session; `active_only`: those that apply now."""
    session = get_session(caller_of(request), session_id)
    items = present_operations(
        load_thread(session), load_history(session), active_only=active_only
    )
    return json_response({"operations": items})
