"""REST for operations, bundles of them and what is staged. The rules are in the services."""

import uuid
from collections.abc import Callable
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Body, Router, Status
from ninja.decorators import decorate_view
from ninja.params.functions import Path, Query

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.domain.errors import Invalid
from contextstudio.accounts.domain.paging import clamp, decode_cursor, encode_cursor
from contextstudio.accounts.responses import json_response
from operations.context.services import ContextQuery
from operations.edits import own_entries, services
from operations.edits.arguments import AmendArguments, AnyEdit, TextArguments
from operations.edits.schemas import (
    AcceptIn,
    BundleIn,
    BundleOut,
    HeadIn,
    RecordedOut,
    SwitchOut,
    ToggleIn,
    present_bundle,
    present_edit,
    present_transaction,
)
from operations.edits.services import Act
from operations.find_replace.schemas import DryRunOut, present_dry_run
from operations.find_replace.services import dry_run
from operations.ledger.schemas import (
    LedgerModel,
    LedgerProvider,
    StagedOut,
    present_staged,
)
from operations.ledger.services import staged_ledger
from operations.log.presentation import (
    ActorList,
    OperationList,
    present_actors,
    present_page,
)
from operations.log.selectors import load_history, load_thread
from operations.log.transaction import LogTransaction, refuse_stale
from operations.requests import expected_head, takes_head
from threads.store.selectors import get_session

router = Router(tags=["operations"])
_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def _recording(
    path: str, operation_id: str, summary: str, *, tag: str = "operations"
) -> _Decorator:
    """A route that returns what was switched, undone or reviewed."""
    register = router.post(
        path,
        response=SwitchOut,
        operation_id=operation_id,
        summary=summary,
        tags=[tag],
    )
    compared = decorate_view(takes_head)
    return lambda route: register(compared(route))


@router.post(
    "/sessions/{uuid:session_id}/operations",
    response={200: DryRunOut, 201: RecordedOut},
    operation_id="operations_api_record_operation",
    summary="Record an operation",
)
@decorate_view(takes_head)
def record_operation(
    request: HttpRequest, session_id: uuid.UUID, body: Body[AnyEdit]
) -> Status[Any]:
    """Record an edit. With `dry_run`, return what it would change (200) and record nothing."""
    head = expected_head(request, body.expected_head)
    if isinstance(body, TextArguments) and body.dry_run:
        session = get_session(caller_of(request), session_id)
        refuse_stale(session, head)
        return Status(200, present_dry_run(session, dry_run(session, body)))
    transaction = services.record_edit(
        caller_of(request), session_id, body, expected_head=head
    )
    return Status(201, present_edit(transaction))


@router.get(
    "/sessions/{uuid:session_id}/operations",
    response=OperationList,
    operation_id="operations_api_operations",
    summary="List operations",
)
def operations(
    request: HttpRequest,
    session_id: uuid.UUID,
    active_only: Annotated[
        bool, Query(description="Whether to list only operations that apply now.")
    ] = False,
    cursor: str | None = None,
    limit: int | None = None,
) -> HttpResponse:
    """The operations of a session, in the order of the log."""
    session = get_session(caller_of(request), session_id)
    (after,) = decode_cursor(cursor, 1) if cursor else (0,)
    if not isinstance(after, int):
        raise Invalid("This cursor does not belong to this list.", at=["cursor"])
    items, last = present_page(
        load_thread(session),
        load_history(session),
        after=after,
        limit=clamp(limit),
        active_only=active_only,
    )
    following = None if last is None else encode_cursor([last])
    return json_response({"operations": items, "next_cursor": following})


@_recording(
    "/sessions/{uuid:session_id}/undo", "operations_api_undo", "Undo the last entry"
)
def undo(
    request: HttpRequest, session_id: uuid.UUID, body: HeadIn | None = None
) -> dict[str, Any]:
    """Undo the caller's newest entry; a bundle is undone as a whole."""
    return _done(request, own_entries.undo, session_id, body=body)


@_recording(
    "/sessions/{uuid:session_id}/redo", "operations_api_redo", "Redo what was undone"
)
def redo(
    request: HttpRequest, session_id: uuid.UUID, body: HeadIn | None = None
) -> dict[str, Any]:
    """Bring back what the caller undid last."""
    return _done(request, own_entries.redo, session_id, body=body)


@_recording(
    "/operations/{uuid:operation_id}/toggle",
    "operations_api_toggle",
    "Switch an operation on or off",
)
def toggle(
    request: HttpRequest, operation_id: uuid.UUID, body: ToggleIn
) -> dict[str, Any]:
    """Switch an operation on or off."""
    act = Act.ON if body.active else Act.OFF
    return _done(request, services.switch, operation_id, act, body=body)


@router.get(
    "/sessions/{uuid:session_id}/actors",
    response=ActorList,
    operation_id="operations_api_actors",
    summary="List actors",
)
def actors(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    """Who recorded operations of a session, and how many of theirs are on, off and proposed."""
    session = get_session(caller_of(request), session_id)
    return json_response({"actors": present_actors(load_history(session))})


@_recording(
    "/sessions/{uuid:session_id}/actors/{str:actor}/toggle",
    "operations_api_toggle_all",
    "Switch an actor's operations on or off",
)
def toggle_all(
    request: HttpRequest,
    session_id: uuid.UUID,
    actor: Annotated[
        str, Path(description="The `id` of an actor, as `GET …/actors` lists it.")
    ],
    body: ToggleIn,
) -> dict[str, Any]:
    """Switch all operations of an actor off with one log entry, or those back on that were on."""
    transaction = services.switch_all(
        caller_of(request),
        session_id,
        actor,
        active=body.active,
        expected_head=expected_head(request, body.expected_head),
    )
    return present_transaction(transaction)


@_recording(
    "/operations/{uuid:operation_id}/revert",
    "operations_api_revert",
    "Revert an operation",
)
def revert(
    request: HttpRequest, operation_id: uuid.UUID, body: HeadIn | None = None
) -> dict[str, Any]:
    """Revert an operation: the thread reads as if it had not been made."""
    return _done(request, services.switch, operation_id, Act.REVERT, body=body)


@_recording(
    "/operations/{uuid:operation_id}/accept",
    "operations_api_accept",
    "Accept an operation",
)
def accept(
    request: HttpRequest, operation_id: uuid.UUID, body: HeadIn | None = None
) -> dict[str, Any]:
    """Accept a proposed operation, so that it applies."""
    return _done(request, services.switch, operation_id, Act.ACCEPT, body=body)


@_recording(
    "/operations/{uuid:operation_id}/reject",
    "operations_api_reject",
    "Reject an operation",
)
def reject(
    request: HttpRequest, operation_id: uuid.UUID, body: HeadIn | None = None
) -> dict[str, Any]:
    """Reject a proposed operation."""
    return _done(request, services.switch, operation_id, Act.REJECT, body=body)


@_recording(
    "/operations/{uuid:operation_id}/amend",
    "operations_api_amend",
    "Amend an operation",
)
def amend(
    request: HttpRequest, operation_id: uuid.UUID, body: AmendArguments
) -> dict[str, Any]:
    """Give an operation new content or a new condition. Its targets stay the same."""
    return _done(request, services.amend, operation_id, body.amended, body=body)


@router.post(
    "/sessions/{uuid:session_id}/bundles",
    response={201: BundleOut},
    operation_id="operations_api_record_bundle",
    summary="Record a bundle",
)
@decorate_view(takes_head)
def record_bundle(
    request: HttpRequest, session_id: uuid.UUID, body: BundleIn
) -> Status[Any]:
    """Record edits as one bundle: all or none, with consecutive numbers."""
    transaction = services.record_bundle(
        caller_of(request),
        session_id,
        body.operations,
        title=body.title,
        expected_head=expected_head(request, body.expected_head),
    )
    return Status(201, present_bundle(transaction))


@_recording(
    "/bundles/{uuid:bundle_id}/toggle",
    "operations_api_toggle_bundle",
    "Switch a bundle on or off",
)
def toggle_bundle(
    request: HttpRequest, bundle_id: uuid.UUID, body: ToggleIn
) -> dict[str, Any]:
    """Switch the operations of a bundle on or off."""
    act = Act.ON if body.active else Act.OFF
    return _done(request, services.switch_bundle, bundle_id, act, body=body)


@_recording(
    "/bundles/{uuid:bundle_id}/revert",
    "operations_api_revert_bundle",
    "Revert a bundle",
)
def revert_bundle(
    request: HttpRequest, bundle_id: uuid.UUID, body: HeadIn | None = None
) -> dict[str, Any]:
    """Revert the operations of a bundle."""
    return _done(request, services.switch_bundle, bundle_id, Act.REVERT, body=body)


@_recording(
    "/bundles/{uuid:bundle_id}/accept",
    "operations_api_accept_bundle",
    "Accept a bundle",
)
def accept_bundle(
    request: HttpRequest, bundle_id: uuid.UUID, body: AcceptIn | None = None
) -> dict[str, Any]:
    """Accept the proposed operations of a bundle: all or none, unless `skip_conflicts` is set."""
    skips = body is not None and body.skip_conflicts
    return _done(
        request,
        services.switch_bundle,
        bundle_id,
        Act.ACCEPT,
        body=body,
        skip_conflicts=skips,
    )


@_recording(
    "/bundles/{uuid:bundle_id}/reject",
    "operations_api_reject_bundle",
    "Reject a bundle",
)
def reject_bundle(
    request: HttpRequest, bundle_id: uuid.UUID, body: HeadIn | None = None
) -> dict[str, Any]:
    """Reject the proposed operations of a bundle."""
    return _done(request, services.switch_bundle, bundle_id, Act.REJECT, body=body)


@router.post(
    "/sessions/{uuid:session_id}/staged",
    response={201: BundleOut},
    operation_id="operations_staging_api_stage",
    summary="Stage edits",
    tags=["ledger"],
)
@decorate_view(takes_head)
def stage(request: HttpRequest, session_id: uuid.UUID, body: BundleIn) -> Status[Any]:
    """Stage edits: they wait, with any staged before, as one bundle until the caller commits it."""
    transaction = services.record_bundle(
        caller_of(request),
        session_id,
        body.operations,
        stage=True,
        title=body.title,
        expected_head=expected_head(request, body.expected_head),
    )
    return Status(201, present_bundle(transaction))


@_recording(
    "/sessions/{uuid:session_id}/staged/commit",
    "operations_staging_api_commit",
    "Commit staged edits",
    tag="ledger",
)
def commit(
    request: HttpRequest, session_id: uuid.UUID, body: AcceptIn | None = None
) -> dict[str, Any]:
    """Apply all staged edits with one log entry: all or none, unless `skip_conflicts` is set."""
    skips = body is not None and body.skip_conflicts
    return _done(
        request,
        own_entries.commit,
        session_id,
        body=body,
        skip_conflicts=skips,
    )


@_recording(
    "/sessions/{uuid:session_id}/staged/discard",
    "operations_staging_api_discard",
    "Discard staged edits",
    tag="ledger",
)
def discard(
    request: HttpRequest, session_id: uuid.UUID, body: HeadIn | None = None
) -> dict[str, Any]:
    """Discard all staged edits."""
    return _done(request, own_entries.discard, session_id, body=body)


@router.get(
    "/sessions/{uuid:session_id}/staged",
    response=StagedOut,
    operation_id="operations_staging_api_staged",
    summary="List staged edits",
    tags=["ledger"],
)
def staged(
    request: HttpRequest,
    session_id: uuid.UUID,
    provider: LedgerProvider = "",
    model: LedgerModel = "",
) -> HttpResponse:
    """The edits that the caller has staged, and what committing them would cost and save."""
    caller = caller_of(request)
    session = get_session(caller, session_id)
    keys = own_entries.staged_keys(session, caller)
    query = ContextQuery(provider=provider, model=model)
    found = staged_ledger(session, caller, query)
    return json_response(present_staged(session, keys, found, load_history(session)))


def _done(
    request: HttpRequest,
    service: Callable[..., LogTransaction],
    *arguments: Any,
    body: HeadIn | AmendArguments | None,
    **options: bool,
) -> dict[str, Any]:
    """What a service recorded for the caller, at the head that they expect."""
    head = body.expected_head if body else None
    transaction = service(
        caller_of(request),
        *arguments,
        expected_head=expected_head(request, head),
        **options,
    )
    return present_transaction(transaction)
