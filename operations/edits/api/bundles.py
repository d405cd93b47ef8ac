"""REST for bundles: edits recorded, switched and reviewed as one."""

import uuid
from typing import Any

from django.http import HttpRequest
from ninja import Router, Status

from contextstudio.accounts.authentication import caller_of
from operations.edits import services
from operations.edits.presentation import present_bundle, present_transaction
from operations.edits.schemas import BundleIn, BundleOut, SwitchOut, ToggleIn
from operations.edits.services import Act
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
        body.operations,
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
    act = Act.ON if body.active else Act.OFF
    return _switched(request, bundle_id, act, head=body.expected_head)


@router.post(
    "/bundles/{uuid:bundle_id}/revert",
    response=SwitchOut,
    operation_id="operations_api_revert_bundle",
)
def revert_bundle(request: HttpRequest, bundle_id: uuid.UUID) -> dict[str, Any]:
    """Take a bundle back."""
    return _switched(request, bundle_id, Act.REVERT)


@router.post(
    "/bundles/{uuid:bundle_id}/accept",
    response=SwitchOut,
    operation_id="operations_api_accept_bundle",
)
def accept_bundle(request: HttpRequest, bundle_id: uuid.UUID) -> dict[str, Any]:
    """Let the proposed operations of a bundle apply."""
    return _switched(request, bundle_id, Act.ACCEPT)


@router.post(
    "/bundles/{uuid:bundle_id}/reject",
    response=SwitchOut,
    operation_id="operations_api_reject_bundle",
)
def reject_bundle(request: HttpRequest, bundle_id: uuid.UUID) -> dict[str, Any]:
    """Decline the proposed operations of a bundle."""
    return _switched(request, bundle_id, Act.REJECT)


def _switched(
    request: HttpRequest, bundle_id: uuid.UUID, act: Act, *, head: int | None = None
) -> dict[str, Any]:
    head = expected_head(request, head)
    return present_transaction(
        services.switch_bundle(caller_of(request), bundle_id, act, expected_head=head)
    )
