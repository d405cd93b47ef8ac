"""REST for the pruner."""

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router
from ninja.decorators import decorate_view

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.responses import json_response
from operations.log.transaction import refuse_stale
from operations.requests import expected_head, takes_head
from threads.store.selectors import get_session

from . import services
from .schemas import (
    PruneIn,
    PruneOut,
    RulesIn,
    RulesOut,
    present_pruned,
    present_rules,
)

router = Router(tags=["pruning"])


@router.post(
    "/sessions/{uuid:session_id}/prune",
    response=PruneOut,
    by_alias=True,
    operation_id="archive_pruning_api_prune",
    summary="Prune a session",
)
@decorate_view(takes_head)
def prune(
    request: HttpRequest, session_id: uuid.UUID, body: PruneIn | None = None
) -> HttpResponse:
    """Condense and remove messages by the pruning rules, as one bundle.

    What is left out is archived first. If the caller may not edit, the bundle is a proposal. With
    `dry_run`, nothing is recorded.
    """
    caller, body = caller_of(request), body or PruneIn.model_validate({})
    head = expected_head(request, body.expected_head)
    if body.dry_run:
        refuse_stale(get_session(caller, session_id), head)
        found = services.dry_run(caller, session_id, body.query)
    else:
        found = services.prune(caller, session_id, body.query, expected_head=head)
    return json_response(present_pruned(found, body.target_tokens))


@router.get(
    "/sessions/{uuid:session_id}/rules",
    response=RulesOut,
    operation_id="archive_pruning_api_rules",
    summary="Read pruning rules",
)
def rules(request: HttpRequest, session_id: uuid.UUID) -> dict[str, Any]:
    """The rules by which a session is pruned."""
    session = get_session(caller_of(request), session_id)
    return present_rules(session, own=services.has_rules(session))


@router.put(
    "/sessions/{uuid:session_id}/rules",
    response=RulesOut,
    operation_id="archive_pruning_api_set_rules",
    summary="Change pruning rules",
)
def set_rules(
    request: HttpRequest, session_id: uuid.UUID, body: RulesIn
) -> dict[str, Any]:
    """Change the pruning rules in the session's policy.

    With the rule `automatic`, the session is pruned before a request that would be too long.
    """
    caller = caller_of(request)
    services.set_rules(caller, session_id, body.rules)
    return present_rules(get_session(caller, session_id), own=True)
