"""REST for what the model sees: context, policies, scratchpad, state."""

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router

from contextstudio.accounts.authentication import caller_of
from contextstudio.accounts.responses import json_response
from contextstudio.accounts.selectors import get_project
from threads.selectors import get_session

from . import context_presentation, contexts, policies, scratchpads, states
from .context_schemas import (
    ContextOut,
    EffectOut,
    PolicyIn,
    PolicyOut,
    ScratchpadIn,
    ScratchpadOut,
    ScratchpadsOut,
    StateIn,
    StateOut,
    StatesOut,
)
from .domain.policy import PRESETS, Policy, encode_policy
from .expecting import tags_of
from .scratchpads import Scratchpad
from .states import Versioned

router = Router(tags=["context"])


@router.get("/sessions/{uuid:session_id}/context", response=ContextOut)
def context(
    request: HttpRequest,
    session_id: uuid.UUID,
    provider: str = "",
    model: str = "",
    active_tags: str | None = None,
    max_tokens: int | None = None,
    consume: bool = False,
) -> HttpResponse:
    """What would be sent to a model now: layers, messages, and the request as its body.

    `max_tokens` never cuts: it sets `over_budget`, and `heaviest` names what weighs most.
    `consume` uses up a slice that waits. `active_tags` as for the thread.
    """
    wish = contexts.Wish(
        provider=provider,
        model=model,
        active_tags=tags_of(active_tags),
        max_tokens=max_tokens,
        consume=consume,
    )
    found = contexts.assemble(caller_of(request), session_id, wish)
    return json_response(context_presentation.present_context(found))


@router.get("/sessions/{uuid:session_id}/policy", response=PolicyOut)
def policy(request: HttpRequest, session_id: uuid.UUID) -> dict[str, Any]:
    """The policy that a session's context is assembled by."""
    session = get_session(caller_of(request), session_id)
    own = policies.has_own_policy(session)
    return _policy(policies.policy_of(session), own=own)


@router.put("/sessions/{uuid:session_id}/policy", response=PolicyOut | EffectOut)
def set_policy(
    request: HttpRequest, session_id: uuid.UUID, body: PolicyIn
) -> dict[str, Any]:
    """Give a session a policy; `dry_run` answers its effect and saves nothing."""
    caller = caller_of(request)
    if body.dry_run:
        effect = contexts.effect_of(
            caller, session_id, body.policy, provider=body.provider
        )
        return context_presentation.present_effect(effect)
    chosen = policies.set_policy(caller, session_id, body.policy)
    return _policy(chosen, own=body.policy is not None)


@router.get("/projects/{slug}/policy", response=PolicyOut)
def default_policy(request: HttpRequest, slug: str) -> dict[str, Any]:
    """The policy of a project's sessions that have none of their own."""
    project = get_project(caller_of(request), slug)
    return _policy(policies.default_policy(project), own=False)


@router.put("/projects/{slug}/policy", response=PolicyOut)
def set_default_policy(
    request: HttpRequest, slug: str, body: PolicyIn
) -> dict[str, Any]:
    """Choose the policy of a project's sessions that have none of their own."""
    chosen = policies.set_default_policy(caller_of(request), slug, body.policy)
    return _policy(chosen, own=False)


@router.get("/sessions/{uuid:session_id}/scratchpad", response=ScratchpadOut)
def scratchpad(
    request: HttpRequest, session_id: uuid.UUID, version: int | None = None
) -> dict[str, Any]:
    """The scratchpad of a session, or an older version of it."""
    session = get_session(caller_of(request), session_id)
    return present_scratchpad(scratchpads.load_scratchpad(session, version))


@router.get("/sessions/{uuid:session_id}/scratchpad/versions", response=ScratchpadsOut)
def scratchpad_versions(request: HttpRequest, session_id: uuid.UUID) -> dict[str, Any]:
    """All versions of the scratchpad, newest first."""
    session = get_session(caller_of(request), session_id)
    found = scratchpads.list_scratchpads(session)
    return {"items": [present_scratchpad(one) for one in found]}


@router.put("/sessions/{uuid:session_id}/scratchpad", response=ScratchpadOut)
def write_scratchpad(
    request: HttpRequest, session_id: uuid.UUID, body: ScratchpadIn
) -> dict[str, Any]:
    """Put other words in place of the scratchpad's, or add some at its end."""
    caller = caller_of(request)
    written = (
        scratchpads.append_to_scratchpad
        if body.action == "append"
        else scratchpads.update_scratchpad
    )(caller, session_id, body.content, expected_version=body.expected_version)
    return present_scratchpad(written)


@router.get("/sessions/{uuid:session_id}/state", response=StatesOut)
def state(request: HttpRequest, session_id: uuid.UUID) -> dict[str, Any]:
    """STATE of a session with its versions: from its responses, and those that were set."""
    session = get_session(caller_of(request), session_id)
    versions = [present_state(one) for one in states.list_states(session)]
    current = next((one for one in versions if one["in_force"]), None)
    goal = current["goal"] if current and not session.objective else ""
    return {"state": current, "versions": versions, "objective_suggested": goal}


@router.put("/sessions/{uuid:session_id}/state", response=StateOut)
def set_state(
    request: HttpRequest, session_id: uuid.UUID, body: StateIn
) -> dict[str, Any]:
    """Put other words in force, until a later response brings its own."""
    return present_state(states.set_state(caller_of(request), session_id, body.content))


def present_scratchpad(found: Scratchpad) -> dict[str, Any]:
    """A version of the scratchpad."""
    moment = found.created_at
    return {
        "content": found.content,
        "version": found.number,
        "actor": found.actor_name,
        "created_at": moment.isoformat() if moment else None,
    }


def present_state(found: Versioned) -> dict[str, Any]:
    """A version of STATE."""
    return {
        "version": found.number,
        **found.state._asdict(),
        "key": found.key,
        "actor": found.actor,
        "created_at": found.created_at.isoformat() if found.created_at else None,
        "in_force": found.in_force,
    }


def _policy(policy: Policy, *, own: bool) -> dict[str, Any]:
    presets = {name: encode_policy(one) for name, one in PRESETS.items()}
    return {"policy": encode_policy(policy), "own": own, "presets": presets}
