"""REST for hindsight: what was left out and needed later."""

import uuid
from typing import Annotated

from django.http import HttpRequest, HttpResponse
from ninja import Router, Status
from ninja.params.functions import Query

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
    request: HttpRequest,
    session_id: uuid.UUID,
    operation: Annotated[
        str, Query(description="Limits the answer to one operation, by its key or id.")
    ] = "",
) -> HttpResponse:
    """What operations left out and later messages needed.

    For each operation, this lists the references (paths, URLs, numbers, hashes, names) that were
    used afterwards although they stood only in what it left out.
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
    """Hindsight as if a policy, pruning rules or other operations applied instead of the log's.

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
    """Start a job that finds out what a policy would have saved and lost in the newest sessions.

    In the job's result, `sent` covers what the policy's window, truncation tiers and isolation
    leave out of requests, and `pruned` what its pruning rules leave out. Nothing is changed.
    """
    job = trials.order_trial(caller_of(request), slug, body.policy, body.sessions)
    return Status(202, {"job_id": job.pk})
