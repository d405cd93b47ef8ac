"""REST for hindsight: what was left out and needed later."""

import uuid

from django.http import HttpRequest, HttpResponse
from ninja import Router, Status

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.responses import json_response

from . import services, trials
from .schemas import (
    HindsightIn,
    HindsightOut,
    TrialIn,
    TrialStarted,
    present_hindsight,
)

router = Router(tags=["hindsight"])


@router.get(
    "/sessions/{uuid:session_id}/hindsight",
    response=HindsightOut,
    operation_id="archive_hindsight_api_hindsight",
    summary="Read hindsight",
)
def hindsight(
    request: HttpRequest, session_id: uuid.UUID, operation: str = ""
) -> HttpResponse:
    """References that were used after the operations left them out, and that stand nowhere else.

    `operation`, a key or an id, limits the answer to one.
    """
    found = services.of_log(caller_of(request), session_id, operation)
    return json_response(present_hindsight(found))


@router.post(
    "/sessions/{uuid:session_id}/hindsight",
    response=HindsightOut,
    operation_id="archive_hindsight_api_try",
    summary="Try an alternative",
)
def try_instead(
    request: HttpRequest, session_id: uuid.UUID, body: HindsightIn
) -> HttpResponse:
    """Hindsight of a policy, of pruning rules or of operations, in place of the log's operations.

    Nothing is changed.
    """
    caller = caller_of(request)
    if body.policy is not None:
        found = services.of_policy(caller, session_id, body.policy)
    elif body.rules is not None:
        found = services.of_rules(caller, session_id, body.rules)
    else:
        found = services.of_operations(caller, session_id, body.operations or ())
    return json_response(present_hindsight(found))


@router.post(
    "/projects/{str:slug}/hindsight",
    response={202: TrialStarted},
    operation_id="archive_hindsight_api_try_on_sessions",
    summary="Try a policy on a project",
)
def try_on_sessions(request: HttpRequest, slug: str, body: TrialIn) -> Status[object]:
    """Try a policy on a project's newest sessions, as a job: what it would have saved and lost.

    `sent` is what its window, its tiers and isolation leave out of requests, `pruned` what its
    pruning rules do. Nothing is changed.
    """
    job = trials.order_trial(caller_of(request), slug, body.policy, body.sessions)
    return Status(202, {"job_id": job.pk})
