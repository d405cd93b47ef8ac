"""REST for bundles: edits recorded, switched and reviewed as one."""

import uuid
from typing import Any

from django.http import HttpRequest
from ninja import Router, Status

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.rights import Right
from operations.edits import services
from operations.edits.presentation import present_bundle, present_transaction
from operations.edits.schemas import BundleIn, BundleOut, SwitchOut, ToggleIn
from operations.requests import expected_head

router = Router(tags=["operations"])


@router.post(
    "/sessions/{uuid:session_id}/bundles",
    response={201: BundleOut},
    operation_id="operations_api_record_bundle",
)
def record_bundle(
    request: HttpRequest, session_id: uuid.UUID, body: BundleIn
) -> Status[Any]:
    """Record edits as one: all or none, numbered in a row."""
    transaction = services.record_bundle(
        caller_of(request),
        session_id,
        [services.request_of(edit) for edit in body.operations],
        title=body.title,
        expected_head=expected_head(request, body.expected_head),
    )
    return Status(201, present_bundle(transaction))


@router.post(
    "/bundles/{uuid:bundle_id}/toggle",
    response=SwitchOut,
    operation_id="operations_api_toggle_bundle",
)
def toggle_bundle(
    request: HttpRequest, bundle_id: uuid.UUID, body: ToggleIn
) -> dict[str, Any]:
    """Switch the operations of a bundle on or off."""
    switch = services.switch_to(body.active)
    return _switch_bundle(request, bundle_id, switch, head=body.expected_head)


@router.post(
    "/bundles/{uuid:bundle_id}/revert",
    response=SwitchOut,
    operation_id="operations_api_revert_bundle",
)
def revert_bundle(request: HttpRequest, bundle_id: uuid.UUID) -> dict[str, Any]:
    """Take a bundle back."""
    return _switch_bundle(request, bundle_id, services.take_back)


@router.post(
    "/bundles/{uuid:bundle_id}/accept",
    response=SwitchOut,
    operation_id="operations_api_accept_bundle",
)
def accept_bundle(request: HttpRequest, bundle_id: uuid.UUID) -> dict[str, Any]:
    """Let the proposed operations of a bundle apply."""
    return _switch_bundle(request, bundle_id, services.let_apply, Right.REVIEW)


@router.post(
    "/bundles/{uuid:bundle_id}/reject",
    response=SwitchOut,
    operation_id="operations_api_reject_bundle",
)
def reject_bundle(request: HttpRequest, bundle_id: uuid.UUID) -> dict[str, Any]:
    """Decline the proposed operations of a bundle."""
    return _switch_bundle(request, bundle_id, services.decline, Right.REVIEW)


def _switch_bundle(
    request: HttpRequest,
    bundle_id: uuid.UUID,
    control: services.MakeSwitch,
    right: Right = Right.EDIT,
    *,
    head: int | None = None,
) -> dict[str, Any]:
    head = expected_head(request, head)
    transaction = services.switch_bundle(
        caller_of(request), bundle_id, control, right, expected_head=head
    )
    return present_transaction(transaction)
