"""REST for what the model sees: context, policies, scratchpad, state."""

import uuid
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Router
from ninja.params.functions import Query

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.responses import json_response
from contextstudio.accounts.selectors import get_project
from operations.domain.context.policy import PRESETS, Policy, encode_policy
from operations.requests import tags_of
from operations.snapshots.selectors import get_snapshot
from operations.snapshots.services import context_at
from threads.store.selectors import get_session

from . import policies
from .presentation import present_context, present_effect
from .schemas import ContextOut, EffectOut, PolicyIn, PolicyOut, SessionPolicyIn
from .services import ContextQuery, assemble, effect_of

router = Router(tags=["context"])


@router.get(
    "/sessions/{uuid:session_id}/context",
    response=ContextOut,
    summary="Read the context",
)
def context(
    request: HttpRequest,
    session_id: uuid.UUID,
    provider: Annotated[
        str,
        Query(
            description="The provider to compile the request for; by default the session's."
        ),
    ] = "",
    model: Annotated[
        str,
        Query(
            description="The model's name at the provider; by default the session's."
        ),
    ] = "",
    active_tags: str | None = None,
    max_tokens: Annotated[
        int | None,
        Query(
            description="Sets `over_budget` if the request has more tokens; nothing is cut."
        ),
    ] = None,
    consume: Annotated[
        bool,
        Query(description="Has no effect; it is kept for older clients."),
    ] = False,
    recall: Annotated[
        bool | None,
        Query(
            description="Whether the model can call `recall`; by default, as in the last request."
        ),
    ] = None,
    snapshot: Annotated[
        str,
        Query(
            description="Name of a snapshot: shows the context of the thread as it was then."
        ),
    ] = "",
) -> HttpResponse:
    """What would be sent to a model now: layers, messages, and the request body.

    If a slice of this key is pending, it is shown, but only `apply` uses it up.
    """
    query = ContextQuery(
        provider=provider,
        model=model,
        active_tags=tags_of(active_tags),
        max_tokens=max_tokens,
        can_recall=recall,
    )
    caller = caller_of(request)
    if snapshot:
        session = get_session(caller, session_id)
        found = context_at(session, query, get_snapshot(session, snapshot))
    else:
        found = assemble(caller, session_id, query)
    return json_response(present_context(found))


@router.get(
    "/sessions/{uuid:session_id}/policy",
    response=PolicyOut,
    summary="Read a session's policy",
)
def policy(request: HttpRequest, session_id: uuid.UUID) -> dict[str, Any]:
    """The policy by which a session's context is assembled."""
    session = get_session(caller_of(request), session_id)
    found = policies.policy_in_force(session)
    return _policy(found.policy, own=found.of == "session")


@router.put(
    "/sessions/{uuid:session_id}/policy",
    response=PolicyOut | EffectOut,
    summary="Set a session's policy",
)
def set_policy(
    request: HttpRequest, session_id: uuid.UUID, body: SessionPolicyIn
) -> dict[str, Any]:
    """Give a session a policy; `dry_run` returns its effect and saves nothing."""
    caller = caller_of(request)
    if body.dry_run:
        effect = effect_of(caller, session_id, body.policy, provider=body.provider)
        return present_effect(effect)
    chosen = policies.set_policy(caller, session_id, body.policy)
    return _policy(chosen, own=body.policy is not None)


@router.get(
    "/projects/{slug}/policy", response=PolicyOut, summary="Read a project's policy"
)
def default_policy(request: HttpRequest, slug: str) -> dict[str, Any]:
    """The policy for a project's sessions that have none of their own."""
    project = get_project(caller_of(request), slug)
    return _policy(policies.default_policy(project), own=False)


@router.put(
    "/projects/{slug}/policy", response=PolicyOut, summary="Set a project's policy"
)
def set_default_policy(
    request: HttpRequest, slug: str, body: PolicyIn
) -> dict[str, Any]:
    """Choose the policy for a project's sessions that have none of their own."""
    chosen = policies.set_default_policy(caller_of(request), slug, body.policy)
    return _policy(chosen, own=False)


def _policy(policy: Policy, *, own: bool) -> dict[str, Any]:
    presets = {name: encode_policy(one) for name, one in PRESETS.items()}
    return {"policy": encode_policy(policy), "own": own, "presets": presets}
